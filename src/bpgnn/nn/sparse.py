"""Products with a constant sparse matrix, such as bag-of-words features."""

from dataclasses import dataclass
from functools import cached_property
from typing import Self, final

import torch
from torch import Tensor
from torch.autograd.function import FunctionCtx

from bpgnn.matrix import csr_matrix, times


@final
@dataclass(frozen=True, eq=False)
class SparseMatrix:
    """Hold a sparse matrix by rows and, for gradients, the order of its entries by columns.

    Args:
        pointer: Where each row begins, shape (N + 1,).
        column: Column of each entry, shape (M,).
        value: Value of each entry, shape (M,).
        shape: Rows and columns.
        column_pointer: Where each column begins, shape (F + 1,).
        row: Row of each entry in column order, shape (M,).
        order: Entries in column order, shape (M,).
    """

    pointer: Tensor
    column: Tensor
    value: Tensor
    shape: tuple[int, int]
    column_pointer: Tensor
    row: Tensor
    order: Tensor

    @classmethod
    def from_csr(cls, matrix: Tensor) -> Self:  # (N, F)
        """Read a matrix in torch's sparse CSR layout."""
        pointer, column = matrix.crow_indices().long(), matrix.col_indices().long()
        rows, columns = matrix.shape
        row = torch.repeat_interleave(
            torch.arange(rows, device=column.device), pointer[1:] - pointer[:-1]
        )
        order = torch.argsort(column, stable=True)
        count = torch.bincount(column, minlength=columns)
        column_pointer = torch.cat([pointer[:1], count.cumsum(0)])
        return cls(
            pointer, column, matrix.values(), (rows, columns), column_pointer, row[order], order
        )

    @cached_property
    def by_rows(self) -> Tensor:  # (N, F)
        """Give the matrix in torch's sparse CSR layout."""
        return csr_matrix(self.pointer, self.column, self.value, self.shape)

    @cached_property
    def by_columns(self) -> Tensor:  # (F, N)
        """Give the transposed matrix in torch's sparse CSR layout."""
        value, shape = self.value.index_select(0, self.order), (self.shape[1], self.shape[0])
        return csr_matrix(self.column_pointer, self.row, value, shape)

    def with_value(self, value: Tensor) -> "SparseMatrix":
        """Return the same pattern with other values."""
        return SparseMatrix(
            self.pointer,
            self.column,
            value,
            self.shape,
            self.column_pointer,
            self.row,
            self.order,
        )

    def size(self, dim: int) -> int:
        """Count rows or columns."""
        return self.shape[dim]

    def to(self, *, device: torch.device | str, dtype: torch.dtype) -> "SparseMatrix":
        """Move the matrix to a device and a precision."""
        parts = (self.column_pointer, self.row, self.order)
        return SparseMatrix(
            self.pointer.to(device),
            self.column.to(device),
            self.value.to(device=device, dtype=dtype),
            self.shape,
            *(part.to(device) for part in parts),
        )


Features = Tensor | SparseMatrix


class _Product(torch.autograd.Function):
    """Multiply sparse, as it is or transposed, by dense; the gradient is the other product.

    So it is made of differentiable parts, and has a gradient, too.
    """

    @staticmethod
    def forward(ctx: FunctionCtx, matrix: SparseMatrix, dense: Tensor, transposed: bool) -> Tensor:  # noqa: FBT001  no keywords there
        ctx.matrix, ctx.transposed = matrix, transposed  # pyright: ignore[reportAttributeAccessIssue]
        return times(matrix.by_columns if transposed else matrix.by_rows, dense)

    @staticmethod
    def backward(ctx: FunctionCtx, gradient: Tensor) -> tuple[None, Tensor, None]:  # pyright: ignore[reportIncompatibleMethodOverride]
        matrix: SparseMatrix = ctx.matrix  # pyright: ignore[reportAttributeAccessIssue]
        transposed: bool = ctx.transposed  # pyright: ignore[reportAttributeAccessIssue]
        return None, _Product.apply(matrix, gradient, not transposed), None  # pyright: ignore[reportReturnType]


def values_of(features: Features) -> Tensor:
    """Return the tensor that holds the values: all entries, or of sparse ones the stored.

    Example:
        >>> values_of(torch.ones(2, 1)).shape
        torch.Size([2, 1])
    """
    return features.value if isinstance(features, SparseMatrix) else features


def matmul(features: Features, weight: Tensor) -> Tensor:  # (N, F), (F, D) -> (N, D)
    """Multiply dense or sparse features by a weight matrix; differentiable in the weight.

    Example:
        >>> matmul(torch.eye(2), torch.ones(2, 1))
        tensor([[1.],
                [1.]])
    """
    if isinstance(features, Tensor):
        return features @ weight
    return _Product.apply(features, weight, False)  # pyright: ignore[reportReturnType]
