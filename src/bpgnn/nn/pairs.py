"""Sums over neighbours where each pair of nodes has one weight, for both of its directions."""

from dataclasses import dataclass
from functools import cached_property
from typing import final

import torch
from torch import Tensor
from torch.autograd.function import FunctionCtx

from bpgnn.graph import Graph
from bpgnn.matrix import csr_matrix, short_index


@final
@dataclass(frozen=True, eq=False)
class NodePairs:
    """Hold pairs of nodes that may be joined, each once.

    Args:
        ends: Both nodes of each pair, the smaller first, sorted by it and then by the larger,
            as :meth:`Graph.undirected_pairs` gives them, shape (2, P).
        num_nodes: Number of nodes N.

    Example:
        >>> NodePairs.every(3).ends
        tensor([[0, 0, 1],
                [1, 2, 2]])
    """

    ends: Tensor
    num_nodes: int

    @classmethod
    def every(cls, num_nodes: int, device: torch.device | str = "cpu") -> "NodePairs":
        """List every pair of different nodes, P = N (N - 1) / 2."""
        return cls(torch.triu_indices(num_nodes, num_nodes, 1, device=device), num_nodes)

    @property
    def count(self) -> int:
        """Count the pairs, P."""
        return self.ends.size(1)

    @cached_property
    def keys(self) -> Tensor:  # (P,)
        """Number the pairs, in rising order."""
        return self.ends[0] * self.num_nodes + self.ends[1]

    @cached_property
    def graph(self) -> Graph:
        """Join every pair, in both directions."""
        return self._both[0]

    @cached_property
    def of_edge(self) -> Tensor:  # (2 P,)
        """Say which pair each edge of the graph belongs to."""
        return self._both[1]

    @cached_property
    def _both(self) -> tuple[Graph, Tensor]:
        edges = torch.cat([self.ends, self.ends.flip(0)], dim=1)
        order = torch.argsort(edges[1] * self.num_nodes + edges[0])
        return Graph(edges[:, order], self.num_nodes), order % max(self.count, 1)

    def matrix(self, weight: Tensor) -> Tensor:  # (P,) -> (N, N)
        """Make the sparse symmetric matrix of the pairs' weights."""
        return csr_matrix(
            *self._square, weight.index_select(0, self.of_edge), (self.num_nodes, self.num_nodes)
        )

    def upper_matrix(self, weight: Tensor) -> Tensor:  # (P,) -> (N, N)
        """Make the sparse matrix with each pair's weight at row i and column j, i < j."""
        return csr_matrix(*self._upper, weight, (self.num_nodes, self.num_nodes))

    # In 32 bits where those are enough, so that no product need convert them.
    @cached_property
    def _square(self) -> tuple[Tensor, Tensor]:
        return short_index(self.graph.row_pointer, self.graph.sources, self.num_nodes)

    @cached_property
    def _upper(self) -> tuple[Tensor, Tensor]:
        count = torch.bincount(self.ends[0], minlength=self.num_nodes)
        pointer = torch.cat([count.new_zeros(1), count.cumsum(0)])
        return short_index(pointer, self.ends[1], self.num_nodes)

    def found_in(self, graph: Graph) -> Tensor:  # (P,)
        """Tell which of the pairs a graph joins."""
        ends = graph.undirected_pairs()
        return torch.isin(self.keys, ends[0] * self.num_nodes + ends[1])

    def joined(self, chosen: Tensor) -> Graph:  # (P,)
        """Make the graph that joins the chosen pairs, in both directions."""
        if 8 * int(chosen.sum()) < self.count:
            # Few of many pairs: sorting them is quicker than looking at all.
            return NodePairs(self.ends[:, chosen], self.num_nodes).graph
        edges = chosen.index_select(0, self.of_edge).nonzero().squeeze(1)
        return Graph(self.graph.edge_index.index_select(1, edges), self.num_nodes)


