"""The sparse graph that everything passes around."""

from dataclasses import dataclass
from functools import cached_property
from typing import Self, cast, final

import numpy as np
import scipy.sparse
import torch
from torch import Tensor

from bpgnn.errors import InputError


@final
@dataclass(frozen=True, eq=False)
class Graph:
    """Hold a sparse, possibly weighted and directed graph.

    An edge is a pair (source, target) as in PyG: the message goes from source to target. In
    the paper's letters target i has source j as a neighbour, that is A_ij is not zero.

    Build one with :meth:`from_edge_index` or :meth:`from_scipy`; both sort, and merge
    duplicates. The constructor itself trusts its arguments.

    Args:
        edge_index: Sources and targets, sorted by target and then source, shape (2, E).
        num_nodes: Number of nodes N.
        edge_weight: Positive weights, shape (E,), or None where every weight is one.

    Example:
        >>> graph = Graph.from_edge_index(torch.tensor([[1, 0, 2], [0, 1, 1]]), num_nodes=3)
        >>> graph.num_edges, graph.in_degree.tolist()
        (3, [1, 2, 0])
    """

    edge_index: Tensor
    num_nodes: int
    edge_weight: Tensor | None = None

    @classmethod
    def from_edge_index(
        cls,
        edge_index: Tensor,  # (2, E)
        num_nodes: int,
        edge_weight: Tensor | None = None,  # (E,)
    ) -> Self:
        """Check, sort and merge edges; the weights of duplicates are added up.

        Without weights, duplicates are one edge of weight one.
        """
        check_edges(edge_index, num_nodes, edge_weight)
        edge_index = edge_index.long()
        key = edge_index[1] * num_nodes + edge_index[0]
        unique, inverse = torch.unique(key, return_inverse=True)
        if edge_weight is not None:
            total = torch.zeros(unique.numel(), dtype=edge_weight.dtype, device=edge_weight.device)
            edge_weight = total.index_add(0, inverse, edge_weight)
        targets = torch.div(unique, max(num_nodes, 1), rounding_mode="floor")
        sources = unique - targets * num_nodes
        return cls(torch.stack([sources, targets]), num_nodes, edge_weight)

    @classmethod
    def from_scipy(cls, matrix: scipy.sparse.sparray | scipy.sparse.spmatrix) -> Self:
        """Read an adjacency matrix whose row i lists the neighbours of node i."""
        coo = scipy.sparse.coo_array(matrix)
        shape = cast("tuple[int, ...]", coo.shape)  # scipy ships no types
        if len(shape) != 2 or shape[0] != shape[1]:
            raise InputError(f"An adjacency matrix must be square, but its shape is {shape}.")
        coo.eliminate_zeros()
        edge_index = torch.from_numpy(np.stack([coo.col, coo.row]).astype(np.int64))
        values = np.asarray(coo.data)
        weighted = values.dtype != bool and bool((values != 1).any())
        weight = torch.from_numpy(values.astype(np.float32)) if weighted else None
        return cls.from_edge_index(edge_index, shape[0], weight)

    @classmethod
    def empty(cls, num_nodes: int) -> Self:
        """Make a graph without edges."""
        return cls(torch.empty(2, 0, dtype=torch.long), num_nodes)

    @property
    def sources(self) -> Tensor:  # (E,)
        """Return the node that each edge leaves."""
        return self.edge_index[0]

    @property
    def targets(self) -> Tensor:  # (E,)
        """Return the node that each edge enters."""
        return self.edge_index[1]

    @property
    def num_edges(self) -> int:
        """Count directed edges: an undirected pair counts twice."""
        return self.edge_index.size(1)

    @cached_property
    def in_degree(self) -> Tensor:  # (N,)
        """Count the neighbours of each node, |N_i|."""
        return torch.bincount(self.targets, minlength=self.num_nodes)

    @cached_property
    def row_pointer(self) -> Tensor:  # (N + 1,)
        """Say where each target's run of edges begins and ends."""
        start = torch.zeros(1, dtype=torch.long, device=self.edge_index.device)
        return torch.cat([start, self.in_degree.cumsum(0)])

    @cached_property
    def turned(self) -> "tuple[Graph, Tensor]":  # a graph, (E,)
        """Turn every edge around; return that graph and which edge each of its edges was."""
        order = torch.argsort(self.sources, stable=True)
        weight = None if self.edge_weight is None else self.edge_weight[order]
        return Graph(self.edge_index[:, order].flip(0), self.num_nodes, weight), order

    @property
    def weights(self) -> Tensor:  # (E,)
        """Return the weights, ones where the graph has none."""
        if self.edge_weight is not None:
            return self.edge_weight
        return torch.ones(self.num_edges, device=self.edge_index.device)

    @cached_property
    def is_undirected(self) -> bool:
        """Tell whether every edge has its twin of the same weight."""
        twin = self.reversed()
        same = torch.equal(self.edge_index, twin.edge_index)
        return same and torch.equal(self.weights, twin.weights)

    def reversed(self) -> "Graph":
        """Turn every edge around."""
        return Graph.from_edge_index(self.edge_index.flip(0), self.num_nodes, self.edge_weight)

    def without_self_loops(self) -> "Graph":
        """Leave out the edges from a node to itself."""
        keep = self.sources != self.targets
        weight = None if self.edge_weight is None else self.edge_weight[keep]
        return Graph(self.edge_index[:, keep], self.num_nodes, weight)

    def undirected_pairs(self) -> Tensor:  # (2, pairs)
        """List each pair that an edge joins once, smaller node first, without self-loops."""
        low = torch.minimum(self.sources, self.targets)
        high = torch.maximum(self.sources, self.targets)
        key = torch.unique((low * self.num_nodes + high)[low != high])
        low = torch.div(key, max(self.num_nodes, 1), rounding_mode="floor")
        return torch.stack([low, key - low * self.num_nodes])

    def to_scipy(self) -> scipy.sparse.csr_array:  # (N, N)
        """Give the adjacency matrix whose row i lists the neighbours of node i."""
        values = self.weights.detach().cpu().numpy()
        pointer = self.row_pointer.cpu().numpy()
        sources = self.sources.cpu().numpy()
        return scipy.sparse.csr_array(
            (values, sources, pointer), shape=(self.num_nodes, self.num_nodes)
        )

    def to(self, device: torch.device | str, dtype: torch.dtype | None = None) -> "Graph":
        """Move the graph to a device, and give its weights a precision, if any is named."""
        weight = self.edge_weight
        weight = None if weight is None else weight.to(device=device, dtype=dtype)
        return Graph(self.edge_index.to(device), self.num_nodes, weight)

    def detached(self) -> "Graph":
        """Leave out how the weights were computed, through which no gradient then goes back."""
        weight = None if self.edge_weight is None else self.edge_weight.detach()
        return Graph(self.edge_index, self.num_nodes, weight)


