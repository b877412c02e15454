"""Sparse matrices in torch's CSR layout."""

import warnings

import torch
from torch import Tensor


def csr_matrix(
    pointer: Tensor,  # (N + 1,)
    column: Tensor,  # (M,)
    value: Tensor,  # (M,)
    shape: tuple[int, int],
) -> Tensor:  # (N, F)
    """Make a sparse matrix from the runs of its rows, without torch's word that it is beta.

    Example:
        >>> csr_matrix(torch.tensor([0, 1, 1]), torch.tensor([1]), torch.ones(1), (2, 2)).to_dense()
        tensor([[0., 1.],
                [0., 0.]])
    """
    if column.numel() < 2**31 and max(shape) < 2**31:
        # Measured: products with 32-bit indices take half the time of those with 64.
        pointer, column = pointer.int(), column.int()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")
        return torch.sparse_csr_tensor(pointer, column, value, shape, check_invariants=False)
