"""Weighted adjacency matrices that weights are learned in: dense, or sparse at fixed places."""

from typing import cast, final

import torch
from torch import Tensor

from bpgnn.nn.dropout import dropout
from bpgnn.nn.pattern import Pattern, SparseValues, sparse_product

Adjacency = Tensor | SparseValues

# What a node without neighbours has for a degree.
_FLOOR = 1e-10


def propagate(adjacency: Adjacency, states: Tensor) -> Tensor:  # (N, D) -> (N, D)
    """Add up each node's neighbours by weight; differentiable in weights and states."""
    if isinstance(adjacency, Tensor):
        return adjacency @ states
    return sparse_product(adjacency.pattern, adjacency.value, states)


def row_sums(adjacency: Adjacency) -> Tensor:  # (N,)
    """Add up each row's weights; differentiable in them.

    Example:
        >>> row_sums(torch.tensor([[4.0, 1.0], [0.0, 0.0]]))
        tensor([5., 0.])
    """
    if isinstance(adjacency, Tensor):
        return adjacency.sum(1)
    pattern, weight = adjacency.pattern, adjacency.value
    return weight.new_zeros(pattern.shape[0]).index_add(0, pattern.row, weight)


def normalized(adjacency: Adjacency, degrees: Tensor | None = None) -> Adjacency:  # (N,)
    r"""Scale weights by the degrees of both ends.

    .. math:: D^{-1/2} A D^{-1/2}, \quad D_{ii} = \sum_j A_{ij}

    Args:
        adjacency: A.
        degrees: The diagonal of D, where it is not that of A.

    Example:
        >>> normalized(torch.tensor([[4.0, 0.0], [0.0, 0.0]]))
        tensor([[1., 0.],
                [0., 0.]])
    """
    scale = ((row_sums(adjacency) if degrees is None else degrees) + _FLOOR).rsqrt()
    if isinstance(adjacency, Tensor):
        return scale.unsqueeze(1) * adjacency * scale
    pattern, weight = adjacency.pattern, adjacency.value
    return SparseValues(pattern, scale[pattern.row] * weight * scale[pattern.column])


def thinned(
    adjacency: Adjacency, rate: float, *, training: bool, generator: torch.Generator
) -> Adjacency:
    """Drop entries in training, each by itself, and scale up the rest."""
    if not training or rate == 0.0:
        return adjacency
    if isinstance(adjacency, Tensor):
        dropped = dropout(adjacency, rate, training=True, generator=generator)
        return cast(Tensor, dropped)
    value = adjacency.value
    keep = torch.rand(value.shape, generator=generator, device=generator.device) >= rate
    return SparseValues(adjacency.pattern.kept(keep), value[keep] / (1 - rate))


def without_zeros(adjacency: SparseValues) -> SparseValues:
    """Leave out the places of a sparse matrix that hold nothing."""
    keep = adjacency.value != 0
    return SparseValues(adjacency.pattern.kept(keep), adjacency.value[keep])


@final
class SymmetricPlaces:
    r"""Know where the entries of a sparse G come to lie in :math:`(G + G^\top) / 2`.

    Args:
        neighbours: The columns of the entries of G in each row, distinct, shape (N, K).

    Example:
        >>> places = SymmetricPlaces(torch.tensor([[0, 1], [1, 0]]))
        >>> places.adjacency(torch.tensor([[1.0, 0.5], [1.0, 0.3]])).to_dense()
        tensor([[1.0000, 0.4000],
                [0.4000, 1.0000]])
    """

    def __init__(self, neighbours: Tensor) -> None:
        """Sort the pairs of both directions together, and note where each went."""
        self.neighbours = neighbours
        num_nodes, width = neighbours.shape
        row = torch.arange(num_nodes, device=neighbours.device).repeat_interleave(width)
        column = neighbours.flatten()
        both = torch.cat([row * num_nodes + column, column * num_nodes + row])
        key, place = torch.unique(both, return_inverse=True)
        self.pattern = Pattern.from_keys(key, (num_nodes, num_nodes))
        self._here, self._there = place.chunk(2)

    def adjacency(self, weight: Tensor, kept: Tensor | None = None) -> SparseValues:
        """Average both directions of the weights.

        Args:
            weight: The entries of G, shape (N, K).
            kept: What each counts for where it stands and in the transpose, shape (2, N, K).
        """
        half = weight / 2
        here, there = (half, half) if kept is None else (half * kept[0], half * kept[1])
        total = half.new_zeros(self.pattern.column.numel())
        total = total.index_add(0, self._here, here.flatten())
        return SparseValues(self.pattern, total.index_add(0, self._there, there.flatten()))
