"""Labels taken away, the way their type says that one is missing."""

from typing import Any

import numpy as np

from bpgnn.errors import InputError
from bpgnn.estimator.labels import label_array


def hide_labels(y: Any, hidden: Any) -> Any:  # (N,)
    """Return labels of which some are missing; what was handed in stays as it is.

    Missing is -1 among whole numbers, NaN among other numbers, and None among texts, truth
    values and anything else, which become objects.

    Args:
        y: One label a node: a list, an array or a pandas series.
        hidden: Which to hide: numbers of nodes, or a mask of shape (N,).

    Returns:
        A new array, or a new series with the index of the old one.

    Example:
        >>> hide_labels([3, 1, 2], [0]).tolist()
        [-1, 1, 2]
        >>> hide_labels(["tea", "milk"], [1]).tolist()
        ['tea', None]
    """
    values, missing = _copied(y)
    values[_places(hidden, len(values))] = missing
    if not _is_series(y):
        return values
    from pandas import Series

    return Series(values, index=y.index, name=y.name)


def _copied(y: Any) -> tuple[np.ndarray, Any]:
    """Copy labels into a type that can miss some, and say how it does."""
    values = label_array(y)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise InputError(
            f"`y` must have one label a node, shape (N,), but its shape is {values.shape}."
        )
    if values.dtype.kind in "iu":
        # Unsigned numbers have no -1, and small ones may have no room for it.
        return values.astype(np.int64), -1
    if values.dtype.kind == "f":
        return values.copy(), np.nan
    return values.astype(object), None


def _places(hidden: Any, num_nodes: int) -> np.ndarray:
    chosen = np.asarray(hidden)
    if chosen.dtype == bool and chosen.shape == (num_nodes,):
        return chosen
    if chosen.size == 0:
        return np.empty(0, np.int64)
    wrong = chosen.dtype.kind not in "iu" or chosen.ndim != 1
    if wrong or chosen.min() < 0 or chosen.max() >= num_nodes:
        raise InputError(
            f"`hidden` must be numbers of nodes from 0 to {num_nodes - 1}, or a mask of shape "
            f"({num_nodes},), but got {_shortened(hidden)}."
        )
    return chosen


def _shortened(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"


def _is_series(y: Any) -> bool:
    return hasattr(y, "iloc") and hasattr(y, "name")
