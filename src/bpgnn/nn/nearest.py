"""The graph of nearest neighbours in feature space."""

from typing import Literal

import numpy as np
import scipy.sparse
import torch
from sklearn import config_context
from sklearn.neighbors import NearestNeighbors

from bpgnn.errors import InputError
from bpgnn.graph import Graph
from bpgnn.nn.sparse import Features, SparseMatrix, values_of

_BLOCK_MB = 64

Likeness = Literal["cosine", "minkowski"]


def nearest_graph(
    features: Features,  # (N, F)
    k: int,
    *,
    metric: Likeness = "cosine",
    num_known: int | None = None,
) -> Graph:
    """Join every node with the k nodes whose features are nearest to its own; directed.

    Args:
        features: Dense or sparse features, shape (N, F).
        k: Neighbours of each node, itself not counted.
        metric: `cosine`, or `minkowski` for Euclidean distance.
        num_known: Neighbours are among so many nodes, the first; all by default.

    Returns:
        A graph in which each node has k neighbours.

    Example:
        >>> nearest_graph(torch.tensor([[0.0], [1.0], [5.0]]), 1, metric="minkowski").sources
        tensor([1, 0, 1])
    """
    num_nodes = features.size(0)
    num_known = num_nodes if num_known is None else num_known
    if not 1 <= k < num_known:
        raise InputError(
            f"`k` must be between 1 and {num_known - 1} for {num_known} nodes, but got {k}. "
            "Ask for fewer neighbours a node."
        )
    rows = to_numpy(features)
    search = NearestNeighbors(n_neighbors=k, metric=metric).fit(rows[:num_known])
    # By default scikit-learn takes a gigabyte for its blocks of distances.
    with config_context(working_memory=_BLOCK_MB):
        # Without rows it is the known nodes' own, none of which is its own neighbour.
        asked = [None] if num_known == num_nodes else [None, rows[num_known:]]
        found = [search.kneighbors(some, return_distance=False) for some in asked]
    device = values_of(features).device
    sources = torch.from_numpy(np.concatenate(found).astype(np.int64)).flatten().to(device)
    targets = torch.arange(num_nodes, device=device).repeat_interleave(k)
    return Graph.from_edge_index(torch.stack([sources, targets]), num_nodes)


def search_memory(num_nodes: int, k: int) -> int:
    """Estimate the bytes that the search for nearest neighbours holds for a while."""
    return 2 * min(_BLOCK_MB << 20, 8 * num_nodes**2) + 60 * num_nodes * k


def to_numpy(features: Features) -> np.ndarray | scipy.sparse.csr_array:  # (N, F)
    """Hand features to numpy or scipy, without gradients."""
    if not isinstance(features, SparseMatrix):
        return features.detach().cpu().numpy()
    parts = (features.value.detach(), features.column, features.pointer)
    return scipy.sparse.csr_array(tuple(part.cpu().numpy() for part in parts), shape=features.shape)
