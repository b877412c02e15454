"""For each latent point a cover of all others: near ones by themselves, far ones by the cell."""

import math
from typing import NamedTuple

import numba
import numpy as np

from bpgnn.infer.compiled import lean
from bpgnn.infer.sample.cells import Cells, squared_to_cell
from bpgnn.infer.sample.scan import Frontiers, finish_points, scan
from bpgnn.infer.space import Space, squared
from bpgnn.infer.threads import in_threads

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
    wide, deep = (num_nodes, effort.max_points), (num_nodes, effort.max_cells)
    frontiers = Frontiers(
        points=np.empty(wide, np.int32),
        exponents=np.empty(wide),
        masses=np.empty(wide),
        num_points=np.zeros(num_nodes, np.int32),
        cells=np.empty(deep, np.int32),
        bounds=np.empty(deep, np.float32),
        rates=np.empty(deep),
        num_cells=np.zeros(num_nodes, np.int32),
        top=np.full(num_nodes, -np.inf),
        scanned=np.zeros(num_nodes, np.bool_),
    )
    if effort.max_opened == SCAN_ALL:
        frontiers.scanned[:] = True
    else:
        in_threads(
            num_nodes,
            lambda begin, end: _grow_rows(space, cells, k, effort, frontiers, begin, end),
        )
    scan(space, k, frontiers, np.flatnonzero(frontiers.scanned))
    return frontiers


class _Desk(NamedTuple):
    """Hold what a row is worked on with: a heap of slots, and the cell in each slot."""

    keys: np.ndarray
    heap: np.ndarray
    cell: np.ndarray
    near: np.ndarray
    far: np.ndarray
    upper: np.ndarray
    likely: np.ndarray
    closed: np.ndarray
    best: np.ndarray


@numba.njit(cache=True, nogil=True)
def _grow_rows(
    space: Space,
    cells: Cells,
    k: int,
    effort: Effort,
    frontiers: Frontiers,
    begin: int,
    end: int,
) -> None:
    # Every cell opened puts two in its place; the way down to a leaf is at most 64 cells.
    room = 4 * (effort.max_opened + effort.max_cells + effort.max_points) + 64
    desk = _Desk(
        np.empty(room),
        np.empty(room, np.int64),
        np.empty(room, np.int64),
        np.empty(room),
        np.empty(room),
        np.empty(room),
        np.empty(room),
        np.empty(effort.max_cells + effort.max_points, np.int64),
        np.empty(k + 1),
    )
    leaf = cells.first_leaf
    for row in range(begin, end):
        while row >= cells.end[leaf]:
            leaf += 1
        _grow(space, cells, row, leaf, k, effort, frontiers, desk)


@lean
def _grow(
    space: Space,
    cells: Cells,
    row: int,
    own_leaf: int,
    k: int,
    effort: Effort,
    out: Frontiers,
    desk: _Desk,
) -> None:
    desk.best[:] = np.inf
    # Its own cell is opened first: the heaviest point of a row is itself, or as heavy.
    count = _open_leaf(space, cells, row, own_leaf, out, 0, desk.best)
    size = slots = 0
    # The cells beside the way down to it are the cover to begin with.
    cell = own_leaf
    while cell > 0:
        other = cell + 1 if cell % 2 == 1 else cell - 1
        _place(space, cells, row, other, desk, slots)
        size = _push(desk, size, desk.near[slots], slots)
        slots += 1
        cell = (cell - 1) // 2
    # Until the K + 1 nearest are known, up to a factor e² in their rates.
    opened = 0
    while size > 0 and desk.keys[0] + 2.0 < desk.best[k]:
        cell = desk.cell[desk.heap[0]]
        opened += 1
        leaf = cell >= cells.first_leaf
        full = leaf and count + cells.end[cell] - cells.begin[cell] > effort.max_points
        if full or opened > effort.max_opened or size >= effort.max_cells:
            break
        size = _pop(desk, size)
        if leaf:
            count = _open_leaf(space, cells, row, cell, out, count, desk.best)
        else:
            for child in (2 * cell + 1, 2 * cell + 2):
                _place(space, cells, row, child, desk, slots)
                size = _push(desk, size, desk.near[slots], slots)
                slots += 1
    if desk.best[k] == np.inf and count < len(space.places):
        # Too few points stand alone for K to be drawn; the cells' proposals might not end.
        out.scanned[row] = True
        return
    _refine(space, cells, row, k, effort, out, desk, size, slots, count)


