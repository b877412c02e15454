"""Entries of A ⋄ P and their gradient, without a tensor for every vote on every entry."""

import math
from typing import Any

import numba
import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from typing_extensions import override

from bpgnn.graph import Graph
from bpgnn.infer.compiled import inlined
from bpgnn.infer.geometry import FLAT, HYPERBOLIC
from bpgnn.infer.probabilities import KernelProbabilities
from bpgnn.infer.space import Space, space_of, squared_arc
from bpgnn.infer.threads import in_parts

# Gradients are added up in as many parts whatever the number of threads, so that rounding
# does not depend on it.
_PARTS = 4


def log_entries(
    witnesses: Graph, log_weight: Tensor, kernel: KernelProbabilities, edges: Tensor
) -> Tensor:  # (2, M) -> (M,)
    r"""Compute :math:`\log \sum_k W_{ik} P_{kj}` at entries (j, i), on a CPU.

    The plain definition in tensors holds every pair (entry, witness) with D coordinates; at a
    hub with thousands of witnesses that is gigabytes. This one goes through the pairs one by
    one, forward and backward, and holds the entries alone.

    Args:
        witnesses: Who votes: an edge k → i each.
        log_weight: The logarithms of the votes' weights, shape (E,).
        kernel: The edge probabilities P.
        edges: Source j and target i of each entry.

    Returns:
        Logarithms, -inf where nobody votes; differentiable once.
    """
    cloud = kernel.metric.cloud(kernel.latent)
    return _LogEntries.apply(
        log_weight,
        cloud.places,
        cloud.factors,
        cloud.scales * kernel.sharpness,
        cloud.kinds,
        cloud.widths,
        witnesses,
        edges,
    )


# A term e^-45 times smaller than the sum does not change it, in float64.
_NEGLIGIBLE = 45.0


class _LogEntries(torch.autograd.Function):
    @override
    @staticmethod
    def forward(
        ctx: Any,
        log_weight: Tensor,
        places: Tensor,
        factors: Tensor,
        scales: Tensor,
        kinds: tuple[int, ...],
        widths: tuple[int, ...],
        witnesses: Graph,
        edges: Tensor,
    ) -> Tensor:
        ctx.save_for_backward(log_weight, places, factors, scales)
        ctx.space = space_of(places, factors, scales, kinds, widths)
        ctx.weights = log_weight.detach().double().numpy()
        ctx.votes = (witnesses.row_pointer.numpy(), witnesses.sources.numpy())
        ctx.edges = edges.numpy()
        ctx.totals = np.empty(edges.size(1))
        pointer, sources = ctx.votes
        in_parts(
            _bounds(ctx.edges[1]),
            lambda _, begin, end: _add_up(
                ctx.space, ctx.weights, pointer, sources, ctx.edges, ctx.totals, begin, end
            ),
        )
        return torch.from_numpy(ctx.totals).to(places.dtype)

    @override
    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:  # pyright: ignore[reportIncompatibleMethodOverride]
        space = ctx.space
        bounds = _bounds(ctx.edges[1])
        parts = len(bounds) - 1
        to_weight = np.zeros(len(ctx.weights))
        to_places = np.zeros((parts, *space.places.shape))
        to_factors = np.zeros((parts, *space.factors.shape))
        to_scales = np.zeros((parts, len(space.scales)))
        pointer, sources = ctx.votes
        grad = grads[0].detach().double().contiguous().numpy()
        in_parts(
            bounds,
            lambda part, begin, end: _spread(
                space,
                ctx.weights,
                pointer,
                sources,
                ctx.edges,
                ctx.totals,
                grad,
                to_weight,
                to_places[part],
                to_factors[part],
                to_scales[part],
                begin,
                end,
            ),
        )
        sums = (to_weight, to_places.sum(0), to_factors.sum(0), to_scales.sum(0))
        found = (
            torch.from_numpy(total).to(saved.dtype)
            for total, saved in zip(sums, ctx.saved_tensors, strict=True)
        )
        return (*found, None, None, None, None)


