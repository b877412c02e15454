"""What a handful of seeds says, and how surely."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import numpy as np
from scipy import stats

from bpgnn.randomness import numpy_generator_for

_RESAMPLES = 10_000
_STREAM = 0xB007

# An interval of fewer says nothing.
_FEWEST = 5


@final
@dataclass(frozen=True)
class Difference:
    """Compare two methods on the same seeds and splits.

    Args:
        mean: Mean difference.
        low: Lower end of the bootstrap interval of 95 in 100 cases. None for fewer than five
            seeds.
        high: Its upper end.
        num_pairs: Seeds that both have.
    """

    mean: float
    low: float | None
    high: float | None
    num_pairs: int


def paired_difference(ours: Mapping[int, float], theirs: Mapping[int, float]) -> Difference | None:
    """Take differences seed by seed; the interval is the bootstrap's, over seeds.

    Quantiles are taken further out, by as much as Student's t goes beyond the normal: a plain
    bootstrap of five seeds covers 84 in 100 cases (Hesterberg, 2015, "What Teachers Should Know
    About the Bootstrap", the expanded percentile interval). It is about seeds only: that the
    test nodes are a sample as well is `sampling_error`.

    Args:
        ours: A figure by seed.
        theirs: Another one's.

    Returns:
        Ours less theirs; None where they share no seed.

    Example:
        >>> paired_difference({0: 0.9, 1: 0.8}, {0: 0.7, 1: 0.6, 2: 0.1}).num_pairs
        2
    """
    seeds = sorted(ours.keys() & theirs.keys())
    if not seeds:
        return None
    gaps = np.array([ours[seed] - theirs[seed] for seed in seeds])
    if len(gaps) < _FEWEST:
        return Difference(float(gaps.mean()), None, None, len(gaps))
    generator = numpy_generator_for(0, _STREAM)
    drawn = generator.integers(len(gaps), size=(_RESAMPLES, len(gaps)))
    tail = _tail(len(gaps))
    low, high = np.quantile(gaps[drawn].mean(1), [tail, 1 - tail])
    return Difference(float(gaps.mean()), float(low), float(high), len(gaps))


def _tail(number: int) -> float:
    """Return the share to be cut off at each end so that 95 in 100 intervals cover the mean."""
    further = math.sqrt(number / (number - 1)) * stats.t.ppf(0.025, number - 1)
    return float(stats.norm.cdf(further))


def sampling_error(accuracy: float, num_nodes: int) -> float:
    """Return the standard error that an accuracy has because its test nodes are a sample.

    Example:
        >>> round(sampling_error(0.87, 500), 3)
        0.015
    """
    return math.sqrt(accuracy * (1 - accuracy) / num_nodes)
