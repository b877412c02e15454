"""Planetoid's raw files, the form in which Cora, CiteSeer and PubMed were published."""

from pathlib import Path

import numpy as np
import scipy.sparse
import torch

from bpgnn.data.dataset import Dataset, Split
from bpgnn.data.sparse import rows_from_scipy, shape_of
from bpgnn.data.unpickle import read_pickle
from bpgnn.errors import InputError
from bpgnn.graph import Graph, with_both_directions

PARTS = ("x", "tx", "allx", "y", "ty", "ally", "graph", "test.index")
_NUM_VALIDATION = 500


def read_planetoid(folder: Path, name: str) -> Dataset:
    """Read the eight raw files `ind.{name}.*` of a Planetoid data set.

    The result is that of PyG's reader: nodes in the same order, edges in both directions,
    without duplicates and self-loops. The numbers that CiteSeer's test nodes skip are nodes
    too, with empty features and label 0.

    From `Revisiting Semi-Supervised Learning with Graph Embeddings
    <https://arxiv.org/abs/1603.08861>`_.

    Args:
        folder: Where the files are.
        name: The name inside the file names: `cora`, `citeseer` or `pubmed`.

    Returns:
        The data with its public split, and no split chosen.

    Raises:
        InputError: If a file is missing, damaged or hostile.
    """
    allx, tx = (read_matrix(folder / f"ind.{name}.{part}") for part in ("allx", "tx"))
    ally, ty, y = (_one_hot(folder / f"ind.{name}.{part}") for part in ("ally", "ty", "y"))
    test_index = read_test_index(folder / f"ind.{name}.test.index")
    features = place_rows(allx, tx, test_index)
    num_nodes, _ = shape_of(features)
    labels = np.zeros(num_nodes, dtype=np.int64)
    labels[: ally.shape[0]] = ally.argmax(axis=1)
    labels[test_index] = ty.argmax(axis=1)
    return Dataset(
        name=name,
        features=rows_from_scipy(features),
        labels=torch.from_numpy(labels),
        graph=read_graph(folder / f"ind.{name}.graph", num_nodes),
        public_split=public_split(y.shape[0], test_index, num_nodes),
        feature_kind="counts",
    )


def read_test_index(path: Path) -> np.ndarray:
    """Read the numbers of the test nodes, in the order of the rows of `tx` and `ty`."""
    try:
        return np.array([int(line) for line in _content(path).split()], dtype=np.int64)
    except ValueError as error:
        raise InputError(
            f"{path} must hold one node number a line ({error}). Fetch the file again."
        ) from error


def read_graph(path: Path, num_nodes: int) -> Graph:
    """Read the dictionary of neighbours as an undirected graph without self-loops."""
    neighbours = read_pickle(_content(path), str(path))
    if not isinstance(neighbours, dict):
        raise InputError(f"{path} must hold a dictionary of neighbours. Fetch the file again.")
    try:
        pairs = [(other, node) for node, others in neighbours.items() for other in others]
        edge_index = torch.tensor(pairs, dtype=torch.long).reshape(-1, 2).T
    except (TypeError, ValueError, RuntimeError) as error:
        raise InputError(f"{path} must hold node numbers only. Fetch the file again.") from error
    return with_both_directions(Graph.from_edge_index(edge_index, num_nodes).without_self_loops())


def place_rows(
    allx: scipy.sparse.csr_array, tx: scipy.sparse.csr_array, test_index: np.ndarray
) -> scipy.sparse.csr_array:
    """Put the rows of `tx` at their node numbers, after those of `allx`.

    Args:
        allx: Features of the nodes that are not test nodes, shape (others, F).
        tx: Features of the test nodes, shape (tests, F).
        test_index: Node number of each row of `tx`, shape (tests,).

    Returns:
        Features of all nodes, shape (N, F); a number that nobody has is an empty row.
    """
    num_others, num_columns = shape_of(allx)
    num_tests, _ = shape_of(tx)
    if test_index.size != num_tests or test_index.size == 0 or test_index.min() < num_others:
        raise InputError(
            f"Planetoid's test nodes must come after the {num_others} others, one for each of "
            f"the {num_tests} rows of `tx`. Fetch the files again."
        )
    nothing = scipy.sparse.csr_array((1, num_columns), dtype=allx.dtype)
    stacked = scipy.sparse.csr_array(scipy.sparse.vstack([allx, tx, nothing], format="csr"))
    row = np.full(test_index.max() + 1, num_others + num_tests)
    row[:num_others] = np.arange(num_others)
    row[test_index] = num_others + np.arange(num_tests)
    return stacked[row]


def public_split(num_train: int, test_index: np.ndarray, num_nodes: int) -> Split:
    """Make Planetoid's own split: the first nodes train, the next 500 validate."""
    position = torch.arange(num_nodes)
    test = torch.zeros(num_nodes, dtype=torch.bool)
    test[torch.from_numpy(test_index)] = True
    train = position < num_train
    validation = ~train & (position < num_train + _NUM_VALIDATION)
    return Split("public", train, validation, test)


def read_matrix(path: Path) -> scipy.sparse.csr_array:
    """Read one of the sparse matrices of features."""
    value = read_pickle(_content(path), str(path))
    if not isinstance(value, scipy.sparse.csr_array):
        raise InputError(f"{path} must hold a sparse CSR matrix. Fetch the file again.")
    return value


def _one_hot(path: Path) -> np.ndarray:
    value = read_pickle(_content(path), str(path))
    if not isinstance(value, np.ndarray) or value.ndim != 2:
        raise InputError(f"{path} must hold one row of class indicators a node. Fetch it again.")
    return value


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(
            f"{path} cannot be read ({error.strerror}). A Planetoid data set is made of the "
            f"eight files ind.NAME.* with the endings {', '.join(PARTS)}."
        ) from error
