"""Labels as people hand them in: some of them missing."""

import warnings
from typing import Any

import numpy as np
import torch
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d
from torch import Tensor

from bpgnn.data.files.cells import decoded, is_missing
from bpgnn.data.files.doubts import class_doubts
from bpgnn.errors import InputError


def read_labels(y: Any, num_nodes: int) -> tuple[np.ndarray, Tensor]:  # (C,), (N,)
    """Tell classes from missing labels.

    Missing is -1 among numbers, as in scikit-learn's semi-supervised estimators, and None,
    NaN or a text that says nothing, such as "" or "NA", among objects. A class whose name may
    mean that none is known, such as "?", is warned of.

    Args:
        y: One label a node.
        num_nodes: How many nodes there are, N.

    Returns:
        The classes in order, and the class number of each node, -1 where missing.

    Example:
        >>> classes, numbers = read_labels(["b", "", "a", None], 4)
        >>> classes.tolist(), numbers.tolist()
        (['a', 'b'], [1, -1, 0, -1])
    """
    if y is None:
        raise InputError(
            "This estimator requires y to be passed, but the target y is None: one label a node, "
            "missing ones as -1, None or an empty text."
        )
    known, missing = known_labels(y)
    if len(missing) != num_nodes:
        raise InputError(
            f"`y` must have one label for each of the {num_nodes} rows of X, but it has "
            f"{len(missing)}. Keep all rows, and hide labels by -1 or None instead."
        )
    if len(known) == 0:
        raise InputError("No node has a label. Label at least one node of each class.")
    if known.dtype.kind == "f" and np.isinf(known).any():
        raise InputError("`y` contains infinity. Labels must be whole numbers or text.")
    check_classification_targets(known)
    classes, numbers, sizes = np.unique(known, return_inverse=True, return_counts=True)
    if len(classes) < 2:
        cure = ""
        if classes.dtype.kind in "if" and missing.any():
            free = 1 if classes[0] == 0 else 0
            cure = (
                " A label of -1 is a missing one; if it is a class, write another number for it, "
                f"say by np.where(y == -1, {free}, y)."
            )
        raise InputError(
            f"The labels hold one class only ({classes.tolist()[0]!r}). Classification needs at "
            f"least two classes.{cure}"
        )
    if classes.dtype.kind == "U":
        for doubt in class_doubts(dict(zip(classes.tolist(), sizes.tolist(), strict=True))):
            warnings.warn(doubt, stacklevel=3)
    codes = np.full(num_nodes, -1, np.int64)
    codes[~missing] = numbers
    return classes, torch.from_numpy(codes)


def known_labels(y: Any) -> tuple[np.ndarray, np.ndarray]:  # (M,), (N,)
    """Leave out missing labels, and say which they were.

    Args:
        y: One label a node.

    Returns:
        The others, of one type: whole numbers and truth values stay so among objects, too, and
        bytes become text.

    Example:
        >>> known, missing = known_labels([3, None, 10])
        >>> known.tolist(), missing.tolist()
        ([3, 10], [False, True, False])
    """
    labels = np.asarray(column_or_1d(label_array(y), warn=True))
    if labels.dtype.kind not in "biufOSU":
        raise InputError(
            f"Labels must be whole numbers, text or truth values, but their type is "
            f"{labels.dtype}. Turn them into text, say with y.astype(str)."
        )
    if labels.dtype.kind in "OS":
        labels = np.asarray(np.frompyfunc(decoded, 1, 1)(labels))
    missing = _missing(labels)
    return _of_one_type(labels[~missing]), missing


def label_array(y: Any) -> np.ndarray:
    """Read labels into an array in which those that are missing can still be told.

    Example:
        >>> label_array(["tea", None]).tolist()
        ['tea', None]
    """
    if hasattr(y, "dtype"):
        return _from_pandas(y) if hasattr(y, "isna") else np.asarray(y)
    kinds = {type(label) for label in y} if hasattr(y, "__iter__") else set()
    # Numpy would turn None beside a text into the text 'None'.
    kind = object if len(kinds) > 1 or str in kinds else None
    try:
        return np.array(y, dtype=kind)
    except ValueError:
        raise InputError("`y` must have one label a node, but its rows differ in length.") from None


def check_order(names: np.ndarray | None, y: Any) -> None:
    """Refuse labels whose index has the names of X's rows in another order.

    Args:
        names: The index of X, or None where it has none.
        y: Labels, perhaps a pandas series.
    """
    index = getattr(y, "index", None)
    if names is None or index is None or callable(index):
        return
    mine, others = names.tolist(), np.asarray(index).tolist()
    if mine != others and len(mine) == len(others) and set(mine) == set(others):
        raise InputError(
            "`y` has the index of X in another order, but labels are taken by their place. Hand "
            "in y.reindex(X.index), or y.to_numpy() if its places are right."
        )


def _from_pandas(y: Any) -> np.ndarray:
    if isinstance(y.dtype, np.dtype):
        return np.asarray(y)
    # By numpy's way, whole numbers and truth values with gaps would become fractions.
    kind = getattr(y.dtype, "kind", "O")
    if kind in "iu":
        return y.to_numpy(dtype=np.int64, na_value=-1)
    if kind == "f":
        return y.to_numpy(dtype=np.float64, na_value=np.nan)
    return np.asarray(y.astype(object))


def _of_one_type(known: np.ndarray) -> np.ndarray:  # (M,)
    if known.dtype.kind not in "OSU":
        return known
    kinds = {type(label) for label in known.tolist()}
    if kinds and all(issubclass(kind, bool | np.bool_) for kind in kinds):
        return known.astype(bool)
    if kinds and all(_is_whole(kind) for kind in kinds):
        return known.astype(np.int64)
    if kinds and all(_is_whole(kind) or issubclass(kind, float | np.floating) for kind in kinds):
        return known.astype(np.float64)
    return np.array([str(label) for label in known])


def _is_whole(kind: type) -> bool:
    return issubclass(kind, int | np.integer) and not issubclass(kind, bool)


def _missing(labels: np.ndarray) -> np.ndarray:  # (N,)
    if labels.dtype.kind in "iu":
        return labels == -1
    if labels.dtype.kind == "f":
        return np.isnan(labels) | (labels == -1)
    if labels.dtype.kind == "b":
        return np.zeros(len(labels), bool)
    return np.array([_is_missing(label) for label in labels], bool)


def _is_missing(label: Any) -> bool:
    if label is None:
        return True
    if isinstance(label, str):
        return is_missing(label.strip())
    # Only NaN, pandas' missing values among them, is not equal to itself.
    same = label == label
    if not isinstance(same, bool | np.bool_):
        return True
    return not bool(same) or label == -1
