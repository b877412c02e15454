"""Rows of vectors, dense or sparse, whose inner products with others make a matrix."""

from abc import ABC, abstractmethod
from typing import Any, Self, cast, final

import numba
import torch
from torch import Tensor
from typing_extensions import override

from bpgnn.nn.sparse import Features, SparseMatrix, matmul, values_of

DENSE_SPEED = 30
"""How many multiplications a dense product does while a sparse one does one, measured."""


class Factor(ABC):
    """Hold N vectors z; two factors L and R stand for the matrix of products L Rᵀ.

    Args:
        tensor: What is learned: the vectors, or the values that sparse ones store.
    """

    tensor: Tensor

    @property
    @abstractmethod
    def num_rows(self) -> int:
        """Count the vectors, N."""

    @abstractmethod
    def detached(self) -> Self:
        """Return the same vectors without their history."""

    @abstractmethod
    def products(self, right: Any, start: int, stop: int) -> Tensor:  # (B, M)
        """Multiply some rows with all rows of another factor of the same kind."""

    @abstractmethod
    def add_gradients(
        self, right: Any, gradient: Tensor, start: int, to_left: Tensor, to_right: Tensor
    ) -> None:
        """Add what a gradient (B, M) of the products from row `start` on means for both."""


@final
class DenseFactor(Factor):
    """Hold dense vectors.

    Args:
        tensor: The vectors, shape (N, D).
    """

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor

    @property
    @override
    def num_rows(self) -> int:
        return self.tensor.size(0)

    @override
    def detached(self) -> "DenseFactor":
        return DenseFactor(self.tensor.detach())

    @override
    def products(self, right: Any, start: int, stop: int) -> Tensor:
        return self.tensor[start:stop] @ right.tensor.T

    @override
    def add_gradients(
        self, right: Any, gradient: Tensor, start: int, to_left: Tensor, to_right: Tensor
    ) -> None:
        stop = start + gradient.size(0)
        to_left[start:stop].addmm_(gradient, right.tensor)
        to_right.addmm_(gradient.T, self.tensor[start:stop])


@final
class SparseFactor(Factor):
    """Hold sparse vectors that store m values at each place of one pattern.

    Only places that two vectors share are met when they are multiplied: for bags of words a
    hundredth of the work of dense products or less.

    Args:
        pattern: The places, shape (N, F).
        tensor: The values at each of them, in the pattern's order by rows, shape (E, m).
    """

    def __init__(self, pattern: SparseMatrix, tensor: Tensor) -> None:
        self.pattern, self.tensor = pattern, tensor

    @property
    @override
    def num_rows(self) -> int:
        return self.pattern.size(0)

    @override
    def detached(self) -> "SparseFactor":
        return SparseFactor(self.pattern, self.tensor.detach())

    @override
    def products(self, right: Any, start: int, stop: int) -> Tensor:
        found = self.tensor.new_zeros(stop - start, right.num_rows)
        arguments = [*self._arrays(right), start, stop, found.numpy()]
        _add_products(*arguments)
        return found

    @override
    def add_gradients(
        self, right: Any, gradient: Tensor, start: int, to_left: Tensor, to_right: Tensor
    ) -> None:
        by_column = torch.zeros_like(to_right)
        found = (gradient.contiguous().numpy(), to_left.numpy(), by_column.numpy())
        arguments = [*self._arrays(right), start, start + gradient.size(0), *found]
        _add_gradients(*arguments)
        to_right.index_add_(0, right.pattern.order, by_column)

    def _arrays(self, right: "SparseFactor") -> list[Any]:
        mine, other = self.pattern, right.pattern
        by_column = right.tensor[other.order]
        tensors = (mine.pointer, mine.column, self.tensor, other.column_pointer, other.row)
        return [tensor.contiguous().numpy() for tensor in (*tensors, by_column)]


@numba.njit(cache=True, nogil=True)
def _add_products(
    pointer: Any,
    column: Any,
    left: Any,
    column_pointer: Any,
    row: Any,
    right: Any,
    start: int,
    stop: int,
    found: Any,
) -> None:
    for i in range(start, stop):
        for entry in range(pointer[i], pointer[i + 1]):
            place = column[entry]
            for other in range(column_pointer[place], column_pointer[place + 1]):
                product = left[entry, 0] * right[other, 0]
                for channel in range(1, left.shape[1]):
                    product += left[entry, channel] * right[other, channel]
                found[i - start, row[other]] += product


@numba.njit(cache=True, nogil=True)
def _add_gradients(
    pointer: Any,
    column: Any,
    left: Any,
    column_pointer: Any,
    row: Any,
    right: Any,
    start: int,
    stop: int,
    gradient: Any,
    to_left: Any,
    to_right: Any,
) -> None:
    for i in range(start, stop):
        for entry in range(pointer[i], pointer[i + 1]):
            place = column[entry]
            for other in range(column_pointer[place], column_pointer[place + 1]):
                slope = gradient[i - start, row[other]]
                for channel in range(left.shape[1]):
                    to_left[entry, channel] += slope * right[other, channel]
                    to_right[other, channel] += slope * left[entry, channel]


