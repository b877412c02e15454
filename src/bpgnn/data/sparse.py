"""Sparse features between numpy, scipy and torch."""

import warnings
from typing import cast

import numpy as np
import scipy.sparse
import torch
from torch import Tensor


def sparse_rows(pointer: Tensor, columns: Tensor, values: Tensor, shape: tuple[int, int]) -> Tensor:
    """Make a sparse CSR tensor, without torch's notice that its support is young.

    Args:
        pointer: Where each row begins and ends, shape (N + 1,).
        columns: The column of each value, shape (values,).
        values: The values row by row, shape (values,).
        shape: Rows and columns, (N, F).

    Returns:
        The matrix, shape (N, F).

    Example:
        >>> pointer, columns = torch.tensor([0, 1, 2]), torch.tensor([1, 0])
        >>> sparse_rows(pointer, columns, torch.tensor([3.0, 4.0]), (2, 2)).to_dense()
        tensor([[0., 3.],
                [4., 0.]])
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sparse CSR tensor support is in beta", UserWarning)
        return torch.sparse_csr_tensor(pointer, columns, values, shape, check_invariants=False)


def shape_of(matrix: scipy.sparse.csr_array) -> tuple[int, int]:
    """Return the numbers of rows and columns, which scipy's types leave open.

    Example:
        >>> shape_of(scipy.sparse.csr_array((2, 2)))
        (2, 2)
    """
    return cast("tuple[int, int]", matrix.shape)


def rows_from_scipy(matrix: scipy.sparse.sparray | scipy.sparse.spmatrix) -> Tensor:  # (N, F)
    """Turn a scipy matrix into a sparse CSR tensor of 32-bit floats.

    Example:
        >>> rows_from_scipy(scipy.sparse.eye_array(2)).to_dense()
        tensor([[1., 0.],
                [0., 1.]])
    """
    csr = scipy.sparse.csr_array(matrix)
    csr.sum_duplicates()
    return sparse_rows(
        torch.from_numpy(csr.indptr.astype(np.int64)),
        torch.from_numpy(csr.indices.astype(np.int64)),
        torch.from_numpy(csr.data.astype(np.float32)),
        shape_of(csr),
    )


def rows_to_scipy(features: Tensor) -> scipy.sparse.csr_array:  # (N, F)
    """Turn a sparse CSR tensor into a scipy matrix.

    Example:
        >>> rows_to_scipy(rows_from_scipy(scipy.sparse.eye_array(2))).nnz
        2
    """
    return scipy.sparse.csr_array(
        (
            features.values().detach().cpu().numpy(),
            features.col_indices().cpu().numpy(),
            features.crow_indices().cpu().numpy(),
        ),
        shape=tuple(features.shape),
    )
