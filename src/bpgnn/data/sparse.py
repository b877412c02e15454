"""Sparse features between numpy, scipy and torch."""

from typing import cast

import numpy as np
import scipy.sparse
import torch
from torch import Tensor

from bpgnn.matrix import csr_matrix


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
    return csr_matrix(
        torch.from_numpy(csr.indptr.astype(np.int64)),
        torch.from_numpy(csr.indices.astype(np.int64)),
        torch.from_numpy(csr.data.astype(np.float32)),
        shape_of(csr),
    )


def rows_of(features: Tensor) -> Tensor:  # (N, F)
    """Bring sparse features of any layout to CSR; dense ones stay as they are.

    Example:
        >>> rows_of(torch.eye(2).to_sparse_csc()).layout
        torch.sparse_csr
    """
    if features.layout in (torch.strided, torch.sparse_csr) or features.dim() != 2:
        return features
    features = features.to_sparse_coo().coalesce()
    row, column = features.indices()
    pointer = torch.zeros(features.size(0) + 1, dtype=torch.long, device=row.device)
    pointer[1:] = torch.bincount(row, minlength=features.size(0)).cumsum(0)
    return csr_matrix(pointer, column, features.values(), (features.size(0), features.size(1)))


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
