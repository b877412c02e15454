"""Feature matrices as people hand them in: arrays, sparse matrices, frames."""

from typing import Any

import numpy as np
import scipy.sparse
import torch
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data
from torch import Tensor

from bpgnn.data.files.columns import Columns, encode, learn_columns
from bpgnn.data.sparse import rows_from_scipy


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
        columns = learn_columns(dict(X.items()))
        return encode(columns, dict(X.items())), columns
    return _numbers(estimator, X, reset=True), None


def read_new_features(estimator: BaseEstimator, X: Any, columns: Columns | None) -> Tensor:
    """Read the X of rows that come later, by the columns of the training."""
    if columns is None:
        return _numbers(estimator, X, reset=False)
    if not hasattr(X, "items"):
        raise TypeError("X must be a frame with the columns of the training.")
    validate_data(estimator, X, reset=False, skip_check_array=True)
    return encode(columns, dict(X.items()))


def is_mixed(X: Any) -> bool:
    """Tell whether a frame has columns that are not numbers."""
    if not (hasattr(X, "columns") and hasattr(X, "items")):
        return False
    kinds = [getattr(np.asarray(column).dtype, "kind", "O") for _, column in X.items()]
    return any(kind not in "iufb" for kind in kinds)


def row_names(X: Any) -> np.ndarray | None:
    """Return the index of a frame, by which people know its rows."""
    index = getattr(X, "index", None)
    return None if index is None or callable(index) else np.asarray(index)


def _numbers(estimator: BaseEstimator, X: Any, *, reset: bool) -> Tensor:
    array = validate_data(
        estimator,
        X,
        reset=reset,
        accept_sparse="csr",
        dtype=[np.float32, np.float64],
        ensure_min_samples=2 if reset else 1,
    )
    if scipy.sparse.issparse(array):
        return rows_from_scipy(scipy.sparse.csr_array(array, dtype=np.float32))
    # Through a copy: an array that may not be written to makes no tensor.
    return torch.from_numpy(np.array(array, dtype=np.float32))
