"""For each latent point a cover of all others: near ones by themselves, far ones by the cell."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numba
import numpy as np

from bpgnn.infer.compiled import inlined, lean
from bpgnn.infer.sample.cells import (
    WIDTH,
    Cells,
    Viewers,
    measure_cell,
    measure_point,
    take_places,
)
from bpgnn.infer.sample.scan import Frontiers, bound_of, finish_cells, finish_points, scan
from bpgnn.infer.space import Space
from bpgnn.infer.threads import in_threads

# What a row lists is at least this near: farther rates, e^-8 of the K-th highest in all, are
# lumped together.
_FAR = 8.0

_SLACK = 2.0
# A group may use this many times what one row may keep.
_SHARED = 4

# Of many groups some are tried, and if more than this share of rows has to be scanned, all are.
_PROBES, _HOPELESS = 64, 0.3

SCAN_ALL = -1
"""As `max_opened`: no tree, every row by a pass over all points."""


class Effort(NamedTuple):
    """Say how far frontiers are grown; this decides about speed and never about the outcome.

    Args:
        max_points: At most as many points that stand alone.
        max_cells: At most as many cells.
        max_opened: A row that would have to open more cells to find its nearest is scanned.
        tolerance: Cells' bounds may add up to this many times the rates they stand for.
        scan_ratio: A row whose bounds add up to more than this many times is scanned.
    """

    max_points: int
    max_cells: int
    max_opened: int
    tolerance: float
    scan_ratio: float


def grow_frontiers(space: Space, cells: Cells, k: int, effort: Effort) -> Frontiers:
    """Grow the frontier of every row, best cells first; scan rows for which that costs more.

    Args:
        space: Latent points in the order of the cells.
        cells: Their tree.
        k: Neighbours that will be drawn, K.
        effort: How far to grow.

    Returns:
        The frontiers.
    """
    num_nodes = len(space.places)
    # A cell can be opened and K points besides a row's own be found, whatever was asked for.
    leaf = int(cells.end[cells.first_leaf] - cells.begin[cells.first_leaf]) + 1
    effort = effort._replace(
        max_points=min(num_nodes, max(effort.max_points, k + 1, leaf)),
        # The cover to begin with has a cell for each level of the tree.
        max_cells=max(effort.max_cells, int(cells.first_leaf).bit_length() + 1),
    )
    wide, deep = (num_nodes, effort.max_points), (num_nodes, effort.max_cells + 1)
    frontiers = Frontiers(
        points=np.empty(wide, np.int32),
        exponents=np.empty(wide),
        masses=np.empty(wide),
        num_points=np.zeros(num_nodes, np.int32),
        cells=np.empty(deep, np.int32),
        bounds=np.empty(deep, np.float32),
        rates=np.empty(deep, np.float32),
        num_cells=np.zeros(num_nodes, np.int32),
        top=np.full(num_nodes, -np.inf),
        rest=np.zeros(num_nodes, np.bool_),
        scanned=np.zeros(num_nodes, np.bool_),
    )
    # The groups are the cells of the first level on which none has more than WIDTH points.
    groups = 1
    while num_nodes > WIDTH * groups:
        groups *= 2

    def grow(begin: int, end: int) -> None:
        _grow_groups(space, cells, k, effort, frontiers, groups - 1 + begin, groups - 1 + end)

    if effort.max_opened == SCAN_ALL or _is_hopeless(grow, groups, num_nodes, frontiers):
        frontiers.scanned[:] = True
    else:
        in_threads(groups, grow)
    scan(space, cells, k, frontiers, np.flatnonzero(frontiers.scanned))
    return frontiers


def _is_hopeless(
    grow: Callable[[int, int], None], groups: int, num_nodes: int, frontiers: Frontiers
) -> bool:
    """Try some groups: where many of their rows are to be scanned, most are."""
    if groups < 4 * _PROBES:
        return False
    tried = np.linspace(0, groups - 1, _PROBES).astype(int).tolist()
    for group in tried:
        grow(group, group + 1)
    # The rows of all other groups are still as they were made.
    found = np.count_nonzero(frontiers.scanned)
    return bool(found > _HOPELESS * num_nodes * len(tried) / groups)


class _Desk(NamedTuple):
    """Hold what a group of rows is worked on with: a heap of slots, and a cell in each slot.

    What has WIDTH columns is kept for each row of the group.
    """

    keys: np.ndarray
    heap: np.ndarray
    cell: np.ndarray
    near: np.ndarray
    far: np.ndarray
    upper: np.ndarray
    likely: np.ndarray
    closed: np.ndarray
    points: np.ndarray
    squares: np.ndarray
    best: np.ndarray
    sums: np.ndarray
    viewers: Viewers


_REFERENCE, _ALONE, _UPPER, _LIKELY = range(4)  # the lines of `sums`


@numba.njit(cache=True, nogil=True)
def _grow_groups(
    space: Space,
    cells: Cells,
    k: int,
    effort: Effort,
    frontiers: Frontiers,
    begin: int,
    end: int,
) -> None:
    # Every cell opened puts two in its place; the way down to a leaf is at most 64 cells.
    most_points = min(len(space.places), _SHARED * effort.max_points)
    most_cells = _SHARED * effort.max_cells
    room = 4 * (effort.max_opened + most_cells + most_points) + 64
    desk = _Desk(
        np.empty(room),
        np.empty(room, np.int64),
        np.empty(room, np.int64),
        np.empty((room, WIDTH)),
        np.empty((room, WIDTH)),
        np.empty((room, WIDTH)),
        np.empty((room, WIDTH)),
        np.empty(room, np.int64),
        np.empty(most_points, np.int64),
        np.empty((most_points, WIDTH)),
        np.empty((WIDTH, k + 1)),
        np.empty((4, WIDTH)),
        Viewers(
            np.empty((space.places.shape[1], WIDTH)), np.empty((space.factors.shape[1], WIDTH))
        ),
    )
    for group in range(begin, end):
        _grow(space, cells, group, k, effort, frontiers, desk)


@lean
def _grow(
    space: Space,
    cells: Cells,
    group: int,
    k: int,
    effort: Effort,
    out: Frontiers,
    desk: _Desk,
) -> None:
    begin, end = cells.begin[group], cells.end[group]
    rows = end - begin
    take_places(space, begin, end, desk.viewers)
    desk.best[:] = np.inf
    # Opened nearest first until each row's K + 1 nearest are known, up to a factor e² in
    # their rates.
    size = _push(desk, 0, _place(space, cells, rows, 0, desk, 0), 0)
    slots, count, closed, opened = 1, 0, 0, 0
    most_cells = _SHARED * effort.max_cells
    farthest = np.inf
    while size > 0 and desk.keys[0] + _SLACK < farthest:
        slot = desk.heap[0]
        cell = desk.cell[slot]
        wanted = False
        for lane in range(rows):
            wanted |= desk.near[slot, lane] + _SLACK < desk.best[lane, k]
        if not wanted:
            size = _pop(desk, size)
            desk.closed[closed] = slot
            closed += 1
            continue
        # The cells above the group hold it; they have to be opened whatever the effort.
        above = cells.begin[cell] <= begin and end <= cells.end[cell]
        opened += not above
        leaf = cell >= cells.first_leaf
        full = slots + 2 > len(desk.cell)
        if leaf:
            full = count + cells.end[cell] - cells.begin[cell] > len(desk.points)
        if full or opened > effort.max_opened or size + closed >= most_cells:
            break
        size = _pop(desk, size)
        if leaf:
            count = _open_leaf(space, cells, rows, cell, desk, count)
            farthest = desk.best[0, k]
            for lane in range(1, rows):
                farthest = max(farthest, desk.best[lane, k])
        else:
            for child in (2 * cell + 1, 2 * cell + 2):
                near = _place(space, cells, rows, child, desk, slots)
                size = _push(desk, size, near, slots)
                slots += 1
    for place in range(closed):
        desk.heap[size + place] = desk.closed[place]
    size += closed
    if farthest == np.inf and count < len(space.places):
        # Too few points stand alone for K to be drawn; the cells' proposals might not end.
        out.scanned[begin:end] = True
        return
    size, count = _refine(space, cells, rows, k, effort, desk, size, slots, count)
    for lane in range(rows):
        _write(cells, begin + lane, lane, k, effort, out, desk, size, count)


@lean
def _refine(
    space: Space,
    cells: Cells,
    rows: int,
    k: int,
    effort: Effort,
    desk: _Desk,
    size: int,
    slots: int,
    count: int,
) -> tuple:
    """Split the cells whose bounds are loosest, until little is lost by the rest."""
    best, sums = desk.best, desk.sums
    while True:
        for lane in range(rows):
            nearest = best[lane, k] if best[lane, k] < np.inf else best[lane, 0]
            sums[_REFERENCE, lane] = nearest
            sums[_ALONE, lane] = _mass_alone(desk, lane, count, nearest)
            sums[_UPPER, lane] = sums[_LIKELY, lane] = 0.0
        # What is split from here on counts for some row, which must have room for it.
        most_points, most_cells = _room_left(desk, rows, effort, size, count)
        # The heap is made anew, now by what a cell's bound gives away.
        waiting = size
        size = closed = 0
        for place in range(waiting):
            size = _push(desk, size, _weigh(cells, rows, desk, desk.heap[place]), desk.heap[place])
        while size > 0 and desk.keys[0] < 0 and _is_loose(sums, rows, effort.tolerance):
            slot = desk.heap[0]
            cell = desk.cell[slot]
            size = _pop(desk, size)
            leaf = cell >= cells.first_leaf
            if leaf:
                full = count + cells.end[cell] - cells.begin[cell] > most_points
            else:
                full = size + closed + 2 > most_cells or slots + 2 > len(desk.cell)
            if full:
                desk.closed[closed] = slot
                closed += 1
                continue
            for lane in range(rows):
                sums[_UPPER, lane] -= desk.upper[slot, lane]
                sums[_LIKELY, lane] -= desk.likely[slot, lane]
            if leaf:
                before = count
                count = _open_leaf(space, cells, rows, cell, desk, count)
                for place in range(before, count):
                    for lane in range(rows):
                        gap = sums[_REFERENCE, lane] - desk.squares[place, lane]
                        sums[_ALONE, lane] += _rate(gap)
            else:
                for child in (2 * cell + 1, 2 * cell + 2):
                    _place(space, cells, rows, child, desk, slots)
                    size = _push(desk, size, _weigh(cells, rows, desk, slots), slots)
                    slots += 1
        for place in range(closed):
            desk.heap[size + place] = desk.closed[place]
        size += closed
        nearer = False
        for lane in range(rows):
            nearer |= best[lane, k] < sums[_REFERENCE, lane] - _SLACK
        if not nearer:
            return size, count
        # Nearer points were found than rates were compared with: compare again.


@lean
def _room_left(desk: _Desk, rows: int, effort: Effort, size: int, count: int) -> tuple:
    """Tell how many points and cells there may be, for the row that needs most to keep its."""
    points = cells = 0
    for lane in range(rows):
        reach = desk.sums[_REFERENCE, lane] + _FAR
        near = 0
        for place in range(count):
            near += desk.squares[place, lane] <= reach
        points = max(points, near)
        near = 0
        for place in range(size):
            near += desk.near[desk.heap[place], lane] <= reach
        cells = max(cells, near)
    return (
        min(len(desk.points), count + max(0, effort.max_points - points)),
        size + max(0, effort.max_cells - cells),
    )


@inlined
def _is_loose(sums: np.ndarray, rows: int, tolerance: float) -> bool:
    """Tell whether the bounds of some row give too much away."""
    loose = False
    for lane in range(rows):
        known = sums[_ALONE, lane] + sums[_LIKELY, lane]
        loose |= sums[_UPPER, lane] > tolerance * known
    return loose


@lean
def _mass_alone(desk: _Desk, lane: int, count: int, reference: float) -> float:
    """Add up what stands alone, without the K heaviest: these cannot win a place twice."""
    total = 0.0
    for place in range(count):
        if desk.squares[place, lane] >= reference:
            total += _rate(reference - desk.squares[place, lane])
    return total


@inlined
def _place(space: Space, cells: Cells, rows: int, cell: int, desk: _Desk, slot: int) -> float:
    """Put a cell into a slot, with its distances from each row; return the smallest."""
    desk.cell[slot] = cell
    measure_cell(space, cells, desk.viewers, rows, cell, desk.near[slot], desk.far[slot])
    nearest = desk.near[slot, 0]
    for lane in range(1, rows):
        nearest = min(nearest, desk.near[slot, lane])
    return nearest


@inlined
def _weigh(cells: Cells, rows: int, desk: _Desk, slot: int) -> float:
    """Bound the sum of a cell's rates for each row, and guess it; return the worst gap."""
    cell = desk.cell[slot]
    number = cells.end[cell] - cells.begin[cell]
    worst = 0.0
    for lane in range(rows):
        near, far = desk.near[slot, lane], desk.far[slot, lane]
        reference = desk.sums[_REFERENCE, lane]
        upper = number * _rate(reference - near)
        likely = number * _rate(reference - 0.5 * (near + far))
        desk.upper[slot, lane] = upper
        desk.likely[slot, lane] = likely
        desk.sums[_UPPER, lane] += upper
        desk.sums[_LIKELY, lane] += likely
        worst = min(worst, likely - upper)
    return worst


