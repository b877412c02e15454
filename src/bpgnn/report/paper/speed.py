"""The paper's figure of the time that the product takes, and our samplers beside it."""

from bpgnn.experiments.paper.speed import SPEED, grid
from bpgnn.experiments.timing import WAYS
from bpgnn.report.draw import Panel, Series, draw
from bpgnn.report.section import Section
from bpgnn.report.source import Source

_WORDS = {
    "matmul": "torch.matmul, the product",
    "sparse": "torch.sparse.mm, the product",
    "blocked": "blocked, a sampled graph",
    "lazy": "lazy, a sampled graph",
}

_CAPTION = (
    "CPU-seconds of A ⋄ P on parts of PubMed: the whole product by torch, as in the paper, and a "
    "graph sampled from it by our samplers, which never form it."
)

_REMARK = (
    "The sparse product takes time in proportion to edges times nodes, O(|E|·N), and room for two "
    "N by N matrices; the paper's O(αN²) is a slip."
)

_LEFT_OUT = (
    "torch.matmul is not asked for all 19,717 nodes: it would take minutes and several gigabytes."
)


def section(source: Source) -> Section:
    """Show time against the number of nodes."""
    found = [source.timing(timing) for timing in grid(range(1))]
    lines = [line for line in found if line is not None]
    series = []
    for way in WAYS:
        points = sorted(
            (line["num_nodes"], line["cpu_seconds"]) for line in lines if line["way"] == way
        )
        series.append(Series(_WORDS[way], [x for x, _ in points], [y for _, y in points]))
    panel = Panel("PubMed, nodes drawn at random", "nodes", "CPU-seconds", tuple(series), log=True)
    figure = draw("speed", _CAPTION, [panel], columns=1)
    missing = len(found) - len(lines)
    remarks = (_REMARK, _LEFT_OUT, *([f"{missing} of {len(found)} were not run."] * (missing > 0)))
    drawn = (("every point", "bpgnn reproduce speed --store new.jsonl"),)
    return Section("speed", SPEED.question, figures=(figure,), remarks=remarks, drawn=drawn)
