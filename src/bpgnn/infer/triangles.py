"""The Boolean product of two binary graphs, and the triangles it finds."""

from dataclasses import dataclass
from typing import cast, final

import numpy as np
import scipy.sparse
import torch
from torch import Tensor

from bpgnn.errors import InputError
from bpgnn.graph import Graph, check_edges
from bpgnn.infer.segments import expand_runs

_CANDIDATES_AT_A_TIME = 4_000_000


def boolean_product(first: Graph, second: Graph) -> Graph:
    r"""Join i to j wherever some node k closes the triangle.

    Equation BooleanMM of `Boolean Product Graph Neural Networks
    <https://arxiv.org/abs/2409.14001>`_, exact, sparse in and sparse out:

    .. math:: (A \diamond B)_{ij} = \bigvee_k (A_{ik} \wedge B_{kj})

    Only the presence of an edge counts: weights are ignored, and the product has none. It is
    computed on the CPU and returned on the device of `first`.

    Args:
        first: The graph A, of N nodes.
        second: The graph B, of the same N nodes.

    Returns:
        The graph A ⋄ B of N nodes, with an edge j → i for every entry that is one.

    Example:
        >>> friends = Graph.from_edge_index(torch.tensor([[1], [0]]), num_nodes=3)
        >>> similar = Graph.from_edge_index(torch.tensor([[2], [1]]), num_nodes=3)
        >>> boolean_product(friends, similar).edge_index.tolist()
        [[2], [0]]
    """
    _check_same_nodes(first, second)
    product = cast("scipy.sparse.csr_array", _binary_matrix(first) @ _binary_matrix(second))
    product.sort_indices()
    edge_index = torch.empty(2, product.nnz, dtype=torch.long)
    edge_index[0] = torch.from_numpy(product.indices)
    edge_index[1] = torch.repeat_interleave(torch.from_numpy(np.diff(product.indptr)))
    return Graph(edge_index, first.num_nodes).to(first.edge_index.device)


@final
@dataclass(frozen=True, eq=False)
class Triangles:
    """Hold, for each of many entries (i, j), the nodes k that close it.

    Args:
        pointer: Where the nodes of each entry begin and end, shape (B + 1,).
        nodes: The nodes of all entries one after another, ascending in each, shape (M,).
    """

    pointer: Tensor
    nodes: Tensor

    @property
    def counts(self) -> Tensor:  # (B,)
        """Count the nodes that close each entry."""
        return self.pointer.diff()

    def of(self, entry: int) -> Tensor:  # (count,)
        """Return the nodes that close one entry."""
        return self.nodes[self.pointer[entry] : self.pointer[entry + 1]]


def triangles(first: Graph, second: Graph, edges: Tensor) -> Triangles:  # edges: (2, B)
    """List the nodes k with A_ik = 1 and B_kj = 1, for many entries (i, j) at once.

    Proposition 1 of `Boolean Product Graph Neural Networks
    <https://arxiv.org/abs/2409.14001>`_: an entry of A ⋄ B is one exactly where there is such
    a node. It takes a search in B for each neighbour of i in A; nothing of size N by N is made.

    Args:
        first: The graph A, of N nodes.
        second: The graph B, of the same N nodes.
        edges: Entries to explain, as edges j → i: sources j and targets i, shape (2, B).

    Returns:
        The closing nodes of each entry, in the order of `edges`.

    Example:
        >>> friends = Graph.from_edge_index(torch.tensor([[1, 2], [0, 0]]), num_nodes=4)
        >>> similar = Graph.from_edge_index(torch.tensor([[3, 3], [1, 2]]), num_nodes=4)
        >>> found = triangles(friends, similar, torch.tensor([[3, 0], [0, 3]]))
        >>> found.of(0).tolist(), found.of(1).tolist()
        ([1, 2], [])
    """
    _check_same_nodes(first, second)
    check_edges(edges, first.num_nodes, None, name="edges")
    num_candidates = first.in_degree[edges[1]]
    # Hubs have many neighbours: entries go in blocks, so that memory stays bounded.
    block = torch.div(num_candidates.cumsum(0), _CANDIDATES_AT_A_TIME, rounding_mode="floor")
    sizes = torch.unique_consecutive(block, return_counts=True)[1].tolist() or [0]
    parts = [_closing_nodes(first, second, part) for part in edges.split(sizes, dim=1)]
    start = torch.zeros(1, dtype=torch.long, device=edges.device)
    counts = torch.cat([count for count, _ in parts])
    return Triangles(
        pointer=torch.cat([start, counts.cumsum(0)]),
        nodes=torch.cat([nodes for _, nodes in parts]),
    )


def _closing_nodes(first: Graph, second: Graph, edges: Tensor) -> tuple[Tensor, Tensor]:
    """Return how many nodes close each entry, shape (B,), and the nodes, shape (M,)."""
    j, i = edges
    position, entry = expand_runs(first.row_pointer[i], first.in_degree[i])
    k = first.sources[position]
    closed = _has_edges(second, sources=j[entry], targets=k)
    return torch.bincount(entry[closed], minlength=edges.size(1)), k[closed]


def _has_edges(graph: Graph, sources: Tensor, targets: Tensor) -> Tensor:  # (M,), (M,) -> (M,)
    """Tell which pairs are edges of the graph."""
    if graph.num_edges == 0:
        return torch.zeros_like(sources, dtype=torch.bool)
    # A graph's edges are sorted by target and then source, hence by this number.
    present = graph.targets * graph.num_nodes + graph.sources
    wanted = targets * graph.num_nodes + sources
    place = torch.searchsorted(present, wanted).clamp(max=graph.num_edges - 1)
    return present[place] == wanted


def _binary_matrix(graph: Graph) -> scipy.sparse.csr_array:  # (N, N)
    # Booleans are or-ed. Counts would do as well, but a count of one byte wraps round to zero
    # at 256 triangles, and wider ones take more memory at the same speed: measured by
    # benchmarks/boolean_product.py, which also compares GraphBLAS.
    ones = np.ones(graph.num_edges, dtype=np.bool_)
    fits = max(graph.num_nodes, graph.num_edges) < np.iinfo(np.int32).max
    index = np.int32 if fits else np.int64
    sources = graph.sources.cpu().numpy().astype(index)
    pointer = graph.row_pointer.cpu().numpy().astype(index)
    shape = (graph.num_nodes, graph.num_nodes)
    return scipy.sparse.csr_array((ones, sources, pointer), shape=shape)


def _check_same_nodes(first: Graph, second: Graph) -> None:
    if first.num_nodes != second.num_nodes:
        raise InputError(
            "`first` and `second` must have the same nodes, but got "
            f"{first.num_nodes} and {second.num_nodes} of them."
        )
