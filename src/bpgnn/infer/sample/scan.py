"""The frontier of a row by a pass over all points, where no tree of cells helps."""

import math
from typing import NamedTuple

import numba
import numpy as np

from bpgnn.infer.compiled import inlined, lean
from bpgnn.infer.geometry import FLAT
from bpgnn.infer.sample.arcs import halvings_of, measure_curved
from bpgnn.infer.sample.cells import Cells
from bpgnn.infer.space import Space, squared
from bpgnn.infer.threads import in_threads

# The pass over flat points is in float32, that over curved spaces by approximation. Its rounding
# is relative in the sum of squares and, where flat points are close but far from the centre,
# absolute in the coordinates; bounds allow for both.
_SLACK = 1e-5
_ROUNDING = 2.4e-7

# Rows at a time and points at a time, so that what is read again stays in the cache.
_ROWS, _TILE = 8, 512

# The logarithm of a share of the top rate that float32 still holds.
_FAINTEST = -60.0

# Cells of fewer points cost more to go through than their bounds save.
_LEAST = 32


class Frontiers(NamedTuple):
    """Hold the frontier of every row of P: each point stands alone or is in one cell.

    Args:
        points: Points that stand alone, the K + 1 heaviest first and in order, shape (N, M).
        exponents: Their logarithms of P, shape (N, M).
        masses: Sum of P from each place on to the last, over P of the first, shape (N, M).
        num_points: How many stand alone, shape (N,).
        cells: Cells of the rest, shape (N, C).
        bounds: Logarithms of P that no point of the cell is above, shape (N, C).
        rates: Running sum of each cell's points at its bound or a little more, over the top; a
            cell is proposed at its step, and its points are judged by that step, (N, C).
        num_cells: How many cells there are, shape (N,).
        top: The highest of the bounds, shape (N,).
        rest: Whether the row's last cell is all points, to be refused where they stand alone
            or are in another of its cells, shape (N,).
        scanned: Whether the row was made by a pass over all points; those that stand alone
            are then in a cell as well, to be refused there, shape (N,).
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
    rest: np.ndarray
    scanned: np.ndarray


def scan(space: Space, cells: Cells, k: int, out: Frontiers, rows: np.ndarray) -> None:
    """Make the frontiers of some rows: the nearest points alone, all others in equal cells.

    A cell's bound is its nearest point's rate itself, so that it is of use in many dimensions
    too, where a box says little.

    Args:
        space: Latent points, in the order of the cells.
        cells: Their tree; the deepest level is used that a row has room for.
        k: Neighbours that will be drawn, K.
        out: Where the frontiers go.
        rows: Which rows, shape (R,).
    """
    if len(rows) == 0:
        return
    flat, slip = bool(np.all(space.kinds == FLAT)), 0.0
    lines, curved = np.empty((0, 0), np.float32), np.empty((0, 0))
    if not flat:
        curved = np.ascontiguousarray(space.places.T)
    stretches, halvings = np.ascontiguousarray(space.factors.T), halvings_of(space)
    if flat:
        stretch = np.repeat(np.sqrt(space.scales), np.diff(space.starts))
        centred = (space.places - space.places.mean(0)) * stretch
        slip = 2 * _ROUNDING * float(np.abs(centred).max()) * math.sqrt(centred.shape[1])
        lines = np.ascontiguousarray(centred.T, np.float32)
    width = 1
    while (
        2 * width <= out.cells.shape[1]
        and 2 * width - 1 <= cells.first_leaf
        and len(space.places) >= 2 * width * _LEAST
    ):
        width *= 2
    bounds = np.append(cells.begin[width - 1 : 2 * width - 1], len(space.places))
    in_threads(
        len(rows),
        lambda begin, end: _scan_rows(
            space,
            cells,
            bounds,
            lines,
            (curved, stretches, halvings),
            slip,
            rows[begin:end],
            k,
            out,
        ),
    )


@numba.njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def _scan_rows(
    space: Space,
    cells: Cells,
    bounds: np.ndarray,
    lines: np.ndarray,
    curved: tuple[np.ndarray, np.ndarray, np.ndarray],
    slip: float,
    rows: np.ndarray,
    k: int,
    out: Frontiers,
) -> None:
    num_nodes = len(space.places)
    squares, exact = np.empty((_ROWS, num_nodes), np.float32), np.empty(num_nodes, np.float64)
    near = np.empty(num_nodes, np.int64)
    for first in range(0, len(rows), _ROWS):
        group = rows[first : first + _ROWS]
        if len(lines) > 0:
            _measure_flat(lines, group, squares)
        else:
            measure_curved(space, curved[0], curved[1], curved[2], group, squares)
        for turn in range(len(group)):
            row = group[turn]
            _write_row(space, cells, squares[turn], bounds, _SLACK, slip, near, k, row, out)
            if out.num_cells[row] > 0 and out.exponents[row, k] < out.top[row] - 1.0:
                # So sharp a row that the rounding of float32 would make its bounds useless.
                for other in range(num_nodes):
                    exact[other] = squared(space, row, other)
                _write_row(space, cells, exact, bounds, 1e-9, 0.0, near, k, row, out)


@numba.njit(cache=True)
def _write_row(
    space: Space,
    cells: Cells,
    squares: np.ndarray,
    bounds: np.ndarray,
    slack: float,
    slip: float,
    near: np.ndarray,
    k: int,
    row: int,
    out: Frontiers,
) -> None:
    """Note the points that stand alone, and the cells of all others."""
    lows = np.empty(len(bounds) - 1, squares.dtype)
    for turn in range(len(lows)):
        lows[turn] = _lowest(squares, bounds[turn], bounds[turn + 1])
    most = out.points.shape[1]
    least = min(len(squares), max(k + 1, most // 3))
    count = _collect(squares, lows, bounds, least, most, near)
    reach = -np.inf
    for place in range(count):
        out.points[row, place] = near[place]
        out.exponents[row, place] = -squared(space, row, near[place])
        reach = max(reach, squares[near[place]])
        squares[near[place]] = np.inf
    finish_points(out, row, count, k)
    # A cell is bounded by the nearest of its points that do not stand alone.
    number, kept = len(lows), 0
    for turn in range(number):
        low = lows[turn]
        if low <= reach:
            low = _lowest(squares, bounds[turn], bounds[turn + 1])
        if low < np.inf:
            nearest = max(0.0, math.sqrt(low) * (1.0 - slack) - slip)
            # Of each level of the tree the cells are numbered from left to right.
            out.cells[row, kept] = number - 1 + turn
            out.bounds[row, kept] = bound_of(nearest * nearest)
            kept += 1
    finish_cells(cells, out, row, kept)
    out.rest[row] = False


@numba.njit(cache=True, fastmath={"nnan", "nsz"})
def _lowest(squares: np.ndarray, begin: int, end: int) -> float:
    low = squares[begin]
    for other in range(begin + 1, end):
        low = min(low, squares[other])
    return low


@numba.njit(cache=True, fastmath={"contract", "reassoc"})
def _measure_flat(lines: np.ndarray, rows: np.ndarray, squares: np.ndarray) -> None:
    dim, num_nodes = lines.shape
    for begin in range(0, num_nodes, _TILE):
        end = min(begin + _TILE, num_nodes)
        for turn in range(len(rows)):
            out, row = squares[turn, begin:end], rows[turn]
            out[:] = 0
            # Two axes at a time: half as often is a sum read and written.
            for axis in range(0, dim - 1, 2):
                here, there = lines[axis, row], lines[axis + 1, row]
                line, other_line = lines[axis, begin:end], lines[axis + 1, begin:end]
                for other in range(end - begin):
                    gap, other_gap = line[other] - here, other_line[other] - there
                    out[other] += gap * gap + other_gap * other_gap
            if dim % 2 == 1:
                here, line = lines[dim - 1, row], lines[dim - 1, begin:end]
                for other in range(end - begin):
                    gap = line[other] - here
                    out[other] += gap * gap


@lean
def finish_points(out: Frontiers, row: int, count: int, k: int) -> None:
    """Put the K + 1 heaviest of the points that stand alone first, and add up the masses."""
    points, exponents = out.points[row], out.exponents[row]
    for place in range(min(k + 1, count)):
        heaviest = place
        for other in range(place + 1, count):
            if exponents[other] > exponents[heaviest]:
                heaviest = other
        point, exponent = points[heaviest], exponents[heaviest]
        points[heaviest], exponents[heaviest] = points[place], exponents[place]
        points[place], exponents[place] = point, exponent
    total = 0.0
    for place in range(count - 1, -1, -1):
        total += math.exp(exponents[place] - exponents[0])
        out.masses[row, place] = total
    out.num_points[row] = count


@inlined
def bound_of(near: float) -> np.float32:
    """Round a cell's bound up to float32."""
    return np.float32(-near * (1.0 - 1.2e-7))


