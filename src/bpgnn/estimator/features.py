"""Feature matrices as people hand them in: arrays, sparse matrices, frames."""

from collections.abc import Sequence
from datetime import date, time, timedelta
from typing import Any

import numpy as np
import scipy.sparse
import torch
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data
from torch import Tensor

from bpgnn.data.files.cells import in_order, texts_of
from bpgnn.data.files.columns import Column, Columns, encode, learn_columns
from bpgnn.data.files.refuse import refuse_ids
from bpgnn.data.sparse import rows_from_scipy
from bpgnn.errors import InputError


def read_training_features(estimator: BaseEstimator, X: Any) -> tuple[Tensor, Columns | None]:
    """Read the X of a training, and what its columns are where they are not all numbers.

    Args:
        estimator: Who learns from it; gets `n_features_in_` and `feature_names_in_`.
        X: An array, a scipy sparse matrix, or a frame of numbers and categories.

    Returns:
        Values, shape (N, F), dense or sparse CSR, and the columns of a mixed frame.
    """
    if is_mixed(X):
        validate_data(estimator, X, skip_check_array=True)
        table = dict(X.items())
        _refuse_dates(table)
        columns = _with_categories(learn_columns(table), table)
        return encode(columns, table), columns
    return _numbers(estimator, X, reset=True), None


def read_new_features(estimator: BaseEstimator, X: Any, columns: Columns | None) -> Tensor:
    """Read the X of rows that come later, by the columns of the training."""
    if columns is None:
        return _numbers(estimator, X, reset=False)
    if not hasattr(X, "items"):
        raise TypeError("X must be a frame with the columns of the training.")
    if len(X) == 0:
        raise InputError("X has no rows. Hand in at least one.")
    validate_data(estimator, X, reset=False, skip_check_array=True)
    return encode(columns, dict(X.items()))


def is_mixed(X: Any) -> bool:
    """Tell whether a frame has columns that are not numbers; pandas' categories are not."""
    if not (hasattr(X, "columns") and hasattr(X, "items")):
        return False
    return any(
        _is_category(column) or np.asarray(column).dtype.kind not in "iufb"
        for _, column in X.items()
    )


def row_names(X: Any) -> np.ndarray | None:
    """Return the index of a frame, by which people know its rows."""
    index = getattr(X, "index", None)
    return None if index is None or callable(index) else np.asarray(index)


def row_of(node: int | str, names: Sequence[str]) -> int:
    """Find the row of a node by its number or, as text, by its name.

    Example:
        >>> row_of("b", ["a", "b"]), row_of(0, ["a", "b"])
        (1, 0)
    """
    if not isinstance(node, str):
        return int(node) if isinstance(node, np.integer) else node
    rows = [row for row, name in enumerate(names) if name == node]
    if len(rows) == 1:
        return rows[0]
    if rows:
        raise InputError(f"{len(rows)} rows of X are named {node!r}. Give the number of one.")
    whose = f"names are such as {names[0]!r}" if names else "X had no index of names"
    raise InputError(
        f"No row of X is named {node!r}: {whose}. Give a name of X's index or a number."
    )


def _is_category(column: Any) -> bool:
    return str(getattr(column, "dtype", "")) == "category"


def _with_categories(columns: Columns, table: dict[Any, Any]) -> Columns:
    """Make a category of each column that pandas says is one, of numbers too."""
    cells = {str(name): column for name, column in table.items()}
    return Columns(
        tuple(
            _as_category(item.name, cells[item.name])
            if item.kind == "number" and _is_category(cells[item.name])
            else item
            for item in columns.items
        )
    )


def _as_category(name: str, cells: Any) -> Column:
    values = in_order(texts_of(np.asarray(cells)))
    refuse_ids(name, values, len(cells), lambda name, _: f"Column {name!r}", "drop the column")
    return Column(name, "category", values)


def _refuse_dates(table: dict[Any, Any]) -> None:
    for name, column in table.items():
        if _holds_dates(column):
            raise InputError(
                f"Column {name!r} holds dates or times, which are neither numbers nor categories. "
                "Replace it by numbers, such as days since a date, or drop the column."
            )


def _holds_dates(column: Any) -> bool:
    kind = getattr(column, "dtype", None)
    if getattr(kind, "kind", "O") in "Mm" or str(kind).startswith("period"):
        return True
    return len(column) > 0 and isinstance(next(iter(column)), date | time | timedelta)


def _numbers(estimator: BaseEstimator, X: Any, *, reset: bool) -> Tensor:
    try:
        array = _checked(estimator, X, reset=reset)
    except ValueError as error:
        if "could not convert string" not in str(error):
            raise
        raise InputError(
            f"X is an array with text in it ({error}). Hand in a pandas frame, of which columns of "
            "text are taken as categories, or encode the text as numbers."
        ) from None
    _refuse_bad_values(array, list(getattr(X, "columns", ())))
    if scipy.sparse.issparse(array):
        return rows_from_scipy(scipy.sparse.csr_array(array, dtype=np.float32))
    # Through a copy: an array that may not be written to makes no tensor.
    return torch.from_numpy(np.array(array, dtype=np.float32))


def _checked(estimator: BaseEstimator, X: Any, *, reset: bool) -> Any:  # (N, F)
    return validate_data(
        estimator,
        X,
        reset=reset,
        accept_sparse="csr",
        dtype=[np.float32, np.float64],
        # Said here with the place and the cure.
        ensure_all_finite=False,
        ensure_min_samples=2 if reset else 1,
    )


def _refuse_bad_values(array: Any, names: list[Any]) -> None:  # (N, F)
    """Refuse values that are missing, infinite or too large for 32 bits, with their place."""
    values = array.data if scipy.sparse.issparse(array) else array
    bad = ~(np.abs(values) <= np.finfo(np.float32).max)
    if not bad.any():
        return
    if scipy.sparse.issparse(array):
        place = int(np.flatnonzero(bad)[0])
        row = int(np.searchsorted(array.indptr, place, side="right")) - 1
        column, value = int(array.indices[place]), values[place]
    else:
        row, column = (int(part) for part in np.argwhere(bad)[0])
        value = values[row, column]
    name = repr(names[column]) if names else column
    where = f"the first in row {row}, column {name}"
    count = int(bad.sum())
    if np.isnan(value):
        raise InputError(
            f"X has {count} values that are NaN or infinite, {where}. Fill in what is missing, for "
            "instance with sklearn.impute.SimpleImputer, or drop the column."
        )
    raise InputError(
        f"X has {count} values that are NaN, infinite (inf) or too large, {where}: {value:g}. "
        "Correct them, or divide the column."
    )
