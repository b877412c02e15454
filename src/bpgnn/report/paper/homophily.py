"""The paper's figure of labels by edge probability."""

import math
import statistics
from typing import cast

from scipy.stats import spearmanr

from bpgnn.data.counted import counted
from bpgnn.experiments.paper.homophily import HOMOPHILY, cell
from bpgnn.experiments.paper.systems import TRACKS
from bpgnn.experiments.store import Line
from bpgnn.report.draw import Panel, Series, draw
from bpgnn.report.section import Section
from bpgnn.report.source import NAMES, Source
from bpgnn.report.table import origin_of

# An interval with fewer pairs of test nodes, over seeds in the mean, says little; nor do fewer
# intervals than three.
_LEAST_PAIRS, _LEAST_INTERVALS = 100, 3

_CAPTION = (
    "Share of pairs of test nodes with the same label, by their edge probability; mean and "
    f"standard deviation over seeds, where these have {_LEAST_PAIRS} pairs or more in the mean."
)


def section(source: Source) -> Section:
    """Show how often a probable edge joins equal labels."""
    seeds = source.seeds(HOMOPHILY)
    cells = {
        f"{NAMES[dataset]}, {track} track": cell(track, dataset, seeds)
        for track in TRACKS
        for dataset in ("cora", "citeseer")
    }
    lines = {
        name: [line for line in source.found(runs) if _test_pairs(line)]
        for name, runs in cells.items()
    }
    panels = [_panel(name, found) for name, found in lines.items()]
    remarks = [remark for panel in panels for remark in _remarks(panel)]
    for name, runs in cells.items():
        entry = source.entry(runs)
        remarks += [f"{name}: {entry.failed}. {entry.detail}"] if entry.failed else []
    drawn = tuple(
        (name, source.command(runs), origin_of(lines[name])) for name, runs in cells.items()
    )
    figure = draw("homophily", _CAPTION, panels)
    return Section(
        "homophily", HOMOPHILY.question, figures=(figure,), remarks=tuple(remarks), drawn=drawn
    )


def _panel(name: str, lines: list[Line]) -> Panel:
    pairs = [_test_pairs(line) for line in lines]
    series = tuple(_series(pairs, key, name) for key, name in (("latent", "P"), ("product", "P~")))
    title = f"{name}, {counted(len(pairs), 'seed', 'seeds')}"
    return Panel(title, "probability", "same label, %", series, x_range=(0.0, 1.0))


def _test_pairs(line: Line) -> Line:
    return (line.get("latent_graph") or {}).get("test_pairs") or {}


def _series(pairs: list[Line], key: str, name: str) -> Series:
    known = [counts for one in pairs if (counts := one.get(key))]
    points = []
    for place, counts in enumerate(zip(*known, strict=True)):
        # Each pair was counted in both directions.
        if sum(pairs for pairs, _ in counts) / 2 >= _LEAST_PAIRS * len(known):
            shares = [100 * same / pairs for pairs, same in counts if pairs]
            spread = statistics.stdev(shares) if len(shares) > 1 else math.nan
            points.append((0.05 + 0.1 * place, statistics.mean(shares), spread))
    x, y, error = zip(*points, strict=True) if points else ((), (), ())
    return Series(name, x, y, error)


def _remarks(panel: Panel) -> list[str]:
    return [f"{panel.title}, {one.name}: {_in_words(one)}" for one in panel.series if one.x]


def _in_words(series: Series) -> str:
    number = f"with at least {_LEAST_PAIRS} pairs"
    if len(series.x) < _LEAST_INTERVALS or len(set(series.y)) == 1:
        found = counted(len(series.x), "interval", "intervals")
        return f"only {found} {number}, too few for a rank correlation."
    found = _rank_correlation(series)
    return f"rank correlation {found:+.2f} over {len(series.x)} intervals {number}."


def _rank_correlation(series: Series) -> float:
    return cast(tuple[float, float], spearmanr(series.x, series.y))[0]
