"""The graph of nearest neighbours in feature space."""

from typing import Literal

import numpy as np
import scipy.sparse
from sklearn import config_context
from sklearn.neighbors import kneighbors_graph

from bpgnn.errors import InputError
from bpgnn.graph import Graph
from bpgnn.nn.sparse import Features, SparseMatrix, values_of

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
        >>> import torch
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


def search_memory(num_nodes: int, k: int) -> int:
    """Estimate the bytes that the search for nearest neighbours holds for a while."""
    return 2 * min(_BLOCK_MB << 20, 8 * num_nodes**2) + 60 * num_nodes * k


def to_numpy(features: Features) -> np.ndarray | scipy.sparse.csr_array:  # (N, F)
    """Hand features to numpy or scipy, without gradients."""
    if not isinstance(features, SparseMatrix):
        return features.detach().cpu().numpy()
    parts = (features.value.detach(), features.column, features.pointer)
    return scipy.sparse.csr_array(tuple(part.cpu().numpy() for part in parts), shape=features.shape)
