"""The paper's figure of labels by edge probability."""

from typing import cast

from scipy.stats import spearmanr

from bpgnn.experiments.paper.homophily import HOMOPHILY, cell
from bpgnn.experiments.paper.systems import TRACKS
from bpgnn.experiments.store import Line
from bpgnn.report.draw import Panel, Series, draw
from bpgnn.report.section import Section
from bpgnn.report.source import NAMES, Source

# An interval with fewer pairs of test nodes says little.
_LEAST_PAIRS = 100

_CAPTION = "Share of pairs of test nodes with the same label, by their edge probability."


def section(source: Source) -> Section:
    """Show how often a probable edge joins equal labels."""
    panels = [
        _panel(source, track, dataset) for track in TRACKS for dataset in ("cora", "citeseer")
    ]
    remarks = tuple(remark for panel in panels for remark in _remarks(panel))
    figure = draw("homophily", _CAPTION, panels)
    return Section("homophily", HOMOPHILY.question, figures=(figure,), remarks=remarks)


def _panel(source: Source, track: str, dataset: str) -> Panel:
    lines = source.found(cell(track, dataset, source.seeds(HOMOPHILY)))
    series = tuple(_series(lines, key, name) for key, name in (("latent", "P"), ("product", "P~")))
    return Panel(f"{NAMES[dataset]}, {track} track", "probability", "same label, %", series)


def _series(lines: list[Line], key: str, name: str) -> Series:
    found = [((line["latent_graph"] or {}).get("test_pairs") or {}).get(key) for line in lines]
    known = [counts for counts in found if counts]
    points = []
    for place, counts in enumerate(zip(*known, strict=True)):
        pairs, same = (sum(part) for part in zip(*counts, strict=True))
        if pairs >= _LEAST_PAIRS:
            points.append((0.05 + 0.1 * place, 100 * same / pairs))
    return Series(name, [x for x, _ in points], [y for _, y in points])


def _remarks(panel: Panel) -> list[str]:
    return [
        f"{panel.title}, {one.name}: rank correlation {_rank_correlation(one):+.2f} "
        f"over {len(one.x)} intervals with at least {_LEAST_PAIRS} pairs."
        for one in panel.series
        if len(set(one.y)) > 1
    ]


def _rank_correlation(series: Series) -> float:
    return cast(tuple[float, float], spearmanr(series.x, series.y))[0]
