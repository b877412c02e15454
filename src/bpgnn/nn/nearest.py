"""The graph of nearest neighbours in feature space."""

from typing import Any, Literal

import numpy as np
import scipy.sparse
import torch
from sklearn import config_context
from sklearn.neighbors import NearestNeighbors, kneighbors_graph

from bpgnn.errors import InputError
from bpgnn.graph import Graph
from bpgnn.nn.sparse import Features, SparseMatrix, values_of

# A cosine up to this is rounding: there is nothing in common.
_NOTHING = 1e-12

_BLOCK_MB = 64

Likeness = Literal["cosine", "minkowski"]


def nearest_graph(features: Features, k: int, *, metric: Likeness = "cosine") -> Graph:  # (N, F)
    """Join every node with the k nodes whose features are nearest to its own; directed.

    Args:
        features: Dense or sparse features, shape (N, F).
        k: Neighbours of each node, itself not counted.
        metric: `cosine`, or `minkowski` for Euclidean distance.

    Returns:
        A graph in which each node has k neighbours.

    Example:
        >>> nearest_graph(torch.tensor([[0.0], [1.0], [5.0]]), 1, metric="minkowski").sources
        tensor([1, 0, 1])
    """
    num_nodes = features.size(0)
    if not 1 <= k < num_nodes:
        raise InputError(
            f"`k` must be between 1 and {num_nodes - 1} for {num_nodes} nodes, but got {k}. "
            "Ask for fewer neighbours a node."
        )
    # By default scikit-learn takes a gigabyte for its blocks of distances.
    with config_context(working_memory=_BLOCK_MB):
        nearest = kneighbors_graph(to_numpy(features), k, metric=metric, include_self=False)
    device = values_of(features).device
    return Graph.from_scipy(nearest).to(device)


def alike_pairs(
    features: Features,  # (N, F)
    k: int,
    num_known: int,
    *,
    later: bool = False,
) -> torch.Tensor:  # (2, E)
    """List for each known node the k known ones that are most alike by cosine, or for the others.

    Nodes that have nothing in common are no pair. In float64, and for nodes that come later one
    by one, so that whom one of them is like does not depend on who else is asked about.

    Args:
        features: Dense or sparse features, shape (N, F).
        k: Most known nodes that are listed for a node, itself not counted.
        num_known: So many nodes, the first, are known.
        later: List them for the nodes after those.

    Returns:
        A known node and the node that it is listed for, of each pair.

    Example:
        >>> points = torch.tensor([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [0.0, 2.0]])
        >>> alike_pairs(points, 1, 3)
        tensor([[1, 0, 1],
                [0, 1, 2]])
        >>> alike_pairs(points, 1, 3, later=True)
        tensor([[2],
                [3]])
    """
    rows: Any = to_numpy(features).astype(np.float64)
    search = NearestNeighbors(n_neighbors=k, metric="cosine").fit(rows[:num_known])
    first, end = (num_known, rows.shape[0]) if later else (0, num_known)
    with config_context(working_memory=_BLOCK_MB):
        # Asked about no rows it answers for the known ones, none of which is like itself.
        answers = [search.kneighbors(rows[node : node + 1]) for node in range(first, end) if later]
        answers = answers if later else [search.kneighbors()]
    distance, nearest = (np.concatenate(part) for part in zip(*answers, strict=True))
    node, place = np.nonzero(distance < 1 - _NOTHING)
    pairs = torch.from_numpy(np.stack([nearest[node, place], node + first]).astype(np.int64))
    return pairs.to(values_of(features).device)


def search_memory(num_nodes: int, k: int, num_values: int = 0) -> int:
    """Estimate the bytes that the search for nearest neighbours holds for a while.

    Where it is in float64, so are two copies of the stored feature values.
    """
    blocks = 2 * min(_BLOCK_MB << 20, 8 * num_nodes**2)
    return blocks + 60 * num_nodes * k + 24 * num_values


def to_numpy(features: Features) -> np.ndarray | scipy.sparse.csr_array:  # (N, F)
    """Hand features to numpy or scipy, without gradients."""
    if not isinstance(features, SparseMatrix):
        return features.detach().cpu().numpy()
    parts = (features.value.detach(), features.column, features.pointer)
    return scipy.sparse.csr_array(tuple(part.cpu().numpy() for part in parts), shape=features.shape)