@lean
def _refine(
    space: Space,
    cells: Cells,
    row: int,
    k: int,
    effort: Effort,
    out: Frontiers,
    desk: _Desk,
    size: int,
    slots: int,
    count: int,
) -> None:
    """Split the cells whose bounds are loosest, until little is lost by the rest."""
    best = desk.best
    while True:
        reference = best[k] if best[k] < np.inf else best[0]
        alone = _mass_alone(out, row, count, reference)
        upper = likely = 0.0
        # The heap is made anew, now by what a cell's bound gives away.
        waiting = size
        size = closed = 0
        for place in range(waiting):
            slot = desk.heap[place]
            _weigh(cells, desk, slot, reference)
            upper += desk.upper[slot]
            likely += desk.likely[slot]
            size = _push(desk, size, desk.likely[slot] - desk.upper[slot], slot)
        while size > 0 and upper > effort.tolerance * (alone + likely) and desk.keys[0] < 0:
            slot = desk.heap[0]
            cell = desk.cell[slot]
            size = _pop(desk, size)
            leaf = cell >= cells.first_leaf
            if leaf:
                full = count + cells.end[cell] - cells.begin[cell] > effort.max_points
            else:
                full = size + closed + 2 > effort.max_cells
            if full:
                desk.closed[closed] = slot
                closed += 1
                continue
            upper -= desk.upper[slot]
            likely -= desk.likely[slot]
            if leaf:
                before = count
                count = _open_leaf(space, cells, row, cell, out, count, best)
                for place in range(before, count):
                    alone += math.exp(min(50.0, out.exponents[row, place] + reference))
            else:
                for child in (2 * cell + 1, 2 * cell + 2):
                    _place(space, cells, row, child, desk, slots)
                    _weigh(cells, desk, slots, reference)
                    upper += desk.upper[slots]
                    likely += desk.likely[slots]
                    size = _push(desk, size, desk.likely[slots] - desk.upper[slots], slots)
                    slots += 1
        for place in range(closed):
            desk.heap[size + place] = desk.closed[place]
        size += closed
        if not best[k] < reference - 2.0:
            break
        # Nearer points were found than rates were compared with: compare again.
    nearest = reference
    for place in range(size):
        nearest = min(nearest, desk.near[desk.heap[place]])
    upper, sure = 0.0, _mass_alone(out, row, count, reference) * math.exp(nearest - reference)
    for place in range(size):
        slot = desk.heap[place]
        cell = desk.cell[slot]
        out.cells[row, place] = cell
        out.bounds[row, place] = _bound(desk.near[slot])
        number = cells.end[cell] - cells.begin[cell]
        upper += number * math.exp(nearest - desk.near[slot])
        sure += number * math.exp(nearest - desk.far[slot])
    # Not what is likely but what is sure: proposals must end.
    if upper > effort.scan_ratio * sure:
        out.scanned[row] = True
        return
    finish_points(out, row, count)
    _finish_cells(cells, out, row, size)


@lean
def _mass_alone(out: Frontiers, row: int, count: int, reference: float) -> float:
    """Add up what stands alone, without the K heaviest: these cannot win a place twice."""
    total = 0.0
    for place in range(count):
        if -out.exponents[row, place] >= reference:
            total += math.exp(out.exponents[row, place] + reference)
    return total


@lean
def _place(space: Space, cells: Cells, row: int, cell: int, desk: _Desk, slot: int) -> None:
    """Put a cell into a slot, with its nearest and farthest distance."""
    near, far = squared_to_cell(space, cells, row, cell)
    desk.cell[slot] = cell
    desk.near[slot] = near
    desk.far[slot] = far


@lean
def _weigh(cells: Cells, desk: _Desk, slot: int, reference: float) -> None:
    """Bound the sum of a cell's rates, and guess it, relative to a reference."""
    cell = desk.cell[slot]
    number = cells.end[cell] - cells.begin[cell]
    near, far = desk.near[slot], desk.far[slot]
    desk.upper[slot] = number * math.exp(min(50.0, reference - near))
    desk.likely[slot] = number * math.exp(min(50.0, reference - 0.5 * (near + far)))


@lean
def _bound(near: float) -> np.float32:
    """Round a cell's bound up to float32."""
    return np.float32(-near * (1.0 - 1.2e-7))


@lean
def _open_leaf(
    space: Space, cells: Cells, row: int, leaf: int, out: Frontiers, count: int, best: np.ndarray
) -> int:
    """Let the points of a leaf stand alone, and keep the K + 1 nearest distances."""
    last = len(best) - 1
    for point in range(cells.begin[leaf], cells.end[leaf]):
        square = squared(space, row, point)
        out.points[row, count] = point
        out.exponents[row, count] = -square
        count += 1
        if square < best[last]:
            place = last
            while place > 0 and best[place - 1] > square:
                best[place] = best[place - 1]
                place -= 1
            best[place] = square
    return count


@lean
def _finish_cells(cells: Cells, out: Frontiers, row: int, num_cells: int) -> None:
    """Add up the rates of the cells at their bounds."""
    top = -np.inf
    for place in range(num_cells):
        top = max(top, float(out.bounds[row, place]))
    total = 0.0
    for place in range(num_cells):
        cell = out.cells[row, place]
        number = cells.end[cell] - cells.begin[cell]
        total += number * math.exp(float(out.bounds[row, place]) - top)
        out.rates[row, place] = total
    out.num_cells[row] = num_cells
    out.top[row] = top


@lean
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


@lean
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
