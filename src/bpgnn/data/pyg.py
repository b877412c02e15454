"""Data sets to and from PyG's `Data`."""

from torch import Tensor
from torch_geometric.data import Data

from bpgnn.data.dataset import Dataset, FeatureKind, Split, make_dataset
from bpgnn.errors import InputError

_MASKS = ("train_mask", "val_mask", "test_mask")


def to_pyg(dataset: Dataset) -> Data:
    """Turn a data set into PyG's `Data`.

    Args:
        dataset: The data; sparse features stay sparse.

    Returns:
        `x`, `y`, and as far as there are any, `edge_index`, `edge_weight`, `train_mask`,
        `val_mask` and `test_mask`.

    Example:
        >>> from bpgnn.data.synthetic import block_model
        >>> to_pyg(block_model(40, seed=0)).num_edges
        400
    """
    data = Data(x=dataset.features, y=dataset.labels)
    if dataset.graph is not None:
        data.edge_index = dataset.graph.edge_index
        if dataset.graph.edge_weight is not None:
            data.edge_weight = dataset.graph.edge_weight
    if dataset.split is not None:
        data.train_mask = dataset.split.train
        data.val_mask = dataset.split.validation
        data.test_mask = dataset.split.test
    return data


def from_pyg(
    data: Data,
    name: str = "own",
    *,
    directed: bool = False,
    feature_kind: FeatureKind = "table",
) -> Dataset:
    """Turn PyG's `Data` into a data set; repair the graph and say so.

    Args:
        data: `x` and `y`; `edge_index`, `edge_weight` and the three masks if there are any.
        name: What to call it.
        directed: Whether an edge without its twin is meant so.
        feature_kind: `counts`, `table` or `alike`, see :class:`bpgnn.data.dataset.Dataset`.

    Returns:
        The checked data set, with the split of the masks, or none.

    Raises:
        InputError: If `x` or `y` is missing, or the parts do not fit together.

    Example:
        >>> import torch
        >>> pair = Data(
        ...     x=torch.eye(2), y=torch.tensor([0, 1]), edge_index=torch.tensor([[0, 1], [1, 0]])
        ... )
        >>> from_pyg(pair).num_pairs
        1
    """
    if not isinstance(data, Data):
        raise InputError(
            f"`data` must be a torch_geometric.data.Data, but got {type(data).__name__}. Take "
            "one graph of a PyG data set with `dataset[0]`."
        )
    edge_index = data.edge_index
    if edge_index is None and "adj_t" in data:
        raise InputError(
            "`data` has its edges in `adj_t`. Set `data.edge_index` instead; row 0 holds sources."
        )
    return make_dataset(
        name,
        _features(data),
        _labels(data),
        edge_index,
        edge_weight=_edge_weight(data),
        directed=directed,
        split=_split(data),
        feature_kind=feature_kind,
    )


def _features(data: Data) -> Tensor:  # (N, F)
    features = data.x
    if not isinstance(features, Tensor):
        raise InputError(
            "`data.x` must be a matrix of features, but it is "
            f"{type(features).__name__}. For nodes without features, use `torch.eye(N)`."
        )
    return features


def _labels(data: Data) -> Tensor:  # (N,)
    labels = data.y
    if not isinstance(labels, Tensor):
        raise InputError("`data.y` must hold a class number for each node, and -1 where unknown.")
    if labels.dim() == 2 and labels.size(1) == 1:
        labels = labels.squeeze(1)
    if labels.is_floating_point() or labels.dim() != 1:
        raise InputError(
            "`data.y` must hold one whole number a node, its class, but got "
            f"{labels.dtype} of shape {tuple(labels.shape)}. Several labels a node and "
            "regression are not supported."
        )
    return labels.long()


def _edge_weight(data: Data) -> Tensor | None:  # (E,)
    return data.edge_weight if "edge_weight" in data else None


def _split(data: Data) -> Split | None:
    if any(mask not in data or data[mask] is None for mask in _MASKS):
        return None
    masks = [data[mask] for mask in _MASKS]
    if any(mask.dim() == 2 for mask in masks):
        raise InputError(
            "The masks of `data` hold several splits. Choose one first, such as "
            "`data.train_mask = data.train_mask[:, 0]`, and the same for the other two."
        )
    return Split("given", *masks)
