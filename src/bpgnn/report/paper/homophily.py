"""The paper's figure of labels by edge probability."""

import math
import statistics
from typing import NamedTuple, cast, final

from scipy.stats import spearmanr

from bpgnn.data.counted import counted
from bpgnn.experiments.paper.homophily import HOMOPHILY, cell
from bpgnn.experiments.paper.systems import TRACKS
from bpgnn.experiments.store import Line
from bpgnn.report.draw import Panel, Series, draw
from bpgnn.report.section import Section
from bpgnn.report.source import NAMES, Source
from bpgnn.report.table import origin_of

# An interval with fewer pairs of test nodes says little; nor do fewer intervals than three.
_LEAST_PAIRS, _LEAST_INTERVALS = 100, 3

_CAPTION = (
    "Share of pairs of test nodes with the same label, by their edge probability; mean and "
    f"standard deviation over seeds, where all seeds together have {_LEAST_PAIRS} pairs or more."
)

_KINDS = {"P": "latent", "P~": "product"}


@final
class _Interval(NamedTuple):
    """Tell how many pairs of an interval have the same label."""

    middle: float
    shares: list[float]  # in percent, of each seed that has pairs there
    pairs: float  # of all seeds
    pairs_a_seed: float  # in the mean

    @property
    def share(self) -> float:
        return statistics.mean(self.shares)


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
    panels, remarks = [], []
    for name, found in lines.items():
        title = f"{name}, {counted(len(found), 'seed', 'seeds')}"
        kinds = {kind: _intervals(found, key) for kind, key in _KINDS.items()}
        series = tuple(_series(kind, intervals) for kind, intervals in kinds.items())
        panels.append(Panel(title, "probability", "same label, %", series, x_range=(0.0, 1.0)))
        remarks += [f"{title}, {kind}: {_in_words(one)}" for kind, one in kinds.items() if one]
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


def _test_pairs(line: Line) -> Line:
    return (line.get("latent_graph") or {}).get("test_pairs") or {}


def _intervals(lines: list[Line], key: str) -> list[_Interval]:
    """Count the pairs of all seeds in each tenth, and leave out tenths with few."""
    known = [counts for line in lines if (counts := _test_pairs(line).get(key))]
    found = []
    for place, counts in enumerate(zip(*known, strict=True)):
        # Each pair was counted in both directions.
        total = sum(pairs for pairs, _ in counts) / 2
        shares = [100 * same / pairs for pairs, same in counts if pairs]
        found.append(_Interval(0.05 + 0.1 * place, shares, total, total / len(known)))
    return [one for one in found if one.pairs >= _LEAST_PAIRS]


def _series(name: str, intervals: list[_Interval]) -> Series:
    x = tuple(one.middle for one in intervals)
    y = tuple(one.share for one in intervals)
    spread = (
        statistics.stdev(one.shares) if len(one.shares) > 1 else math.nan for one in intervals
    )
    return Series(name, x, y, tuple(spread))


def _in_words(intervals: list[_Interval]) -> str:
    """Say whether shares rise, over intervals with enough pairs of all seeds, and of each."""
    known = f"rank correlation {_correlation(intervals)} over intervals with {_LEAST_PAIRS} pairs"
    if all(one.pairs == one.pairs_a_seed for one in intervals):
        return f"{known} or more."
    of_each = [one for one in intervals if one.pairs_a_seed >= _LEAST_PAIRS]
    return (
        f"{known} or more of all seeds together, {_correlation(of_each)} over those with as many "
        "of a seed in the mean."
    )


def _correlation(intervals: list[_Interval]) -> str:
    shares = [one.share for one in intervals]
    found = counted(len(intervals), "interval", "intervals")
    if len(intervals) < _LEAST_INTERVALS:
        return f"none ({found}, too few)"
    if len(set(shares)) == 1:
        return f"none ({found}, all alike)"
    result = spearmanr([one.middle for one in intervals], shares)
    return f"{cast(tuple[float, float], result)[0]:+.2f} ({found})"
