"""Pairs of nodes that an undirected graph may join."""

from dataclasses import dataclass
from functools import cached_property
from typing import final

import torch
from torch import Tensor

from bpgnn.graph import Graph
from bpgnn.matrix import products_at


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

    def found_in(self, graph: Graph) -> Tensor:  # (P,)
        """Tell which of the pairs a graph joins."""
        ends = graph.undirected_pairs()
        return torch.isin(self.keys, ends[0] * self.num_nodes + ends[1])

    def joined(self, chosen: Tensor) -> Graph:  # (M,)
        """Make the graph that joins the chosen pairs, in both directions.

        Args:
            chosen: Which pairs, in rising order, shape (M,).

        Returns:
            The graph, without weights.
        """
        if 8 * chosen.numel() < self.count:
            # Few of many pairs: sorting them is quicker than looking at all.
            return NodePairs(self.ends.index_select(1, chosen), self.num_nodes).graph
        mask = torch.zeros(self.count, dtype=torch.bool, device=chosen.device)
        mask = mask.index_fill_(0, chosen, True).index_select(0, self.of_edge)
        edges = mask.nonzero().squeeze(1)
        return Graph(self.graph.edge_index.index_select(1, edges), self.num_nodes)

    def products(self, left: Tensor, right: Tensor) -> Tensor:  # (N, D) twice -> (P,)
        r"""Multiply across each pair, both ways: :math:`l_i \cdot r_j + l_j \cdot r_i`.

        Example:
            >>> left, right = torch.tensor([[1.0], [2.0]]), torch.tensor([[3.0], [5.0]])
            >>> NodePairs.every(2).products(left, right)
            tensor([11.])
        """
        there, back = torch.cat([left, right], dim=1), torch.cat([right, left], dim=1)
        if 2 * self.count == self.num_nodes * (self.num_nodes - 1):
            return _every_product(there, back)
        count = torch.bincount(self.ends[0], minlength=self.num_nodes)
        pointer = torch.cat([count.new_zeros(1), count.cumsum(0)])
        return products_at(pointer, self.ends[1], there, back)


# Rows at a time where every row is multiplied by every other.
_ROWS = 256


def _every_product(there: Tensor, back: Tensor) -> Tensor:  # (N, D) twice -> (N (N - 1) / 2,)
    """Multiply each row of one with the later rows of the other."""
    found = [there.new_empty(0)]
    for start in range(0, there.size(0), _ROWS):
        block = there[start : start + _ROWS] @ back[start:].T
        found.append(torch.cat([row[place + 1 :] for place, row in enumerate(block)]))
    return torch.cat(found)
