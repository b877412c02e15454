"""For each latent point the points that resemble it most, and a bound for all others."""

import math
from typing import NamedTuple

import numba
import numpy as np

from bpgnn.infer.sample.threads import in_threads

# The distance pass is in float32. Its rounding is relative in the sum of squares and, where
# points are close but far from the centre, absolute in the coordinates; bounds allow for both.
_SLACK = 1e-5
_ROUNDING = 2.4e-7


class Heavy(NamedTuple):
    """Hold the heavy points of every row of P, best first, and the bound of the rest.

    Args:
        nodes: Heavy points of each row, shape (N, M); unused places hold -1.
        exponents: Their logarithms of P, exact, falling, shape (N, M).
        masses: Sum of P from each place on to the row's end, over P of its best, (N, M).
        counts: How many are used, shape (N,).
        bounds: No other point's logarithm of P is above this, shape (N,).
    """

    nodes: np.ndarray
    exponents: np.ndarray
    masses: np.ndarray
    counts: np.ndarray
    bounds: np.ndarray


def find_heavy(points: np.ndarray, sharpness: float, least: int, most: int) -> Heavy:
    """Find the heavy points of every row by one pass over all pairs.

    Args:
        points: Latent points, float64, shape (N, D).
        sharpness: 1/φ.
        least: At least as many heavy points a row.
        most: At most as many.

    Returns:
        The heavy points, and bounds for the rest.
    """
    num_nodes, dim = points.shape
    heavy = Heavy(
        nodes=np.full((num_nodes, most), -1, np.int32),
        exponents=np.full((num_nodes, most), -np.inf),
        masses=np.zeros((num_nodes, most)),
        counts=np.zeros(num_nodes, np.int64),
        bounds=np.full(num_nodes, -np.inf),
    )
    centred = points - points.mean(0)
    slip = 2 * _ROUNDING * float(np.abs(centred).max()) * math.sqrt(dim)
    flat = np.ascontiguousarray(centred.T, np.float32)
    in_threads(
        num_nodes,
        lambda begin, end: _find_rows(points, flat, slip, sharpness, least, *heavy, begin, end),
    )
    return heavy


@numba.njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def _find_rows(
    points: np.ndarray,
    flat: np.ndarray,
    slip: float,
    sharpness: float,
    least: int,
    nodes: np.ndarray,
    exponents: np.ndarray,
    masses: np.ndarray,
    counts: np.ndarray,
    bounds: np.ndarray,
    begin: int,
    end: int,
) -> None:
    num_nodes, dim = points.shape
    most = nodes.shape[1]
    squares = np.empty(num_nodes, np.float32)
    probe = np.empty(min(num_nodes, 256), np.float32)
    found = np.empty(most, np.int64)
    for row in range(begin, end):
        squares[:] = 0
        for axis in range(dim):
            here = flat[axis, row]
            line = flat[axis]
            for other in range(num_nodes):
                gap = line[other] - here
                squares[other] += gap * gap
        count, cut = _collect(squares, probe, least, most, found)
        exact = np.empty(count)
        for place in range(count):
            exact[place] = -sharpness * _squared(points, row, found[place])
        order = np.argsort(-exact)
        for place in range(count):
            nodes[row, place] = found[order[place]]
            exponents[row, place] = exact[order[place]]
        total = 0.0
        for place in range(count - 1, -1, -1):
            total += math.exp(exponents[row, place] - exponents[row, 0])
            masses[row, place] = total
        counts[row] = count
        if count < num_nodes:
            nearest = max(0.0, math.sqrt(cut) * (1.0 - _SLACK) - slip)
            bounds[row] = -sharpness * nearest * nearest


@numba.njit(cache=True, inline="always")
def _squared(points: np.ndarray, first: int, second: int) -> float:
    total = 0.0
    for axis in range(points.shape[1]):
        gap = points[first, axis] - points[second, axis]
        total += gap * gap
    return total


@numba.njit(cache=True)
def _collect(
    squares: np.ndarray, probe: np.ndarray, least: int, most: int, found: np.ndarray
) -> tuple:
    """List the nearest points; return how many, and a distance that no other is below."""
    num_nodes = len(squares)
    if num_nodes <= most:
        return _take(squares, np.inf, num_nodes, found), 0.0
    # A sample's quantile gives a cut near the wanted number without sorting the row.
    step = num_nodes / len(probe)
    for place in range(len(probe)):
        probe[place] = squares[int(place * step)]
    rank = min(len(probe) - 1, int(1.5 * least / num_nodes * len(probe)) + 2)
    cut = np.partition(probe, rank)[rank]
    count = _count_below(squares, cut)
    if count < least or count > most:
        cut = np.partition(squares, least - 1)[least - 1]
        count = _count_below(squares, cut)
    if count > most:
        # Many points at one distance: all that are nearer, then as many of those as fit.
        kept = _take(squares, float(np.nextafter(cut, np.float32(-1))), most, found)
        for other in range(num_nodes):
            if kept == least:
                break
            if squares[other] == cut:
                found[kept] = other
                kept += 1
        return kept, float(cut)
    return _take(squares, cut, most, found), float(cut)


@numba.njit(cache=True)
def _take(squares: np.ndarray, cut: float, most: int, found: np.ndarray) -> int:
    """List the points up to a distance."""
    kept = 0
    for other in range(len(squares)):
        if squares[other] <= cut and kept < most:
            found[kept] = other
            kept += 1
    return kept


@numba.njit(cache=True)
def _count_below(squares: np.ndarray, cut: float) -> int:
    count = 0
    for other in range(len(squares)):
        count += squares[other] <= cut
    return count
