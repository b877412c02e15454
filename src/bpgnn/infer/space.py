"""Latent points as compiled code sees them, and how far apart they are."""

import math
from typing import NamedTuple

import numpy as np
from torch import Tensor

from bpgnn.infer.compiled import inlined
from bpgnn.infer.geometry import FLAT, HYPERBOLIC


class Space(NamedTuple):
    """Hold latent points whose squared distances are the negative logarithms of P.

    Args:
        places: Coordinates, shape (N, D).
        factors: What stretches each component's chords at each point, shape (N, C).
        starts: Where each component's coordinates begin, and D, shape (C + 1,).
        kinds: What each component is, shape (C,).
        scales: What each component's squared distance counts for, 1/φ included, shape (C,).
    """

    places: np.ndarray
    factors: np.ndarray
    starts: np.ndarray
    kinds: np.ndarray
    scales: np.ndarray


def space_of(
    places: Tensor, factors: Tensor, scales: Tensor, kinds: tuple[int, ...], widths: tuple[int, ...]
) -> Space:
    """Turn the parts of a :class:`~bpgnn.infer.geometry.Cloud` into arrays of float64."""
    arrays = (part.detach().double().contiguous().numpy() for part in (places, factors, scales))
    places_array, factors_array, scales_array = arrays
    return Space(
        places_array, factors_array, np.cumsum((0, *widths)), np.array(kinds), scales_array
    )


@inlined
def squared_arc(kind: int, chord: float) -> float:
    """Turn a stretched squared chord into a squared distance."""
    if kind == FLAT:
        return chord
    if kind == HYPERBOLIC:
        arc = math.asinh(math.sqrt(chord))
    else:
        arc = math.asin(min(1.0, 0.5 * math.sqrt(chord)))
    return 4.0 * arc * arc


@inlined
def squared(space: Space, first: int, second: int) -> float:
    """Measure two points."""
    total = 0.0
    for part in range(len(space.kinds)):
        chord = 0.0
        for axis in range(space.starts[part], space.starts[part + 1]):
            gap = space.places[first, axis] - space.places[second, axis]
            chord += gap * gap
        if space.kinds[part] != FLAT:
            chord *= space.factors[first, part] * space.factors[second, part]
            chord = squared_arc(space.kinds[part], chord)
        total += space.scales[part] * chord
    return total