@final
class FeatureGram:
    r"""Multiply features with each other, :math:`G_{ij} = x_i^\top x_j`, a few rows at a time.

    Args:
        features: Dense or sparse features, shape (N, F).
        stored: Whether to keep the whole matrix.

    Example:
        >>> FeatureGram(torch.eye(2)).rows(0, 1)
        tensor([[1., 0.]])
    """

    def __init__(self, features: Features, *, stored: bool = False) -> None:
        self.features = features
        self.factor = feature_factor(features)
        self.stored = None
        if stored:
            self.stored = self.rows(0, self.factor.num_rows)

    def rows(self, start: int, stop: int) -> Tensor:  # (B, N)
        """Return some rows of G."""
        if self.stored is not None:
            return self.stored[start:stop]
        return self.factor.products(self.factor, start, stop)

    def squared_norms(self) -> Tensor:  # (N,)
        """Return the diagonal of G."""
        features = self.features
        if isinstance(features, SparseMatrix):
            squares = features.with_value(features.value.square())
            return matmul(squares, features.value.new_ones(features.size(1), 1)).squeeze(1)
        return features.square().sum(1)

    def transposed_times(self, states: Tensor) -> Tensor:  # (N, D) -> (F, D)
        """Multiply the transposed features with states; differentiable in these."""
        if isinstance(self.features, SparseMatrix):
            return matmul(transposed(self.features), states)
        return self.features.T @ states


def feature_factor(features: Features) -> Factor:  # (N, F)
    """Take features as vectors; sparse ones stay sparse where the compiled loops pay."""
    if isinstance(features, SparseMatrix):
        crowded = is_crowded(features.value.numel(), *features.shape)
        if features.value.device.type == "cpu" and not crowded:
            return SparseFactor(features, features.value.unsqueeze(1))
        features = to_dense(features)
    return DenseFactor(features)


def is_crowded(num_values: int, num_rows: int, width: int) -> bool:
    """Tell whether rows share so many places that dense products of them are faster.

    Example:
        >>> is_crowded(num_values=500, num_rows=100, width=10)
        True
    """
    share = num_values / max(1, num_rows * width)
    return DENSE_SPEED * share**2 > 1


def transposed(matrix: SparseMatrix) -> SparseMatrix:
    """Swap rows and columns.

    Example:
        >>> matrix = SparseMatrix.from_csr(torch.tensor([[0.0, 2.0]]).to_sparse_csr())
        >>> to_dense(transposed(matrix))
        tensor([[0.],
                [2.]])
    """
    return SparseMatrix(
        matrix.column_pointer,
        matrix.row,
        matrix.value[matrix.order],
        (matrix.shape[1], matrix.shape[0]),
        matrix.pointer,
        matrix.column,
        torch.argsort(matrix.order),
    )


def to_dense(matrix: SparseMatrix) -> Tensor:  # (N, F)
    """Write all entries out."""
    dense = matrix.value.new_zeros(matrix.shape)
    dense[rows_of_entries(matrix), matrix.column] = matrix.value
    return dense


def rows_of_entries(matrix: SparseMatrix) -> Tensor:  # (E,)
    """Name the row of each entry, in the order by rows."""
    rows = torch.arange(matrix.size(0), device=matrix.column.device)
    return torch.repeat_interleave(rows, matrix.pointer.diff())


def chosen_rows(features: Features, index: Tensor) -> Features:  # (N, F), (B,) -> (B, F)
    """Take some rows of dense or sparse features.

    Example:
        >>> chosen_rows(torch.eye(2), torch.tensor([1]))
        tensor([[0., 1.]])
    """
    if isinstance(features, Tensor):
        return features[index]
    entries, pointer = chosen_entries(features, index)
    return _from_rows(features, pointer, entries)


def chosen_entries(matrix: SparseMatrix, index: Tensor) -> tuple[Tensor, Tensor]:  # (E,), (B + 1,)
    """List the entries of some rows, one row after the other, and where each row begins."""
    count = matrix.pointer.diff()[index]
    pointer = torch.cat([count.new_zeros(1), count.cumsum(0)])
    shift = torch.repeat_interleave(matrix.pointer[index] - pointer[:-1], count)
    return torch.arange(int(pointer[-1]), device=shift.device) + shift, pointer


def without_zeros(features: Features) -> Features:  # (N, F)
    """Leave out the zeros that sparse features store, such as those that were dropped."""
    if isinstance(features, Tensor) or bool((features.value != 0).all()):
        return features
    present = features.value != 0
    before = torch.cat([features.pointer.new_zeros(1), present.long().cumsum(0)])
    return _from_rows(features, before[features.pointer], present.nonzero().squeeze(1))


def _from_rows(matrix: SparseMatrix, pointer: Tensor, entries: Tensor) -> SparseMatrix:
    shape = (pointer.numel() - 1, matrix.shape[1])
    column, value = matrix.column[entries], matrix.value[entries]
    order = torch.argsort(column, stable=True)
    column_pointer = torch.zeros(shape[1] + 1, dtype=torch.long, device=column.device)
    column_pointer[1:] = torch.bincount(column, minlength=shape[1]).cumsum(0)
    bare = SparseMatrix(pointer, column, value, shape, column_pointer, column, order)
    row = rows_of_entries(bare)[order]
    return SparseMatrix(pointer, column, value, shape, column_pointer, row, order)


def is_nonnegative(features: Features) -> bool:
    """Tell whether no entry is below zero."""
    values = values_of(features)
    return values.numel() == 0 or cast(float, values.detach().min().item()) >= 0