class _SymmetricSum(torch.autograd.Function):
    """Multiply by the symmetric matrix of the pairs' weights."""

    @staticmethod
    def forward(ctx: FunctionCtx, states: Tensor, weight: Tensor, pairs: NodePairs) -> Tensor:
        ctx.pairs = pairs  # pyright: ignore[reportAttributeAccessIssue]
        ctx.save_for_backward(states, weight)
        return pairs.matrix(weight) @ states

    @staticmethod
    def backward(ctx: FunctionCtx, gradient: Tensor) -> tuple[Tensor | None, Tensor | None, None]:  # pyright: ignore[reportIncompatibleMethodOverride]
        pairs: NodePairs = ctx.pairs  # pyright: ignore[reportAttributeAccessIssue]
        states, weight = ctx.saved_tensors  # pyright: ignore[reportAttributeAccessIssue]
        needed = ctx.needs_input_grad  # pyright: ignore[reportAttributeAccessIssue]
        gradient = gradient.contiguous()
        to_states = symmetric_sum(gradient, pairs, weight) if needed[0] else None
        to_weight = pair_products(gradient, states, pairs) if needed[1] else None
        return to_states, to_weight, None


class _PairProducts(torch.autograd.Function):
    """Multiply the rows of the two nodes of each pair."""

    @staticmethod
    def forward(ctx: FunctionCtx, left: Tensor, right: Tensor, pairs: NodePairs) -> Tensor:
        ctx.pairs = pairs  # pyright: ignore[reportAttributeAccessIssue]
        ctx.save_for_backward(left, right)
        pattern = pairs.upper_matrix(left.new_zeros(pairs.count))
        # Both ways at once. Measured: with a width that is no multiple of eight, torch takes
        # nine times as long.
        rest = left.new_zeros(left.size(0), -2 * left.size(1) % 8)
        there, back = torch.cat([left, right, rest], dim=1), torch.cat([right, left, rest], dim=1)
        return torch.sparse.sampled_addmm(pattern, there, back.T).values()

    @staticmethod
    def backward(ctx: FunctionCtx, gradient: Tensor) -> tuple[Tensor | None, Tensor | None, None]:  # pyright: ignore[reportIncompatibleMethodOverride]
        pairs: NodePairs = ctx.pairs  # pyright: ignore[reportAttributeAccessIssue]
        left, right = ctx.saved_tensors  # pyright: ignore[reportAttributeAccessIssue]
        needed = ctx.needs_input_grad  # pyright: ignore[reportAttributeAccessIssue]
        gradient = gradient.contiguous()
        to_left = symmetric_sum(right, pairs, gradient) if needed[0] else None
        to_right = symmetric_sum(left, pairs, gradient) if needed[1] else None
        return to_left, to_right, None


def symmetric_sum(states: Tensor, pairs: NodePairs, weight: Tensor) -> Tensor:  # (N, D), (P,)
    r"""Add up each node's partners, :math:`\sum_j w_{ij} x_j` with :math:`w_{ij} = w_{ji}`.

    Differentiable in states and weights as often as one likes: its gradients are itself and
    :func:`pair_products`, and theirs as well. A pair of weight zero has a gradient, too.

    Args:
        states: What is added up, shape (N, D).
        pairs: The pairs that have a weight.
        weight: Their weights, shape (P,).

    Returns:
        The sums, shape (N, D).

    Example:
        >>> states = torch.tensor([[1.0], [2.0], [4.0]])
        >>> symmetric_sum(states, NodePairs.every(3), torch.tensor([1.0, 0.0, 0.5]))
        tensor([[2.],
                [3.],
                [1.]])
    """
    return _SymmetricSum.apply(states, weight, pairs)  # pyright: ignore[reportReturnType]


def pair_products(left: Tensor, right: Tensor, pairs: NodePairs) -> Tensor:  # (N, D) twice -> (P,)
    r"""Multiply across each pair, both ways: :math:`l_i \cdot r_j + l_j \cdot r_i`.

    Example:
        >>> left, right = torch.tensor([[1.0], [2.0]]), torch.tensor([[3.0], [5.0]])
        >>> pair_products(left, right, NodePairs.every(2))
        tensor([11.])
    """
    return _PairProducts.apply(left, right, pairs)  # pyright: ignore[reportReturnType]
