"""Sparse matrices in torch's CSR layout."""

import warnings

import torch
import torch.nn.functional as F
from torch import Tensor

# Columns at a time: of more, the rows that are gathered do not stay in a processor's cache.
# Measured on PubMed, transposed features times 128 columns: 39 milliseconds against 139.
_COLUMNS = 32


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


def times(matrix: Tensor, states: Tensor) -> Tensor:  # (N, M), (M, D) -> (N, D)
    """Multiply a sparse matrix by a dense one, a few columns at a time.

    Example:
        >>> eye = csr_matrix(torch.tensor([0, 1, 2]), torch.tensor([0, 1]), torch.ones(2), (2, 2))
        >>> times(eye, torch.tensor([[1.0], [2.0]]))
        tensor([[1.],
                [2.]])
    """
    if states.size(1) <= _COLUMNS or states.device.type != "cpu":
        return matrix @ states.contiguous()
    parts = states.split(_COLUMNS, dim=1)
    return torch.cat([matrix @ part.contiguous() for part in parts], dim=1)


def products_at(
    pointer: Tensor,  # (N + 1,)
    column: Tensor,  # (M,)
    left: Tensor,  # (N, D)
    right: Tensor,  # (C, D)
) -> Tensor:  # (M,)
    """Multiply rows of two matrices where a sparse matrix has entries.

    Example:
        >>> left, right = torch.tensor([[3.0], [4.0]]), torch.tensor([[1.0], [2.0]])
        >>> products_at(torch.tensor([0, 1, 1]), torch.tensor([1]), left, right)
        tensor([6.])
    """
    if column.numel() > left.size(0) * right.size(0):
        # Where entries stand several times, torch would have no more of them than a full matrix.
        row = torch.repeat_interleave(pointer.diff())
        return (left[row] * right[column]).sum(-1)
    # Measured: with a width that is no multiple of eight, torch takes nine times as long.
    rest = (0, -left.size(1) % 8)
    left, right = F.pad(left, rest), F.pad(right, rest)
    pattern = csr_matrix(
        pointer, column, left.new_zeros(column.numel()), (left.size(0), right.size(0))
    )
    return torch.sparse.sampled_addmm(pattern, left, right.T).values()
