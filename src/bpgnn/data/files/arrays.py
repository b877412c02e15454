"""One's own arrays in an `.npz` file."""

import os
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from bpgnn.data.files.cells import texts_of
from bpgnn.data.files.edges import positions
from bpgnn.data.files.own import OwnData, repaired_dataset
from bpgnn.data.files.refuse import listed
from bpgnn.data.files.roles import read_labels
from bpgnn.data.npz import Arrays, read_arrays, read_npz
from bpgnn.errors import InputError

_FEATURES, _LABELS, _EDGES = ("features", "x"), ("labels", "y"), ("edges", "edge_index")
_USED = (*_FEATURES, *_LABELS, *_EDGES, "edge_weight", "ids")


def read_own_arrays(path: str | os.PathLike[str], *, directed: bool = False) -> OwnData:
    """Read an `.npz` file of this library's own form, or one of a few plain arrays.

    The plain arrays: `features` or `x`, shape (N, F); `labels` or `y`, shape (N,), numbers
    with -1 or text with "" where unknown; and as far as there are any, `edges` or
    `edge_index`, node numbers from 0 or ids, shape (2, E) or (E, 2); `edge_weight`, shape
    (E,); `ids`, shape (N,). Where ids are numbers, edges are ids if all their ends are among
    them; what could be both and differs is refused. Nothing is unpickled.

    Args:
        path: The file.
        directed: Whether an edge without its twin is meant so.

    Returns:
        The data, without a description of columns.

    Raises:
        InputError: If the file is damaged, or its arrays do not fit together.
    """
    path = Path(path)
    arrays = plain_arrays(path)
    if "feature_kind" in arrays:  # Only this library writes that one.
        return _library_file(path)
    try:
        return _from_arrays(path, arrays, directed=directed)
    except InputError as error:
        text = str(error)
        raise InputError(text if text.startswith(str(path)) else f"{path}: {text}") from error


def plain_arrays(path: Path) -> Arrays:
    """Read the arrays of a file; one of ours that only code could bring back is refused."""
    arrays = read_arrays(path)
    with zipfile.ZipFile(path) as archive:
        stored = {member.removesuffix(".npy") for member in archive.namelist()}
    if lost := sorted(stored.intersection(_USED) - arrays.keys()):
        raise InputError(
            f"{path}: `{lost[0]}` holds Python objects, which are never read. Store it as numbers, "
            f'or as text with "" where unknown: {lost[0]}.astype(str).'
        )
    return arrays


def feature_array(arrays: Arrays) -> Tensor:  # (N, F)
    """Take the features out of the arrays of a file.

    Example:
        >>> feature_array({"x": np.eye(2)}).dtype
        torch.float32
    """
    values = _one_of(arrays, _FEATURES)
    if values is None:
        found = ", ".join(f"{name} {array.shape}" for name, array in sorted(arrays.items()))
        raise InputError(
            "there must be an array `features` (or `x`) and one `labels` (or `y`); `edges` (or "
            f"`edge_index`), `edge_weight` and `ids` may be there. Found: {found or 'nothing'}."
        )
    if values.ndim != 2 or values.dtype.kind not in "biuf":
        raise InputError(
            "`features` must be numbers, one row a node, but it has the type "
            f"{values.dtype} and the shape {values.shape}."
        )
    with np.errstate(over="ignore"):
        return torch.from_numpy(values.astype(np.float32))


def id_array(arrays: Arrays, num_nodes: int) -> tuple[str, ...]:
    """Take the ids out of the arrays of a file; nodes are numbered where there are none.

    Example:
        >>> id_array({}, 2)
        ('0', '1')
    """
    if "ids" not in arrays:
        return tuple(map(str, range(num_nodes)))
    ids = tuple(texts_of(arrays["ids"].reshape(-1).tolist()))
    if len(ids) != num_nodes or len(set(ids)) < num_nodes:
        raise InputError(
            f"`ids` must name each of the {num_nodes:,} nodes differently, but it holds "
            f"{len(ids):,} names, {len(set(ids)):,} of them different."
        )
    return ids


def edge_array(arrays: Arrays) -> np.ndarray | None:  # (2, E)
    """Take the edges out of the arrays of a file, sources first, as they are stored.

    Example:
        >>> edge_array({"edges": np.array([[0, 1], [1, 2], [2, 0]])}).shape
        (2, 3)
    """
    edges = _one_of(arrays, _EDGES)
    if edges is None:
        return None
    if edges.ndim == 2 and edges.shape[0] != 2 and edges.shape[1] == 2:
        edges = edges.T
    if edges.ndim != 2 or edges.shape[0] != 2:
        raise InputError(f"`edges` must have shape (2, E) or (E, 2), but got {edges.shape}.")
    return edges


def has_numbers_as_ids(arrays: Arrays) -> bool:
    """Tell whether the ids of a file are numbers, which edges may then mean.

    Example:
        >>> has_numbers_as_ids({"ids": np.array([7, 8])}), has_numbers_as_ids({})
        (True, False)
    """
    return "ids" in arrays and arrays["ids"].dtype.kind in "iuf"


