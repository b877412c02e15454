"""Squared distances along curved spaces, of many points at once, to six digits.

Samplers take them for bounds only, with room for the rounding; a point's own rate is measured
by :func:`bpgnn.infer.space.squared`. Loops are written so that the compiler does several points
at a time, which it cannot do with the library's inverse functions: 4 against 30 ns a point.
"""

import math

import numba
import numpy as np

from bpgnn.infer.geometry import FLAT, HYPERBOLIC
from bpgnn.infer.space import Space

# Points at a time, so that what is read again stays in the cache.
_TILE = 512

# asinh(√z)² / z for z up to 1/4, by Chebyshev interpolation; its error is below 2e-10.
_LARGEST = 0.25
_ASINH = tuple(
    np.float32(value)
    for value in (
        0.9999999998491775,
        -0.3333332740864002,
        0.17777394501485486,
        -0.11419173620186031,
        0.08015432274935717,
        -0.054556678893277435,
        0.025192876080317155,
    )
)
_A0, _A1, _A2, _A3, _A4, _A5, _A6 = _ASINH
_ONE, _HALF = np.float32(1), np.float32(0.5)


def halvings_of(space: Space) -> np.ndarray:  # (C,)
    """Say how often the arcs of each hyperbolic part must be halved to be short."""
    counts = np.zeros(len(space.kinds), np.int64)
    for part, kind in enumerate(space.kinds):
        if kind == HYPERBOLIC:
            own = space.places[:, space.starts[part] : space.starts[part + 1]]
            reach = 2 * math.sqrt(float((own * own).sum(1).max())) * space.factors[:, part].max()
            ratio = math.asinh(reach) / math.asinh(math.sqrt(_LARGEST))
            counts[part] = max(0, math.ceil(math.log2(max(ratio, 1e-9))))
    return counts


@numba.njit(cache=True, fastmath={"contract", "nnan", "nsz"}, error_model="numpy")
def measure_curved(
    space: Space,
    lines: np.ndarray,  # (D, N)
    stretches: np.ndarray,  # (C, N)
    halvings: np.ndarray,  # (C,)
    rows: np.ndarray,  # (R,)
    squares: np.ndarray,  # (R, N)
) -> None:
    """Measure some points against all; `lines` and `stretches` are the space's, turned."""
    num_nodes = lines.shape[1]
    whole, short = np.empty(_TILE), np.empty(_TILE, np.float32)
    for begin in range(0, num_nodes, _TILE):
        end = min(begin + _TILE, num_nodes)
        chords, arcs = whole[: end - begin], short[: end - begin]
        for turn in range(len(rows)):
            row, out = rows[turn], squares[turn, begin:end]
            out[:] = 0
            for part in range(len(space.kinds)):
                mine = lines[space.starts[part] : space.starts[part + 1]]
                _square_chords(mine, row, begin, chords)
                scale = space.scales[part]
                if space.kinds[part] == FLAT:
                    for other in range(len(out)):
                        out[other] += np.float32(scale * chords[other])
                    continue
                # Loops, since what numpy writes in one line takes seconds to compile.
                here, there = stretches[part, row], stretches[part, begin:end]
                for other in range(len(out)):
                    chords[other] *= here * there[other]
                if space.kinds[part] == HYPERBOLIC:
                    for other in range(len(out)):
                        arcs[other] = np.float32(chords[other])
                    _add_hyperbolic(arcs, halvings[part], np.float32(scale), out)
                else:
                    _add_spherical(chords, scale, out)


@numba.njit(cache=True, fastmath={"contract", "nnan", "nsz"})
def _square_chords(lines: np.ndarray, row: int, begin: int, chords: np.ndarray) -> None:
    """Measure a point against those from `begin` on, in a straight line."""
    chords[:] = 0
    for axis in range(len(lines)):
        here, line = lines[axis, row], lines[axis, begin : begin + len(chords)]
        for other in range(len(chords)):
            gap = line[other] - here
            chords[other] += gap * gap


@numba.njit(cache=True, fastmath={"contract", "nnan", "nsz"}, error_model="numpy")
def _add_hyperbolic(chords: np.ndarray, times: int, scale: np.float32, out: np.ndarray) -> None:
    """Add 4·asinh(√z)², by halving the arc until a polynomial will do."""
    for _ in range(times):
        # With z = sinh²(a), this is sinh²(a / 2).
        for other in range(len(chords)):
            z = chords[other]
            chords[other] = _HALF * z / (_ONE + np.sqrt(_ONE + z))
    whole = scale * np.float32(4.0 ** (times + 1))
    for other in range(len(chords)):
        z = chords[other]
        ratio = _A0 + z * (_A1 + z * (_A2 + z * (_A3 + z * (_A4 + z * (_A5 + z * _A6)))))
        out[other] += whole * z * ratio


@numba.njit(cache=True, fastmath={"contract", "nnan", "nsz"}, error_model="numpy")
def _add_spherical(chords: np.ndarray, scale: float, out: np.ndarray) -> None:
    """Add 4·arcsin(√z / 2)², beyond 60 degrees by what is left to 90."""
    for other in range(len(chords)):
        square = min(1.0, 0.25 * chords[other])
        far = square > 0.25
        left = 0.5 * (1.0 - math.sqrt(square)) if far else square
        root = math.sqrt(left)
        # The arcsine of a number up to one half; its error is below 7e-8.
        rest = 0.0454700 + left * (0.024181312 + left * 0.042166)
        angle = root + root * left * (0.16666752422 + left * (0.0749532 + left * rest))
        arc = 1.5707963267948966 - 2.0 * angle if far else angle
        out[other] += np.float32(scale * 4.0 * arc * arc)
