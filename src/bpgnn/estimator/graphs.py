"""Graphs as people hand them in."""

import warnings
from typing import Any

import numpy as np
import scipy.sparse
import torch
from torch import Tensor

from bpgnn.data.dataset import both_ways, make_dataset
from bpgnn.errors import InputError, RepairWarning
from bpgnn.graph import Graph, first_outside

_CURE = (
    "Give the graph of all nodes. Rows that were cut out, as in cross-validation, leave a graph "
    "that no longer fits: bpgnn.model_selection hides labels instead and keeps X and the graph."
)
_GRAPH = (
    "`graph` must be a scipy sparse matrix, an array of pairs of rows of shape (2, E) or (E, 2), a "
    "list of tuples, a frame of pairs, a networkx graph or PyG's Data"
)
_EDGES = (
    "`edges_new` must be an array of pairs (row of the training's X, row of this X), of shape "
    "(2, E) or (E, 2), a list of tuples, or a frame of pairs"
)
_NAMES = (
    "For edges between names, hand in a networkx graph of them, and X as a frame with these names "
    "as its index."
)
_WEIGHTS = (
    "The graph's weights must be positive and finite: they say how strong an edge is. Leave out "
    "edges of other weights, or give all of them the weight 1."
)
# Any of these says how many nodes PyG's data have; without, PyG guesses by the edges.
_SIZES = ("num_nodes", "x", "pos", "batch")


def read_graph(graph: Any, num_nodes: int, names: np.ndarray | None) -> Graph:
    """Read a graph from a sparse matrix, an array of edges, networkx or PyG.

    Self-loops are dropped, duplicates merged and missing directions added, each with a
    :class:`~bpgnn.errors.RepairWarning`; that an undirected networkx graph has both directions
    goes without saying.

    Args:
        graph: A square scipy sparse matrix (weights are kept), edges as an array of shape
            (2, E) or (E, 2), a list of tuples, a frame of pairs, a networkx graph, PyG's
            `Data`, or a :class:`Graph`.
        num_nodes: How many nodes there are, N.
        names: The index of X, by which nodes of networkx are found; numbers if None.

    Returns:
        The observed graph.

    Example:
        >>> read_graph([(0, 1), (1, 0), (1, 2), (2, 1)], 3, None).num_edges
        4
    """
    edges, weight, size = _parts(graph, num_nodes, names)
    if size != num_nodes:
        raise InputError(f"The graph has {size} nodes, but X has {num_nodes} rows. {_CURE}")
    if (strange := first_outside(edges.flatten(), num_nodes)) is not None:
        raise InputError(
            f"The graph joins node {strange}, but the {num_nodes} rows of X are numbered from 0 to "
            f"{num_nodes - 1}. {_CURE}"
        )
    if weight is not None and not bool((weight.isfinite() & (weight > 0)).all()):
        raise InputError(_WEIGHTS)
    repaired = make_dataset(
        "own",
        torch.zeros(num_nodes, 1),
        torch.zeros(num_nodes, dtype=torch.long),
        edges,
        edge_weight=weight,
        directed=True,
    ).graph
    undirected, notes = both_ways(repaired or Graph.empty(num_nodes))
    if not _is_networkx(graph) or graph.is_directed():
        for note in notes:
            warnings.warn(note, RepairWarning, stacklevel=2)
    return undirected


def read_edges(edges: Any, num_known: int, num_new: int) -> Tensor:  # (2, E)
    """Read edges from an array of shape (2, E) or (E, 2), a list of tuples or a frame of pairs.

    What is two by two, and neither tuples nor a frame, is read as (2, E), and the doubt said.

    Args:
        edges: Pairs (row of the training's X, row of the new one).
        num_known: How many rows the training had.
        num_new: How many rows there are now.

    Example:
        >>> read_edges([(0, 1), (7, 2)], 9, 3).tolist()
        [[0, 7], [1, 2]]
    """
    found = _from_array(edges, _EDGES)
    for ends, count, which in (
        (
            found[0],
            num_known,
            "first of each pair in `edges_new` must be a row of the training's X",
        ),
        (found[1], num_new, "second of each pair in `edges_new` must be a row of this X"),
    ):
        if (strange := first_outside(ends, count)) is not None:
            raise InputError(f"The {which}, from 0 to {count - 1}, but one is {strange}.")
    return found


def _parts(
    graph: Any, num_nodes: int, names: np.ndarray | None
) -> tuple[Tensor, Tensor | None, int]:  # (2, E), (E,)
    """Tell edges, weights and the number of nodes, whatever the form."""
    if isinstance(graph, Graph):
        return graph.edge_index, graph.edge_weight, graph.num_nodes
    if scipy.sparse.issparse(graph):
        return _from_matrix(graph, num_nodes)
    if _is_networkx(graph):
        return (*_from_networkx(graph, num_nodes, names), num_nodes)
    if hasattr(graph, "edge_index") or hasattr(graph, "edge_types"):
        return _from_pyg(graph, num_nodes)
    return _from_array(graph, _GRAPH), None, num_nodes