def edge_numbers(
    edges: np.ndarray, ids: tuple[str, ...], *, may_be_ids: bool = False
) -> Tensor:  # any shape, kept
    """Read ends of edges: text as ids, whole numbers as node numbers or, if they may be, as ids.

    Args:
        edges: The ends, as they are stored.
        ids: What nodes are called, in order.
        may_be_ids: Whether whole numbers may be ids: they are if all of them are among these.

    Returns:
        Node numbers, not checked where whole numbers can be nothing else.

    Raises:
        InputError: If an id is unknown, or numbers can be read both ways and mean different nodes.

    Example:
        >>> edge_numbers(np.array(["b", "a"]), ("a", "b"))
        tensor([1, 0])
        >>> edge_numbers(np.array([8, 7]), ("7", "8"), may_be_ids=True)
        tensor([1, 0])
    """
    if edges.dtype.kind not in "iuU":
        raise InputError(
            f"`edges` must hold node numbers from 0, or ids, but its type is {edges.dtype}."
        )
    words = texts_of(edges.reshape(-1).tolist())
    number = {text: position for position, text in enumerate(ids)}
    by_id = positions(words, number).reshape(edges.shape)
    if edges.dtype.kind == "U":
        if (by_id < 0).any():
            unknown = words[int((by_id < 0).argmax())]
            raise InputError(f"`edges` names {unknown!r}, which is not among the ids.")
        return torch.from_numpy(by_id)
    if not may_be_ids:
        return torch.from_numpy(edges.astype(np.int64))
    return torch.from_numpy(_one_reading(edges.astype(np.int64), by_id, len(ids)))


def _one_reading(numbers: np.ndarray, by_id: np.ndarray, num_nodes: int) -> np.ndarray:
    """Choose between node numbers and ids by which of the two fits all ends."""
    is_number = (numbers >= 0) & (numbers < num_nodes)
    if is_number.all() and (by_id >= 0).all() and (numbers != by_id).any():
        raise InputError(
            "`edges` can be read as ids and as node numbers from 0, which are different nodes "
            "here. If they are ids, store them as text, edges.astype(str); if they are node "
            "numbers, store the ids of those nodes instead, as text."
        )
    if not is_number.all() and (by_id < 0).any():
        raise InputError(
            f"`edges` must hold node numbers from 0 to {num_nodes - 1}, or ids, and no mixture, "
            f"but {numbers[~is_number][0]} is no node number, and {numbers[by_id < 0][0]} is no id."
        )
    return numbers if is_number.all() else by_id


def weight_array(arrays: Arrays) -> Tensor | None:  # (E,)
    """Take the weights of edges out of the arrays of a file.

    Example:
        >>> weight_array({}) is None
        True
    """
    weight = arrays.get("edge_weight")
    if weight is None:
        return None
    if weight.dtype.kind not in "iuf":
        raise InputError(f"`edge_weight` must hold numbers, but its type is {weight.dtype}.")
    with np.errstate(over="ignore", under="ignore"):
        return torch.from_numpy(weight.astype(np.float32))


def _from_arrays(path: Path, arrays: Arrays, *, directed: bool) -> OwnData:
    features = feature_array(arrays)
    ids = id_array(arrays, features.size(0))
    labels = _one_of(arrays, _LABELS)
    if labels is None:
        raise InputError(
            f"there must be an array `labels` (or `y`). Found: {', '.join(sorted(arrays))}."
        )
    if labels.shape != (len(ids),):
        raise InputError(
            f"`labels` must have one entry for each of the {len(ids):,} rows of `features`, but "
            f"its shape is {labels.shape}."
        )
    known = [
        "" if not isinstance(label, str) and label == -1 else label for label in labels.tolist()
    ]
    numbers, classes = read_labels(str(path), "labels", known)
    edges = edge_array(arrays)
    index = None
    if edges is not None:
        index = edge_numbers(edges, ids, may_be_ids=has_numbers_as_ids(arrays))
    dataset = repaired_dataset(
        path.stem,
        features,
        numbers,
        index,
        edge_weight=weight_array(arrays),
        directed=directed,
        class_names=classes,
        node_names=ids,
        notes=_unused(path, arrays),
    )
    return OwnData(dataset)


def _unused(path: Path, arrays: Arrays) -> tuple[str, ...]:
    others = sorted(arrays.keys() - set(_USED))
    return (f"Not used in {path}: the arrays {listed(others)}.",) if others else ()


def _library_file(path: Path) -> OwnData:
    dataset = read_npz(path)
    classes = dataset.class_names or tuple(map(str, range(dataset.num_classes)))
    nodes = dataset.node_names or tuple(map(str, range(dataset.num_nodes)))
    if len(classes) < 2:
        raise InputError(f"{path}: there must be at least two classes, but there is one at most.")
    return OwnData(replace(dataset, class_names=classes, node_names=nodes))


def _one_of(arrays: Arrays, names: tuple[str, ...]) -> np.ndarray | None:
    return next((arrays[name] for name in names if name in arrays), None)
