"""The paper's figure of the time that the product takes, and our samplers beside it."""

import math

from bpgnn.experiments.paper.speed import SPEED, grid
from bpgnn.experiments.store import Line
from bpgnn.experiments.timing import WAYS
from bpgnn.report.draw import Panel, Series, draw
from bpgnn.report.section import Section
from bpgnn.report.source import Source
from bpgnn.report.table import Entry, ReportTable, failure_of, origin_of

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


_TABLE = "CPU-seconds: the median of repeated measurements, and in brackets their quartiles."


def section(source: Source) -> Section:
    """Show time against the number of nodes."""
    asked = grid(range(1))
    found = {(one.way, one.num_nodes): source.timing(one) for one in asked}
    made = {key: line for key, line in found.items() if line is not None}
    lines = {key: line for key, line in made.items() if "error" not in line}
    series = tuple(_series(way, lines) for way in WAYS)
    panel = Panel("PubMed, nodes drawn at random", "nodes", "CPU-seconds", series, log=True)
    figure = draw("speed", _CAPTION, [panel], columns=1)
    missing = len(found) - len(made)
    remarks = (_REMARK, _LEFT_OUT, *([f"{missing} of {len(found)} were not run."] * (missing > 0)))
    drawn = (
        ("every point", "bpgnn reproduce speed --store new.jsonl", origin_of([*lines.values()])),
    )
    return Section("speed", SPEED.question, (_table(found),), (figure,), remarks, drawn)


def _series(way: str, lines: dict[tuple[str, int], Line]) -> Series:
    points = sorted((size, line) for (one, size), line in lines.items() if one == way)
    middle = [line["cpu_seconds"] for _, line in points]
    low, high = zip(*(_quartiles(line) for _, line in points), strict=True) if points else ((), ())
    error = (
        [one - two for one, two in zip(middle, low, strict=True)],
        [two - one for one, two in zip(middle, high, strict=True)],
    )
    return Series(_WORDS[way], [size for size, _ in points], middle, error)


def _quartiles(line: Line) -> tuple[float, float]:
    low, high = line.get("quartiles", (math.nan, math.nan))
    return low, high


def _table(found: dict[tuple[str, int], Line | None]) -> ReportTable:
    sizes = sorted({size for _, size in found})
    rows = tuple((_WORDS[way], tuple(_entry(way, size, found) for size in sizes)) for way in WAYS)
    return ReportTable(_TABLE, ("nodes", *(f"{size:,}" for size in sizes)), rows)


def _entry(way: str, size: int, found: dict[tuple[str, int], Line | None]) -> Entry:
    if (way, size) not in found:
        return Entry(note="–")
    line = found[way, size]
    if line is None:
        return Entry()
    if "error" in line:
        note, detail = failure_of(line)
        return Entry(note=note, detail=detail)
    low, high = _quartiles(line)
    spread = "" if math.isnan(low) else f" ({low:.2g} to {high:.2g})"
    return Entry(note=f"{line['cpu_seconds']:.2g}{spread}")