@lean
def finish_cells(cells: Cells, out: Frontiers, row: int, count: int) -> float:
    """Add up the rates of a row's cells at their bounds, over the highest; return the sum."""
    top = -np.inf
    for place in range(count):
        top = max(top, float(out.bounds[row, place]))
    total = 0.0
    for place in range(count):
        cell = out.cells[row, place]
        number = int(cells.end[cell] - cells.begin[cell])
        total += number * math.exp(max(_FAINTEST, float(out.bounds[row, place]) - top))
        # Rounded up, so that no step is below what it bounds.
        out.rates[row, place] = total * (1.0 + 1.2e-7)
        total = float(out.rates[row, place])
    out.num_cells[row] = count
    out.top[row] = top
    return total


@numba.njit(cache=True)
def _collect(
    squares: np.ndarray,
    lows: np.ndarray,
    bounds: np.ndarray,
    least: int,
    most: int,
    near: np.ndarray,
) -> int:
    """List the nearest points, at least and at most as many, and return how many."""
    # As many points as there are cells up to a distance are at least as near, and mostly many
    # more: begin with few cells.
    rank, count = max(1, least // 4), 0
    while count < least:
        cut = np.inf
        if rank <= len(lows) and len(squares) > most:
            cut = _smallest(lows.copy(), rank)
        count = _list_up_to(cut, squares, lows, bounds, near)
        rank *= 2
    if count <= most:
        return count
    values = np.empty(count, squares.dtype)
    for place in range(count):
        values[place] = squares[near[place]]
    cut = _smallest(values.copy(), least)
    kept = level = 0
    for place in range(count):
        kept += values[place] < cut
        level += values[place] == cut
    # Where many points are at one distance, as many of those as are needed.
    spare = level if kept + level <= most else least - kept
    kept = 0
    for place in range(count):
        if values[place] < cut or (values[place] == cut and spare > 0):
            spare -= values[place] == cut
            near[kept] = near[place]
            kept += 1
    return kept


@lean
def _list_up_to(
    cut: float, squares: np.ndarray, lows: np.ndarray, bounds: np.ndarray, near: np.ndarray
) -> int:
    """List the points up to a distance, and return how many; cells beyond it are passed by."""
    count = 0
    for turn in range(len(lows)):
        if lows[turn] <= cut:
            for other in range(bounds[turn], bounds[turn + 1]):
                if squares[other] <= cut:
                    near[count] = other
                    count += 1
    return count


@numba.njit(cache=True)
def _smallest(values: np.ndarray, rank: int) -> float:
    """Return the value of a rank, 1 being the smallest; `values` change their order.

    Quickselect: numpy's own takes ten seconds to compile.
    """
    low, high, place = 0, len(values) - 1, rank - 1
    while low < high:
        pivot = values[(low + high) // 2]
        left, right = low, high
        while left <= right:
            while values[left] < pivot:
                left += 1
            while values[right] > pivot:
                right -= 1
            if left <= right:
                values[left], values[right] = values[right], values[left]
                left += 1
                right -= 1
        if place <= right:
            high = right
        elif place >= left:
            low = left
        else:
            break
    return float(values[place])
