"""One's own data as one blob of bytes, which runs no code when it is read."""

from typing import Any

import torch
from torch import Tensor

from bpgnn.data.dataset import Dataset, Split
from bpgnn.data.files.columns import Columns
from bpgnn.data.files.own import OwnData
from bpgnn.errors import InputError
from bpgnn.graph import Graph
from bpgnn.matrix import csr_matrix
from bpgnn.packed import pack, unpack

_PARTS = ("train", "validation", "test")
_SPLITS = ("split", "public_split")


def save_own(own: OwnData) -> bytes:
    """Write one's own data as safetensors; the same data give the same bytes.

    Args:
        own: The data. All of it is kept but for `true_graph`.

    Returns:
        What :func:`load_own` reads.

    Example:
        >>> from bpgnn.data.synthetic import block_model
        >>> content = save_own(OwnData(block_model(40)))
        >>> load_own(content).dataset.num_nodes
        40
    """
    data = own.dataset
    tensors = {"labels": data.labels, **_feature_tensors(data.features)}
    if data.graph is not None:
        tensors["edges"] = data.graph.edge_index
        if data.graph.edge_weight is not None:
            tensors["edge_weight"] = data.graph.edge_weight
    for name in _SPLITS:
        parts = getattr(data, name)
        if parts is not None:
            tensors |= {f"{name}/{part}": getattr(parts, part) for part in _PARTS}
    words = {
        # First, so that no name in the data can be taken for it.
        "name": data.name,
        "num_features": data.num_features,
        "feature_kind": data.feature_kind,
        "ids": list(data.node_names),
        "class_names": list(data.class_names),
        "notes": list(data.notes),
        "num_neighbours": data.num_neighbours,
        "splits": {name: parts.name for name in _SPLITS if (parts := getattr(data, name))},
        "columns": None if own.columns is None else own.columns.to_json(),
        "id_name": own.id_name,
        "label_name": own.label_name,
    }
    return pack(tensors, words)


def load_own(content: bytes) -> OwnData:
    """Read what :func:`save_own` wrote.

    Args:
        content: The bytes.

    Returns:
        The data as they were.

    Raises:
        InputError: If the bytes were cut, changed, or are something else.
    """
    try:
        return _own_from(*unpack(content))
    except (
        ArithmeticError,
        AttributeError,
        LookupError,
        RuntimeError,
        TypeError,
        ValueError,
    ) as error:
        raise InputError(f"The stored data are damaged or not bpgnn's ({error}).") from None


def _own_from(tensors: dict[str, Tensor], words: dict[str, Any]) -> OwnData:
    features = _features_from(tensors, int(words["num_features"]))
    graph = None
    if "edges" in tensors:
        graph = Graph.from_edge_index(
            tensors["edges"], features.size(0), tensors.get("edge_weight")
        )
    splits: dict[str, Any] = {
        name: Split(str(kind), *(tensors[f"{name}/{part}"] for part in _PARTS))
        for name, kind in words["splits"].items()
        if name in _SPLITS
    }
    dataset = Dataset(
        name=str(words["name"]),
        features=features,
        labels=tensors["labels"],
        graph=graph,
        class_names=tuple(map(str, words["class_names"])),
        node_names=tuple(map(str, words["ids"])),
        feature_kind=words["feature_kind"],
        notes=tuple(map(str, words["notes"])),
        # Data that were saved before this was kept have no such word.
        num_neighbours=words.get("num_neighbours"),
        **splits,
    )
    columns = words["columns"]
    return OwnData(
        dataset,
        None if columns is None else Columns.from_json(columns),
        words["id_name"],
        words["label_name"],
    )


def _feature_tensors(features: Tensor) -> dict[str, Tensor]:
    if features.layout != torch.sparse_csr:
        return {"features": features}
    return {
        "features/pointer": features.crow_indices(),
        "features/column": features.col_indices(),
        "features/value": features.values(),
    }


def _features_from(tensors: dict[str, Tensor], num_features: int) -> Tensor:  # (N, F)
    if "features" in tensors:
        return tensors["features"]
    pointer, column, value = (
        tensors[f"features/{part}"] for part in ("pointer", "column", "value")
    )
    return csr_matrix(pointer, column, value, (pointer.numel() - 1, num_features))