def check_edges(
    edge_index: Tensor,  # (2, E)
    num_nodes: int,
    edge_weight: Tensor | None,  # (E,)
    *,
    name: str = "edge_index",
) -> None:
    """Refuse edges that are not pairs of node numbers with positive finite weights.

    `name` is what the caller's caller calls `edge_index`.
    """
    check_ends(edge_index, name=name)
    if edge_index.numel() > 0:
        low, high = int(edge_index.min()), int(edge_index.max())
        if low < 0 or high >= num_nodes:
            raise InputError(
                f"`{name}` must hold node numbers from 0 to {num_nodes - 1}, but it "
                f"holds numbers from {low} to {high}."
            )
    check_weights(edge_weight, edge_index.size(1))


def check_ends(edge_index: Tensor, *, name: str) -> None:  # (2, E)
    """Refuse what is not pairs of whole numbers."""
    if edge_index.dim() != 2 or edge_index.size(0) != 2:
        raise InputError(
            f"`{name}` must have shape (2, E), but got {tuple(edge_index.shape)}. "
            "Row 0 holds sources and row 1 targets; transpose an array of pairs."
        )
    if edge_index.is_floating_point() or edge_index.is_complex() or edge_index.dtype == torch.bool:
        raise InputError(
            f"`{name}` must hold whole numbers, but its type is {edge_index.dtype}. "
            "Convert it with `.long()` once it holds node numbers."
        )


def first_outside(nodes: Tensor, num_nodes: int) -> int | None:  # (E,)
    """Return the first number that is no node's, or None where all are.

    Example:
        >>> first_outside(torch.tensor([0, 7, -1]), 2), first_outside(torch.tensor([0, 1]), 2)
        (7, None)
    """
    outside = nodes[(nodes < 0) | (nodes >= num_nodes)]
    return int(outside[0]) if outside.numel() > 0 else None


def check_weights(edge_weight: Tensor | None, num_edges: int) -> None:  # (E,)
    """Refuse weights that are not positive finite numbers, one for each edge."""
    if edge_weight is None:
        return
    if edge_weight.shape != (num_edges,):
        raise InputError(
            f"`edge_weight` must have shape ({num_edges},), one weight for each edge, but got "
            f"{tuple(edge_weight.shape)}."
        )
    if not bool(torch.isfinite(edge_weight).all()) or bool((edge_weight <= 0).any()):
        raise InputError(
            "`edge_weight` must hold positive finite numbers. Leave out edges of weight zero."
        )


def with_both_directions(graph: Graph) -> Graph:
    """Add the missing twin of every edge; a pair with two weights keeps the larger."""
    both = torch.cat([graph.edge_index, graph.edge_index.flip(0)], dim=1)
    if graph.edge_weight is None:
        return Graph.from_edge_index(both, graph.num_nodes)
    weight = torch.cat([graph.edge_weight, graph.edge_weight])
    key = both[1] * graph.num_nodes + both[0]
    unique, inverse = torch.unique(key, return_inverse=True)
    largest = torch.zeros(unique.numel(), dtype=weight.dtype, device=weight.device)
    largest = largest.scatter_reduce(0, inverse, weight, "amax")
    targets = torch.div(unique, max(graph.num_nodes, 1), rounding_mode="floor")
    return Graph(
        torch.stack([unique - targets * graph.num_nodes, targets]), graph.num_nodes, largest
    )