@inlined
def _open_leaf(space: Space, cells: Cells, rows: int, leaf: int, desk: _Desk, count: int) -> int:
    """Let the points of a leaf stand alone, and keep each row's K + 1 nearest distances."""
    last = desk.best.shape[1] - 1
    for point in range(cells.begin[leaf], cells.end[leaf]):
        desk.points[count] = point
        measure_point(space, desk.viewers, rows, point, desk.squares[count])
        for lane in range(rows):
            square, best = desk.squares[count, lane], desk.best[lane]
            if square < best[last]:
                place = last
                while place > 0 and best[place - 1] > square:
                    best[place] = best[place - 1]
                    place -= 1
                best[place] = square
        count += 1
    return count


@lean
def _write(
    cells: Cells,
    row: int,
    lane: int,
    k: int,
    effort: Effort,
    out: Frontiers,
    desk: _Desk,
    size: int,
    count: int,
) -> None:
    """Note one row's points and cells, or leave it to be scanned."""
    num_nodes = len(out.rest)
    most_points, most_cells = out.points.shape[1], out.cells.shape[1] - 1
    reference = desk.sums[_REFERENCE, lane]
    # What is so far that it hardly counts, or more than there is room for, becomes one cell.
    width = _FAR + math.log(num_nodes)
    while True:
        num_points = num_cells = 0
        for place in range(count):
            num_points += desk.squares[place, lane] <= reference + width
        for place in range(size):
            num_cells += desk.near[desk.heap[place], lane] <= reference + width
        if num_points <= most_points and num_cells <= most_cells:
            break
        width *= 0.7
        if width < 1.0:
            out.scanned[row] = True
            return
    kept = 0
    lumped = np.inf
    for place in range(count):
        square = desk.squares[place, lane]
        if square <= reference + width:
            out.points[row, kept] = desk.points[place]
            out.exponents[row, kept] = -square
            kept += 1
        else:
            lumped = min(lumped, square)
    finish_points(out, row, kept, k)
    nearest = np.inf
    kept = 0
    for place in range(size):
        slot = desk.heap[place]
        near = desk.near[slot, lane]
        if near <= reference + width:
            out.cells[row, kept] = desk.cell[slot]
            out.bounds[row, kept] = bound_of(near)
            kept += 1
            nearest = min(nearest, near)
        else:
            lumped = min(lumped, near)
    if lumped < np.inf:
        out.cells[row, kept] = 0
        out.bounds[row, kept] = bound_of(lumped)
        out.rest[row] = True
        kept += 1
        nearest = min(nearest, lumped)
    upper = finish_cells(cells, out, row, kept)
    # Not what is likely but what is sure: proposals must end. And of a cell nearer than the
    # K-th point known no more than would be there at its distance: a few points in it ring
    # again and again, and count once.
    sure = _mass_alone(desk, lane, count, reference) * _rate(nearest - reference)
    for place in range(size):
        if upper <= effort.scan_ratio * sure:
            return
        slot = desk.heap[place]
        cell = desk.cell[slot]
        number = cells.end[cell] - cells.begin[cell]
        far = max(desk.far[slot, lane], reference - _SLACK)
        sure += number * _rate(nearest - far)
    if upper > effort.scan_ratio * sure:
        out.scanned[row] = True


@inlined
def _rate(exponent: float) -> float:
    """Exponentiate what is to be compared only: far off, all that matters is that it is."""
    return math.exp(min(50.0, exponent)) if exponent > -40.0 else 0.0


@inlined
def _push(desk: _Desk, size: int, key: float, slot: int) -> int:
    """Put a slot on the heap, smallest key first."""
    keys, heap = desk.keys, desk.heap
    place = size
    while place > 0 and keys[(place - 1) >> 1] > key:
        keys[place] = keys[(place - 1) >> 1]
        heap[place] = heap[(place - 1) >> 1]
        place = (place - 1) >> 1
    keys[place] = key
    heap[place] = slot
    return size + 1


@inlined
def _pop(desk: _Desk, size: int) -> int:
    """Take the smallest key off the heap."""
    keys, heap = desk.keys, desk.heap
    size -= 1
    key, slot = keys[size], heap[size]
    place = 0
    while True:
        child = 2 * place + 1
        if child >= size:
            break
        if child + 1 < size and keys[child + 1] < keys[child]:
            child += 1
        if keys[child] >= key:
            break
        keys[place] = keys[child]
        heap[place] = heap[child]
        place = child
    keys[place] = key
    heap[place] = slot
    return size
