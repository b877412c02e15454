"""Products with sparse matrices whose places are fixed and whose values are learned."""

from dataclasses import dataclass
from functools import cached_property
from typing import Self, final

import torch
from torch import Tensor
from torch.autograd.function import FunctionCtx

from bpgnn.matrix import csr_matrix
from bpgnn.nn.sparse import SparseMatrix


@final
@dataclass(frozen=True, eq=False)
class Pattern:
    """Hold the places of a sparse matrix, row after row.

    Args:
        pointer: Where each row begins, shape (N + 1,).
        column: Column of each place, shape (E,).
        shape: Rows and columns, (N, M).

    Example:
        >>> Pattern.from_places(torch.tensor([1, 0]), torch.tensor([0, 2]), (2, 3)).column
        tensor([2, 0])
    """

    pointer: Tensor
    column: Tensor
    shape: tuple[int, int]

    @classmethod
    def from_places(cls, row: Tensor, column: Tensor, shape: tuple[int, int]) -> Self:
        """Sort distinct places by row and then column."""
        key = (row * shape[1] + column).sort().values
        return cls.from_keys(key, shape)

    @classmethod
    def from_keys(cls, key: Tensor, shape: tuple[int, int]) -> Self:  # (E,)
        """Read distinct sorted numbers, each row times M plus column."""
        row = torch.div(key, max(shape[1], 1), rounding_mode="floor")
        count = torch.bincount(row, minlength=shape[0])
        pointer = torch.cat([count.new_zeros(1), count.cumsum(0)])
        return cls(pointer, key - row * shape[1], shape)

    @classmethod
    def from_matrix(cls, matrix: SparseMatrix) -> Self:
        """Take the places of a sparse matrix, which knows those of its transpose."""
        pattern = cls(matrix.pointer, matrix.column, matrix.shape)
        turned = cls(matrix.column_pointer, matrix.row, (matrix.shape[1], matrix.shape[0]))
        pattern.__dict__["turned"] = (turned, matrix.order)
        return pattern

    @cached_property
    def row(self) -> Tensor:  # (E,)
        """Return the row of each place."""
        rows = torch.arange(self.shape[0], device=self.column.device)
        return torch.repeat_interleave(rows, self.pointer.diff())

    @cached_property
    def turned(self) -> "tuple[Pattern, Tensor]":  # a pattern, (E,)
        """Transpose; return that pattern and which place each of its places was."""
        order = torch.argsort(self.column, stable=True)
        count = torch.bincount(self.column, minlength=self.shape[1])
        pointer = torch.cat([count.new_zeros(1), count.cumsum(0)])
        return Pattern(pointer, self.row[order], (self.shape[1], self.shape[0])), order

    def kept(self, keep: Tensor) -> "Pattern":  # (E,)
        """Leave places out; the transpose, too, is that of this pattern without them."""
        fewer, (whole, order) = _without(self, keep), self.turned
        staying = order[keep[order]]
        # In the place of a cached value: sorting the places again would cost more than this.
        fewer.__dict__["turned"] = (_without(whole, keep[order]), keep.cumsum(0)[staying] - 1)
        return fewer

    def matrix(self, value: Tensor) -> Tensor:  # (E,) -> (N, M)
        """Put values in their places."""
        return csr_matrix(self.pointer, self.column, value, self.shape)


def _without(pattern: Pattern, keep: Tensor) -> Pattern:  # (E,)
    before = torch.cat([pattern.pointer.new_zeros(1), keep.cumsum(0)])
    return Pattern(before[pattern.pointer], pattern.column[keep], pattern.shape)


@final
@dataclass(frozen=True, eq=False)
class SparseValues:
    """Hold a sparse matrix whose values may be learned.

    Args:
        pattern: Their places, of N by M.
        value: The values, shape (E,).
    """

    pattern: Pattern
    value: Tensor

    def to_dense(self) -> Tensor:  # (N, M)
        """Write all entries down, for small matrices and tests."""
        dense = self.value.new_zeros(self.pattern.shape)
        return dense.index_put((self.pattern.row, self.pattern.column), self.value)


