"""A tree of cells over latent points: boxes of coordinates, halved at the median."""

from typing import NamedTuple

import numba
import numpy as np

from bpgnn.infer.compiled import inlined, lean
from bpgnn.infer.geometry import FLAT
from bpgnn.infer.space import Space, squared_arc

# Distances to boxes are shortened by more than rounding can add, so that a bound is never
# below a true rate.
_SHORTER = 1.0 - 1e-9

WIDTH = 16
"""At most as many points look at cells together."""


class Cells(NamedTuple):
    """Hold a balanced tree of boxes; the children of cell c are 2c + 1 and 2c + 2.

    Args:
        begin: First place of each cell's points in the tree's order.
        end: The place after its last.
        box: Smallest and largest coordinates, axis by axis, shape (cells, 2 D).
        factor_low: Smallest stretching factors, shape (cells, C).
        factor_high: Largest stretching factors, shape (cells, C).
        first_leaf: The first cell without children; so are all after it.
    """

    begin: np.ndarray
    end: np.ndarray
    box: np.ndarray
    factor_low: np.ndarray
    factor_high: np.ndarray
    first_leaf: int


def build_cells(space: Space, leaf_size: int) -> tuple[np.ndarray, Space, Cells]:
    """Sort points into a tree of cells.

    Args:
        space: The points.
        leaf_size: At most as many points in a cell that is not split, and at most WIDTH.

    Returns:
        The order of the points, shape (N,), the points in that order, and the cells.
    """
    num_nodes, dim = space.places.shape
    levels = 0
    while num_nodes > min(leaf_size, WIDTH) << levels:
        levels += 1
    count = (2 << levels) - 1
    parts = len(space.kinds)
    cells = Cells(
        begin=np.empty(count, np.int64),
        end=np.empty(count, np.int64),
        box=np.empty((count, 2 * dim)),
        factor_low=np.empty((count, parts)),
        factor_high=np.empty((count, parts)),
        first_leaf=(1 << levels) - 1,
    )
    places = np.hstack([space.places, space.factors])
    order = np.arange(num_nodes)
    _split(places, order, dim, cells)
    moved = space._replace(
        places=np.ascontiguousarray(places[:, :dim]), factors=np.ascontiguousarray(places[:, dim:])
    )
    return order, moved, cells


@numba.njit(cache=True, nogil=True)
def _split(places: np.ndarray, order: np.ndarray, dim: int, cells: Cells) -> None:
    cells.begin[0] = 0
    cells.end[0] = len(order)
    width = places.shape[1]
    for cell in range(len(cells.begin)):
        begin, end = cells.begin[cell], cells.end[cell]
        widest, axis = -1.0, 0
        for column in range(width):
            low, high = places[begin, column], places[begin, column]
            for row in range(begin + 1, end):
                value = places[row, column]
                low = min(low, value)
                high = max(high, value)
            if column < dim:
                cells.box[cell, 2 * column] = low
                cells.box[cell, 2 * column + 1] = high
                if high - low > widest:
                    widest, axis = high - low, column
            else:
                cells.factor_low[cell, column - dim] = low
                cells.factor_high[cell, column - dim] = high
        if cell < cells.first_leaf:
            middle = (begin + end) // 2
            _select(places, order, begin, middle, end, axis)
            cells.begin[2 * cell + 1], cells.end[2 * cell + 1] = begin, middle
            cells.begin[2 * cell + 2], cells.end[2 * cell + 2] = middle, end


@numba.njit(cache=True)
def _select(
    places: np.ndarray, order: np.ndarray, begin: int, middle: int, end: int, axis: int
) -> None:
    """Move rows so that none before the middle is above any after it (quickselect)."""
    low, high = begin, end - 1
    while low < high:
        pivot = _median(places[low, axis], places[(low + high) // 2, axis], places[high, axis])
        left, right = low, high
        while left <= right:
            while places[left, axis] < pivot:
                left += 1
            while places[right, axis] > pivot:
                right -= 1
            if left <= right:
                if left < right:
                    for column in range(places.shape[1]):
                        kept = places[left, column]
                        places[left, column] = places[right, column]
                        places[right, column] = kept
                    node = order[left]
                    order[left] = order[right]
                    order[right] = node
                left += 1
                right -= 1
        if right < middle:
            low = left
        if middle < left:
            high = right


@lean
def _median(first: float, second: float, third: float) -> float:
    return max(min(first, second), min(max(first, second), third))


class Viewers(NamedTuple):
    """Hold a few neighbouring points side by side, from which cells and points are measured.

    Args:
        places: Their coordinates, shape (D, W).
        factors: Their stretching factors, shape (C, W).
    """

    places: np.ndarray
    factors: np.ndarray


@lean
def take_places(space: Space, begin: int, end: int, viewers: Viewers) -> None:
    """Let the points from one place to another be the viewers."""
    for lane in range(end - begin):
        point = begin + lane
        for axis in range(len(viewers.places)):
            viewers.places[axis, lane] = space.places[point, axis]
        for part in range(len(viewers.factors)):
            viewers.factors[part, lane] = space.factors[point, part]


@inlined
def measure_cell(
    space: Space,
    cells: Cells,
    viewers: Viewers,
    count: int,
    cell: int,
    nearest: np.ndarray,
    far: np.ndarray,
) -> None:
    """Bound the squared distances of each viewer to a cell's points, from below and above."""
    places, box = viewers.places, cells.box
    starts, kinds, scales = space.starts, space.kinds, space.scales
    for lane in range(count):
        low = high = 0.0
        for part in range(len(kinds)):
            short = long = 0.0
            for axis in range(starts[part], starts[part + 1]):
                here = places[axis, lane]
                below = box[cell, 2 * axis] - here
                above = here - box[cell, 2 * axis + 1]
                # One of the two is not positive: the far side is the lower one's size.
                reach = min(below, above)
                gap = max(0.0, below, above)
                short += gap * gap
                long += reach * reach
            if kinds[part] != FLAT:
                factor = viewers.factors[part, lane]
                short = squared_arc(kinds[part], short * factor * cells.factor_low[cell, part])
                long = squared_arc(kinds[part], long * factor * cells.factor_high[cell, part])
            low += scales[part] * short
            high += scales[part] * long
        nearest[lane] = low * _SHORTER
        far[lane] = high


@inlined
def measure_point(
    space: Space, viewers: Viewers, count: int, point: int, squares: np.ndarray
) -> None:
    """Measure the squared distance of each viewer to a point."""
    places, there = viewers.places, space.places
    starts, kinds, scales = space.starts, space.kinds, space.scales
    for lane in range(count):
        total = 0.0
        for part in range(len(kinds)):
            chord = 0.0
            for axis in range(starts[part], starts[part + 1]):
                gap = places[axis, lane] - there[point, axis]
                chord += gap * gap
            if kinds[part] != FLAT:
                factor = viewers.factors[part, lane] * space.factors[point, part]
                chord = squared_arc(kinds[part], chord * factor)
            total += scales[part] * chord
        squares[lane] = total
