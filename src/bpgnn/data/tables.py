"""Scikit-learn's small tables, and graphs made from features alone."""

from typing import Any, Literal, get_args

import sklearn.datasets
import torch
from sklearn.neighbors import NearestNeighbors
from torch import Tensor

from bpgnn.data.dataset import Dataset, FeatureKind
from bpgnn.data.sparse import rows_to_scipy
from bpgnn.errors import InputError
from bpgnn.graph import Graph, with_both_directions

Metric = Literal["euclidean", "cosine"]

_LOADERS = {
    "digits": sklearn.datasets.load_digits,
    "wine": sklearn.datasets.load_wine,
    "breast_cancer": sklearn.datasets.load_breast_cancer,
}


def load_table(name: str) -> Dataset:
    """Load one of scikit-learn's tables as a data set without a graph.

    Args:
        name: `digits`, `wine` or `breast_cancer`.

    Returns:
        Raw features and labels, no graph and no split.

    Example:
        >>> wine = load_table("wine")
        >>> wine.num_nodes, wine.num_features, wine.num_classes, wine.graph
        (178, 13, 3, None)
    """
    if name not in _LOADERS:
        raise InputError(f"`name` must be one of {', '.join(_LOADERS)}, but got {name!r}.")
    bunch = _LOADERS[name]()
    return Dataset(
        name=name,
        features=torch.from_numpy(bunch.data).float(),
        labels=torch.from_numpy(bunch.target).long(),
        graph=None,
        class_names=tuple(str(word) for word in bunch.target_names),
        feature_kind="table",
    )


def metric_for(kind: FeatureKind) -> Metric:
    """Choose how to measure between features of a kind.

    Example:
        >>> metric_for("counts")
        'cosine'
    """
    return "cosine" if kind == "counts" else "euclidean"


def neighbour_graph(features: Tensor, k: int, metric: Metric = "euclidean") -> Graph:
    """Join each node with the k nearest others, in both directions.

    A node has at least k neighbours, and more where it is among the nearest of others. Bring
    features to a common scale first, with :func:`bpgnn.data.prepare.prepare_features`.

    Args:
        features: Prepared values, shape (N, F), dense or sparse CSR.
        k: Neighbours that each node chooses, from 1 to N - 1.
        metric: `euclidean` or `cosine`.

    Returns:
        An undirected graph without self-loops.

    Example:
        >>> neighbour_graph(torch.tensor([[0.0], [1.0], [5.0]]), k=1).undirected_pairs().tolist()
        [[0, 1], [1, 2]]
    """
    num_nodes = features.size(0)
    if not 1 <= k < num_nodes:
        raise InputError(f"`k` must be between 1 and {num_nodes - 1}, but got {k}.")
    if metric not in get_args(Metric):
        raise InputError(f"`metric` must be 'euclidean' or 'cosine', but got {metric!r}.")
    search = NearestNeighbors(n_neighbors=k, metric=metric).fit(_values(features))
    # Without rows of its own to look up, the search leaves each node out of its neighbours.
    nearest = search.kneighbors(return_distance=False)
    sources = torch.from_numpy(nearest).reshape(-1)
    targets = torch.arange(num_nodes).repeat_interleave(k)
    return with_both_directions(Graph.from_edge_index(torch.stack([sources, targets]), num_nodes))


def neighbours_among(
    features: Tensor, known: Tensor, k: int, metric: Metric = "euclidean"
) -> Tensor:  # (M, F), (N, F) -> (2, M * k)
    """Find the k nearest known nodes of rows that come later.

    Args:
        features: Prepared values of those rows, shape (M, F).
        known: Prepared values of the known nodes, shape (N, F).
        k: Neighbours of each row.
        metric: `euclidean` or `cosine`.

    Returns:
        Pairs of a known node and a row.

    Example:
        >>> neighbours_among(torch.tensor([[4.0]]), torch.tensor([[0.0], [5.0]]), k=1).tolist()
        [[1], [0]]
    """
    search = NearestNeighbors(n_neighbors=k, metric=metric).fit(_values(known))
    nearest = search.kneighbors(_values(features), return_distance=False)
    rows = torch.arange(features.size(0)).repeat_interleave(k)
    return torch.stack([torch.from_numpy(nearest).reshape(-1), rows])


def _values(features: Tensor) -> Any:  # (N, F)
    sparse = features.layout == torch.sparse_csr
    return rows_to_scipy(features) if sparse else features.detach().cpu().numpy()