def _is_networkx(graph: Any) -> bool:
    return hasattr(graph, "edges") and hasattr(graph, "is_directed")


def _from_matrix(matrix: Any, num_nodes: int) -> tuple[Tensor, Tensor | None, int]:
    if matrix.shape != (num_nodes, num_nodes):
        raise InputError(
            f"The graph's matrix has shape {tuple(matrix.shape)}, but X has {num_nodes} rows. "
            f"{_CURE}"
        )
    values = scipy.sparse.coo_array(matrix).data
    if not bool((np.isfinite(values) & (values >= 0)).all()):
        raise InputError(_WEIGHTS)
    read = Graph.from_scipy(matrix)
    return read.edge_index, read.edge_weight, read.num_nodes


def _from_pyg(data: Any, num_nodes: int) -> tuple[Tensor, Tensor | None, int]:
    edges = None if hasattr(data, "edge_types") else data.edge_index
    if not isinstance(edges, Tensor):
        raise InputError(
            f"PyG's {type(data).__name__} has no single `edge_index`. Set it, call "
            "to_homogeneous() where there are several kinds of nodes, or hand in no graph."
        )
    weight = data.edge_weight if "edge_weight" in data else None
    size = int(data.num_nodes) if any(name in data for name in _SIZES) else num_nodes
    return edges, None if weight is None else weight.float(), size


def _from_networkx(
    graph: Any, num_nodes: int, names: np.ndarray | None
) -> tuple[Tensor, Tensor | None]:
    place = _places(graph, num_nodes, names)
    rows = [
        (place[one], place[other], data.get("weight", 1.0))
        for one, other, data in graph.edges(data=True)
    ]
    try:
        table = np.array(rows, dtype=np.float64).reshape(-1, 3)
    except (TypeError, ValueError):
        raise InputError(
            "The attribute `weight` of the graph's edges must be a number. Correct or remove it."
        ) from None
    weight = torch.from_numpy(table[:, 2]).float()
    edges = torch.from_numpy(table[:, :2].T.astype(np.int64))
    return edges, None if bool((weight == 1).all()) else weight


def _places(graph: Any, num_nodes: int, names: np.ndarray | None) -> dict[Any, int]:
    """Find the row of every node of a networkx graph."""
    known = range(num_nodes) if names is None else names.tolist()
    place = {name: number for number, name in enumerate(known)}
    if len(place) < num_nodes:
        raise InputError(
            "Nodes of a networkx graph are found by the index of X, but some names are there "
            "twice. Give every row a name of its own."
        )
    if unknown := [node for node in graph.nodes if node not in place]:
        whose = "the numbers of the rows of X" if names is None else "the index of X"
        raise InputError(
            f"The graph has a node {unknown[0]!r}, which is not among {whose}. "
            f"networkx.relabel_nodes gives nodes other names. {_CURE}"
        )
    return place


def _from_array(edges: Any, wanted: str) -> Tensor:  # (2, E)
    try:
        array = edges.numpy(force=True) if isinstance(edges, Tensor) else np.asarray(edges)
    except (TypeError, ValueError):
        raise InputError(f"{wanted}, but got {type(edges).__name__}, which is no array.") from None
    if array.size == 0:
        return torch.empty(2, 0, dtype=torch.long)
    sides = array.shape[1:] if _is_frame(edges) else array.shape
    if array.ndim != 2 or 2 not in sides:
        square = array.ndim == 2 and array.shape[0] == array.shape[1]
        cure = " A dense matrix becomes a sparse one by scipy.sparse.csr_array." if square else ""
        shape = f" of shape {array.shape}" if array.ndim > 0 else ""
        raise InputError(f"{wanted}, but got {type(edges).__name__}{shape}.{cure}")
    if array.dtype.kind not in "iu":
        cure = _NAMES if array.dtype.kind in "OSU" else "Convert them, say with astype(int)."
        raise InputError(
            f"Edges must be whole numbers of rows, but their type is {array.dtype}. {cure}"
        )
    if _holds_pairs(edges, array):
        array = array.T
    # Through a copy: an array that may not be written to makes no tensor.
    return torch.from_numpy(np.array(array, dtype=np.int64, order="C"))


def _is_frame(edges: Any) -> bool:
    return hasattr(edges, "columns")


def _holds_pairs(edges: Any, array: np.ndarray) -> bool:  # (2, E) or (E, 2)
    """Tell whether each row is an edge; of two by two numbers alone nobody can."""
    if array.shape != (2, 2):
        return array.shape[0] != 2
    tuples = isinstance(edges, list | tuple) and all(isinstance(row, tuple) for row in edges)
    if tuples or _is_frame(edges):
        return True
    if not np.array_equal(array, array.T):
        (one, other), (to_one, to_other) = array.tolist()
        warnings.warn(
            f"Edges of two by two are read as (2, E): they join {one} with {to_one} and {other} "
            f"with {to_other}. To say what is meant, hand in tuples: "
            f"[({one}, {to_one}), ({other}, {to_other})], or [({one}, {other}), "
            f"({to_one}, {to_other})] if rows are edges.",
            stacklevel=5,
        )
    return False