class _Product(torch.autograd.Function):
    """Multiply sparse by dense; the gradient of the values is made at their places only."""

    @staticmethod
    def forward(ctx: FunctionCtx, value: Tensor, dense: Tensor, pattern: Pattern) -> Tensor:
        ctx.pattern = pattern  # pyright: ignore[reportAttributeAccessIssue]
        ctx.save_for_backward(value, dense)
        return _multiplied(pattern.matrix(value), dense)

    @staticmethod
    def backward(ctx: FunctionCtx, gradient: Tensor) -> tuple[Tensor | None, Tensor | None, None]:  # pyright: ignore[reportIncompatibleMethodOverride]
        pattern: Pattern = ctx.pattern  # pyright: ignore[reportAttributeAccessIssue]
        value, dense = ctx.saved_tensors  # pyright: ignore[reportAttributeAccessIssue]
        needed = ctx.needs_input_grad  # pyright: ignore[reportAttributeAccessIssue]
        gradient = gradient.contiguous()
        to_value = product_at(pattern, gradient, dense) if needed[0] else None
        turned, order = pattern.turned
        to_dense = sparse_product(turned, value[order], gradient) if needed[1] else None
        return to_value, to_dense, None


class _ProductAt(torch.autograd.Function):
    """Multiply dense by dense at some places; its gradients are sparse products."""

    @staticmethod
    def forward(ctx: FunctionCtx, left: Tensor, right: Tensor, pattern: Pattern) -> Tensor:
        ctx.pattern = pattern  # pyright: ignore[reportAttributeAccessIssue]
        ctx.save_for_backward(left, right)
        places = pattern.matrix(left.new_zeros(pattern.column.numel()))
        # Measured: twenty to forty times as quick as gathering both rows of every place.
        return torch.sparse.sampled_addmm(places, left, right.t(), beta=0.0).values()

    @staticmethod
    def backward(ctx: FunctionCtx, gradient: Tensor) -> tuple[Tensor | None, Tensor | None, None]:  # pyright: ignore[reportIncompatibleMethodOverride]
        pattern: Pattern = ctx.pattern  # pyright: ignore[reportAttributeAccessIssue]
        left, right = ctx.saved_tensors  # pyright: ignore[reportAttributeAccessIssue]
        needed = ctx.needs_input_grad  # pyright: ignore[reportAttributeAccessIssue]
        to_left = sparse_product(pattern, gradient, right) if needed[0] else None
        turned, order = pattern.turned
        to_right = sparse_product(turned, gradient[order], left) if needed[1] else None
        return to_left, to_right, None


def _multiplied(matrix: Tensor, dense: Tensor) -> Tensor:  # (N, M), (M, D) -> (N, D)
    # Measured: torch's own kernel takes half the time of the library it hands `@` to, but for
    # few columns twice.
    if dense.device.type == "cpu" and dense.size(1) >= 64:
        return torch.sparse.mm(matrix, dense, "sum")
    return matrix @ dense


def sparse_product(pattern: Pattern, value: Tensor, dense: Tensor) -> Tensor:
    """Multiply the sparse matrix of some values by a dense one; differentiable in both.

    Args:
        pattern: The places of the sparse matrix, N by M.
        value: Its values, shape (E,).
        dense: A dense matrix, shape (M, D).

    Returns:
        The product, shape (N, D).

    Example:
        >>> corner = Pattern(torch.tensor([0, 1, 1]), torch.tensor([1]), (2, 2))
        >>> sparse_product(corner, torch.tensor([0.5]), torch.tensor([[1.0], [2.0]]))
        tensor([[1.],
                [0.]])
    """
    return _Product.apply(value, dense, pattern)  # pyright: ignore[reportReturnType]


def product_at(pattern: Pattern, left: Tensor, right: Tensor) -> Tensor:  # (N, D), (M, D) -> (E,)
    r"""Compute the entries :math:`\sum_d l_{id} r_{jd}` at some places only.

    Example:
        >>> corner = Pattern(torch.tensor([0, 1, 1]), torch.tensor([1]), (2, 2))
        >>> product_at(corner, torch.tensor([[3.0], [0.0]]), torch.tensor([[0.0], [2.0]]))
        tensor([6.])
    """
    return _ProductAt.apply(left.contiguous(), right.contiguous(), pattern)  # pyright: ignore[reportReturnType]
