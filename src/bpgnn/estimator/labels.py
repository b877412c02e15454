"""Labels as people hand them in: some of them missing."""

from typing import Any

import numpy as np
import torch
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d
from torch import Tensor

from bpgnn.errors import InputError


def read_labels(y: Any, num_nodes: int) -> tuple[np.ndarray, Tensor]:  # (C,), (N,)
    """Tell classes from missing labels.

    Missing is -1 among numbers, as in scikit-learn's semi-supervised estimators, and None,
    NaN or an empty text among objects.

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
    labels = np.asarray(column_or_1d(y, warn=True, dtype=_dtype_of(y)))
    if len(labels) != num_nodes:
        raise InputError(
            f"`y` must have one label for each of the {num_nodes} rows of X, but it has "
            f"{len(labels)}. Keep all rows, and hide labels by -1 or None instead."
        )
    missing = _missing(labels)
    known = labels[~missing]
    if len(known) == 0:
        raise InputError("No node has a label. Label at least one node of each class.")
    if known.dtype.kind in "OSU":
        known = np.array([str(label) for label in known])
    elif known.dtype.kind == "f" and np.isinf(known).any():
        raise InputError("`y` contains infinity. Labels must be whole numbers or text.")
    check_classification_targets(known)
    classes, numbers = np.unique(known, return_inverse=True)
    if len(classes) < 2:
        raise InputError(
            f"The labels hold one class only ({classes[0]!r}). Classification needs at least "
            "two classes."
        )
    codes = np.full(num_nodes, -1, np.int64)
    codes[~missing] = numbers
    return classes, torch.from_numpy(codes)


def _dtype_of(y: Any) -> Any:
    """Keep mixed lists as objects: numpy would turn None beside text into the text 'None'."""
    if hasattr(y, "dtype"):
        return None
    kinds = {type(label) for label in y} if hasattr(y, "__iter__") else set()
    return object if len(kinds) > 1 or str in kinds else None


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
        return label.strip() == ""
    # Only NaN, pandas' missing values among them, is not equal to itself.
    same = label == label
    if not isinstance(same, bool | np.bool_):
        return True
    return not bool(same) or label == -1
