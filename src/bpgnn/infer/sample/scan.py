"""The frontier of a row by a pass over all points, where no tree of cells helps."""

import math
from typing import NamedTuple

import numba
import numpy as np

from bpgnn.infer.compiled import lean
from bpgnn.infer.geometry import FLAT
from bpgnn.infer.space import Space, squared
from bpgnn.infer.threads import in_threads

# The pass over flat points is in float32. Its rounding is relative in the sum of squares and,
# where points are close but far from the centre, absolute in the coordinates; bounds allow
# for both.
_SLACK = 1e-5
_ROUNDING = 2.4e-7

# Rows at a time and points at a time, so that what is read again stays in the cache.
_ROWS, _TILE = 8, 512


class Frontiers(NamedTuple):
    """Hold the frontier of every row of P: each point stands alone or is in one cell.

    Args:
        points: Points that stand alone, heaviest first, shape (N, M).
        exponents: Their logarithms of P, shape (N, M).
        masses: Sum of P from each place on to the last, over P of the first, shape (N, M).
        num_points: How many stand alone, shape (N,).
        cells: Cells of the rest, shape (N, C).
        bounds: Logarithms of P that no point of the cell is above, shape (N, C).
        rates: Running sum of each cell's points at its bound, over the top, shape (N, C).
        num_cells: How many cells there are, shape (N,).
        top: The highest of the bounds, shape (N,).
        scanned: Whether the row was made by a pass over all points; its one cell is then
            all points, and those that stand alone are to be refused in it, shape (N,).
    """

    points: np.ndarray
    exponents: np.ndarray
    masses: np.ndarray
    num_points: np.ndarray
    cells: np.ndarray
    bounds: np.ndarray
    rates: np.ndarray
    num_cells: np.ndarray
    top: np.ndarray
    scanned: np.ndarray


def scan(space: Space, k: int, out: Frontiers, rows: np.ndarray) -> None:
    """Make the frontiers of some rows: the nearest points alone, all others as one cell.

    Args:
        space: Latent points.
        k: Neighbours that will be drawn, K.
        out: Where the frontiers go.
        rows: Which rows, shape (R,).
    """
    if len(rows) == 0:
        return
    slip = 0.0
    lines = np.empty((0, 0), np.float32)
    if np.all(space.kinds == FLAT):
        stretch = np.repeat(np.sqrt(space.scales), np.diff(space.starts))
        centred = (space.places - space.places.mean(0)) * stretch
        slip = 2 * _ROUNDING * float(np.abs(centred).max()) * math.sqrt(centred.shape[1])
        lines = np.ascontiguousarray(centred.T, np.float32)
    in_threads(
        len(rows), lambda begin, end: _scan_rows(space, lines, slip, rows[begin:end], k, out)
    )


@numba.njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def _scan_rows(
    space: Space, lines: np.ndarray, slip: float, rows: np.ndarray, k: int, out: Frontiers
) -> None:
    num_nodes = len(space.places)
    most = out.points.shape[1]
    least = min(num_nodes, max(k + 1, most // 3))
    squares = np.empty((_ROWS, num_nodes), np.float32)
    probe = np.empty(min(num_nodes, 256), np.float32)
    exact, exact_probe = np.empty(num_nodes), np.empty(len(probe))
    found = np.empty(most, np.int64)
    for first in range(0, len(rows), _ROWS):
        group = rows[first : first + _ROWS]
        if len(lines) > 0:
            _measure_flat(lines, group, squares)
        else:
            _measure(space, group, squares)
        for turn in range(len(group)):
            row = group[turn]
            count, cut = _collect(squares[turn], probe, least, most, found)
            nearest = max(0.0, math.sqrt(cut) * (1.0 - _SLACK) - slip)
            _write_row(space, row, found[:count], nearest * nearest, out)
            if count < num_nodes and out.exponents[row, k] < out.top[row] - 1.0:
                # So sharp a row that the rounding of float32 would make its bound useless.
                for other in range(num_nodes):
                    exact[other] = squared(space, row, other)
                count, cut = _collect(exact, exact_probe, least, most, found)
                _write_row(space, row, found[:count], cut * (1.0 - 1e-9), out)


@lean
def _write_row(space: Space, row: int, found: np.ndarray, nearest: float, out: Frontiers) -> None:
    """Note the points that stand alone, and one cell with all that are no nearer than this."""
    for place in range(len(found)):
        out.points[row, place] = found[place]
        out.exponents[row, place] = -squared(space, row, found[place])
    finish_points(out, row, len(found))
    if len(found) < len(space.places):
        out.cells[row, 0] = 0
        out.bounds[row, 0] = np.float32(-nearest * (1.0 - 1.2e-7))
        out.rates[row, 0] = len(space.places)
        out.num_cells[row] = 1
        out.top[row] = float(out.bounds[row, 0])


@numba.njit(cache=True, fastmath={"contract", "reassoc"})
def _measure_flat(lines: np.ndarray, rows: np.ndarray, squares: np.ndarray) -> None:
    dim, num_nodes = lines.shape
    for begin in range(0, num_nodes, _TILE):
        end = min(begin + _TILE, num_nodes)
        for turn in range(len(rows)):
            out = squares[turn, begin:end]
            out[:] = 0
            for axis in range(dim):
                here = lines[axis, rows[turn]]
                line = lines[axis, begin:end]
                for other in range(end - begin):
                    gap = line[other] - here
                    out[other] += gap * gap


@lean
def _measure(space: Space, rows: np.ndarray, squares: np.ndarray) -> None:
    for turn in range(len(rows)):
        for other in range(len(space.places)):
            squares[turn, other] = squared(space, rows[turn], other)


@lean
def finish_points(out: Frontiers, row: int, count: int) -> None:
    """Sort the points that stand alone, heaviest first, and add up their masses."""
    points, exponents = out.points[row], out.exponents[row]
    for place in range(1, count):
        point, exponent = points[place], exponents[place]
        other = place
        while other > 0 and exponents[other - 1] < exponent:
            points[other] = points[other - 1]
            exponents[other] = exponents[other - 1]
            other -= 1
        points[other] = point
        exponents[other] = exponent
    total = 0.0
    for place in range(count - 1, -1, -1):
        total += math.exp(exponents[place] - exponents[0])
        out.masses[row, place] = total
    out.num_points[row] = count


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
        kept = 0
        for other in range(num_nodes):
            if squares[other] < cut:
                found[kept] = other
                kept += 1
        for other in range(num_nodes):
            if kept == least:
                break
            if squares[other] == cut:
                found[kept] = other
                kept += 1
        return kept, float(cut)
    return _take(squares, float(cut), most, found), float(cut)


@lean
def _take(squares: np.ndarray, cut: float, most: int, found: np.ndarray) -> int:
    """List the points up to a distance."""
    kept = 0
    for other in range(len(squares)):
        if squares[other] <= cut and kept < most:
            found[kept] = other
            kept += 1
    return kept


@lean
def _count_below(squares: np.ndarray, cut: float) -> int:
    count = 0
    for other in range(len(squares)):
        count += squares[other] <= cut
    return count