def _bounds(targets: np.ndarray) -> list[int]:
    """Divide entries so that no target's are in two parts, whose sums would then clash."""
    count = len(targets)
    if count < 2 * _PARTS or np.any(np.diff(targets) < 0):
        return [0, count]
    cuts = [targets[count * part // _PARTS] for part in range(1, _PARTS)]
    inner = np.searchsorted(targets, cuts).tolist()
    return [0, *inner, count]


@numba.njit(cache=True, nogil=True)
def _add_up(
    space: Space,
    weights: np.ndarray,
    pointer: np.ndarray,
    sources: np.ndarray,
    edges: np.ndarray,
    totals: np.ndarray,
    begin: int,
    end: int,
) -> None:
    parts = np.empty((2, len(space.kinds)))
    for entry in range(begin, end):
        node, row = edges[0, entry], edges[1, entry]
        largest, total = -np.inf, 0.0
        for vote in range(pointer[row], pointer[row + 1]):
            term = weights[vote] - _measure(space, sources[vote], node, parts)
            if term > largest:
                total = total * math.exp(largest - term) + 1.0
                largest = term
            elif term > largest - _NEGLIGIBLE:
                total += math.exp(term - largest)
        totals[entry] = largest + math.log(total) if total > 0 else -np.inf


@numba.njit(cache=True, nogil=True)
def _spread(
    space: Space,
    weights: np.ndarray,
    pointer: np.ndarray,
    sources: np.ndarray,
    edges: np.ndarray,
    totals: np.ndarray,
    grad: np.ndarray,
    to_weight: np.ndarray,
    to_places: np.ndarray,
    to_factors: np.ndarray,
    to_scales: np.ndarray,
    begin: int,
    end: int,
) -> None:
    """Share each entry's gradient among its votes, by what each had of the sum."""
    parts = np.empty((2, len(space.kinds)))
    for entry in range(begin, end):
        if grad[entry] == 0.0 or totals[entry] == -np.inf:
            continue
        node, row = edges[0, entry], edges[1, entry]
        for vote in range(pointer[row], pointer[row + 1]):
            witness = sources[vote]
            term = weights[vote] - _measure(space, witness, node, parts)
            if term < totals[entry] - _NEGLIGIBLE:
                continue
            share = grad[entry] * math.exp(term - totals[entry])
            to_weight[vote] += share
            for part in range(len(space.kinds)):
                chord, value = parts[0, part], parts[1, part]
                to_scales[part] -= share * value
                here, there = space.factors[witness, part], space.factors[node, part]
                slope = share * space.scales[part] * _slope(space.kinds[part], chord)
                stretch = 2.0 * slope * here * there
                for axis in range(space.starts[part], space.starts[part + 1]):
                    pull = stretch * (space.places[witness, axis] - space.places[node, axis])
                    to_places[witness, axis] -= pull
                    to_places[node, axis] += pull
                if space.kinds[part] == HYPERBOLIC:
                    to_factors[witness, part] -= slope * chord / here
                    to_factors[node, part] -= slope * chord / there


@inlined
def _measure(space: Space, first: int, second: int, parts: np.ndarray) -> float:
    """Measure two points, and note each component's stretched chord and squared distance."""
    total = 0.0
    for part in range(len(space.kinds)):
        chord = 0.0
        for axis in range(space.starts[part], space.starts[part + 1]):
            gap = space.places[first, axis] - space.places[second, axis]
            chord += gap * gap
        value = chord
        if space.kinds[part] != FLAT:
            chord *= space.factors[first, part] * space.factors[second, part]
            value = squared_arc(space.kinds[part], chord)
        parts[0, part] = chord
        parts[1, part] = value
        total += space.scales[part] * value
    return total


@inlined
def _slope(kind: int, chord: float) -> float:
    """Differentiate a squared distance by the stretched squared chord."""
    if kind == FLAT:
        return 1.0
    root = math.sqrt(chord)
    if kind == HYPERBOLIC:
        if root < 1e-6:
            return 4.0
        return 4.0 * math.asinh(root) / (root * math.sqrt(1.0 + chord))
    half = 0.5 * root
    if half < 1e-6:
        return 1.0
    # At the antipode the slope is infinite; it is cut off as in `chords`.
    return math.asin(min(1.0, half)) / (half * math.sqrt(max(_RIM, 1.0 - half * half)))


_RIM = 1e-6
