"""Graphs as people hand them in."""

from typing import Any

import numpy as np
import scipy.sparse
import torch
from torch import Tensor

from bpgnn.data.dataset import make_dataset
from bpgnn.errors import InputError
from bpgnn.graph import Graph

_CURE = (
    "Give the graph of all nodes. Rows that were cut out, as in cross-validation, leave a graph "
    "that no longer fits: bpgnn.model_selection hides labels instead and keeps X and the graph."
)


def read_graph(graph: Any, num_nodes: int, names: np.ndarray | None) -> Graph:
    """Read a graph from a sparse matrix, an array of edges, networkx or PyG.

    Self-loops are dropped, duplicates merged and missing directions added, each with a
    :class:`~bpgnn.errors.RepairWarning`.

    Args:
        graph: A square scipy sparse matrix (weights are kept), edges as an array of shape
            (2, E) or (E, 2), a networkx graph, PyG's `Data`, or a :class:`Graph`.
        num_nodes: How many nodes there are, N.
        names: The index of X, by which nodes of networkx are found; numbers if None.

    Returns:
        The observed graph.

    Example:
        >>> read_graph(np.array([[0, 1], [1, 0]]), 2, None).num_edges
        2
    """
    if isinstance(graph, Graph):
        found = graph.edge_index, graph.edge_weight, graph.num_nodes
    elif scipy.sparse.issparse(graph):
        found = _from_matrix(graph, num_nodes)
    elif hasattr(graph, "edges") and hasattr(graph, "nodes"):
        found = (*_from_networkx(graph, num_nodes, names), num_nodes)
    elif hasattr(graph, "edge_index"):
        weight = graph.edge_weight if "edge_weight" in graph else None
        found = graph.edge_index, weight, int(graph.num_nodes or num_nodes)
    else:
        found = _from_array(graph), None, num_nodes
    edges, weight, size = found
    if size != num_nodes:
        raise InputError(f"The graph has {size} nodes, but X has {num_nodes} rows. {_CURE}")
    if edges.numel() > 0 and int(edges.max()) >= num_nodes:
        raise InputError(
            f"The graph joins node {int(edges.max())}, but X has {num_nodes} rows only. {_CURE}"
        )
    repaired = make_dataset(
        "own",
        torch.zeros(num_nodes, 1),
        torch.zeros(num_nodes, dtype=torch.long),
        edges,
        edge_weight=weight,
    ).graph
    return repaired or Graph.empty(num_nodes)


def read_edges(edges: Any) -> Tensor:  # (2, E)
    """Read edges from an array of shape (2, E) or (E, 2).

    Example:
        >>> read_edges([[0, 1], [0, 2], [1, 2]]).tolist()
        [[0, 0, 1], [1, 2, 2]]
    """
    return _from_array(edges)


def _from_matrix(matrix: Any, num_nodes: int) -> tuple[Tensor, Tensor | None, int]:
    if matrix.shape != (num_nodes, num_nodes):
        raise InputError(
            f"The graph's matrix has shape {tuple(matrix.shape)}, but X has {num_nodes} rows. "
            f"{_CURE}"
        )
    read = Graph.from_scipy(matrix)
    return read.edge_index, read.edge_weight, read.num_nodes


def _from_networkx(
    graph: Any, num_nodes: int, names: np.ndarray | None
) -> tuple[Tensor, Tensor | None]:
    known = range(num_nodes) if names is None else names.tolist()
    place = {name: number for number, name in enumerate(known)}
    if unknown := [node for node in graph.nodes if node not in place]:
        whose = "the numbers of the rows of X" if names is None else "the index of X"
        raise InputError(
            f"The graph has a node {unknown[0]!r}, which is not among {whose}. {_CURE}"
        )
    rows = [
        (place[one], place[other], data.get("weight", 1.0))
        for one, other, data in graph.edges(data=True)
    ]
    table = np.array(rows, dtype=np.float64).reshape(-1, 3)
    weight = torch.from_numpy(table[:, 2]).float()
    edges = torch.from_numpy(table[:, :2].T.astype(np.int64))
    return edges, None if bool((weight == 1).all()) else weight


def _from_array(edges: Any) -> Tensor:  # (2, E)
    array = edges.numpy(force=True) if isinstance(edges, Tensor) else np.asarray(edges)
    if array.size == 0:
        return torch.empty(2, 0, dtype=torch.long)
    if array.ndim != 2 or 2 not in array.shape:
        raise InputError(
            "Edges must be an array of pairs, of shape (2, E) or (E, 2), a scipy sparse matrix, a "
            f"networkx graph or PyG's Data, but got {type(edges).__name__} of shape {array.shape}."
        )
    if array.dtype.kind not in "iu":
        raise InputError(f"Edges must be whole numbers of rows, but their type is {array.dtype}.")
    if array.shape[0] != 2:
        array = array.T
    return torch.from_numpy(np.ascontiguousarray(array, dtype=np.int64))
