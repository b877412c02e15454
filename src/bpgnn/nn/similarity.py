"""Matrices of similarities, as promises: products and sums, hardly ever the entries."""

from abc import ABC, abstractmethod
from functools import cached_property
from typing import final

import torch
from torch import Tensor
from typing_extensions import override

from bpgnn.nn.factor import FeatureGram

_BLOCK_ENTRIES = 1 << 20


def row_blocks(num_rows: int, num_columns: int) -> list[tuple[int, int]]:
    """Cut a matrix into runs of rows that fit the processor's cache."""
    size = max(16, _BLOCK_ENTRIES // max(num_columns, 1))
    return [(start, min(start + size, num_rows)) for start in range(0, num_rows, size)]


class Similarity(ABC):
    """Stand for a matrix S of similarities, shape (N, M), and all that is asked of it."""

    shape: tuple[int, int]

    @abstractmethod
    def times(self, states: Tensor) -> Tensor:  # (M, D) -> (N, D)
        """Multiply, S H; differentiable in both."""

    @abstractmethod
    def transposed_times(self, states: Tensor) -> Tensor:  # (N, D) -> (M, D)
        """Multiply the transposed matrix; differentiable in both."""

    @abstractmethod
    def alignment(self, gram: FeatureGram) -> Tensor:  # ()
        r"""Compare with the products of features, :math:`\sum_{ij} S_{ij} G_{ij}`."""

    @abstractmethod
    def square(self) -> Tensor:  # ()
        r"""Add up the squares, :math:`\|S\|_F^2`."""

    @abstractmethod
    def through(self, weight: Tensor) -> "Similarity":  # (N,) -> (M, M)
        r"""Join columns that are similar to the same rows, :math:`S^\top \mathrm{diag}(w) S`."""

    @abstractmethod
    def rows(self, start: int, stop: int) -> Tensor:  # (B, M)
        """Return some rows, without gradients."""

    @cached_property
    def row_sums(self) -> Tensor:  # (N,)
        """Add up each row."""
        return self.times(self._ones(self.shape[1])).squeeze(1)

    @cached_property
    def column_sums(self) -> Tensor:  # (M,)
        """Add up each column."""
        return self.transposed_times(self._ones(self.shape[0])).squeeze(1)

    @abstractmethod
    def _ones(self, number: int) -> Tensor:  # (number, 1)
        """Make a column of ones of the right kind."""


@final
class DenseSimilarity(Similarity):
    """Hold all entries; for small matrices.

    Args:
        matrix: The entries, shape (N, M).
    """

    def __init__(self, matrix: Tensor) -> None:
        self.matrix = matrix
        self.shape = (matrix.size(0), matrix.size(1))

    @override
    def times(self, states: Tensor) -> Tensor:
        return self.matrix @ states

    @override
    def transposed_times(self, states: Tensor) -> Tensor:
        return self.matrix.T @ states

    @override
    def alignment(self, gram: FeatureGram) -> Tensor:
        return (self.matrix * gram.rows(0, self.shape[0])).sum()

    @override
    def square(self) -> Tensor:
        return self.matrix.square().sum()

    @override
    def through(self, weight: Tensor) -> Similarity:
        return DenseSimilarity(self.matrix.T @ (weight.unsqueeze(1) * self.matrix))

    @override
    def rows(self, start: int, stop: int) -> Tensor:
        return self.matrix.detach()[start:stop]

    @override
    def _ones(self, number: int) -> Tensor:
        return self.matrix.new_ones(number, 1)


@final
class FactoredSimilarity(Similarity):
    r"""Hold a product :math:`S = L R^\top` by its factors, so that all is linear in N and M.

    Args:
        left: L, shape (N, D).
        right: R, shape (M, D).

    Example:
        >>> FactoredSimilarity(torch.eye(2), torch.tensor([[1.0, 2.0]])).row_sums
        tensor([1., 2.])
    """

    def __init__(self, left: Tensor, right: Tensor) -> None:
        self.left, self.right = left, right
        self.shape = (left.size(0), right.size(0))

    @override
    def times(self, states: Tensor) -> Tensor:
        return self.left @ (self.right.T @ states)

    @override
    def transposed_times(self, states: Tensor) -> Tensor:
        return self.right @ (self.left.T @ states)

    @override
    def alignment(self, gram: FeatureGram) -> Tensor:
        left = gram.transposed_times(self.left)
        return (
            left * (left if self.left is self.right else gram.transposed_times(self.right))
        ).sum()

    @override
    def square(self) -> Tensor:
        return inner_product(self, self)

    @override
    def through(self, weight: Tensor) -> Similarity:
        middle = self.left.T @ (weight.unsqueeze(1) * self.left)
        return FactoredSimilarity(self.right @ middle, self.right)

    @override
    def rows(self, start: int, stop: int) -> Tensor:
        return self.left.detach()[start:stop] @ self.right.detach().T

    @override
    def _ones(self, number: int) -> Tensor:
        return self.left.new_ones(number, 1)


def inner_product(one: FactoredSimilarity, other: FactoredSimilarity) -> Tensor:  # ()
    r"""Add up the products of entries, :math:`\sum_{ij} S_{ij} S'_{ij}`, by the factors."""
    return ((one.left.T @ other.left) * (one.right.T @ other.right)).sum()


@torch.no_grad()
def squared_distance(one: Similarity, other: Similarity) -> float:
    r"""Measure how far two matrices are apart, :math:`\|S - S'\|_F^2`.

    Example:
        >>> squared_distance(DenseSimilarity(torch.eye(2)), DenseSimilarity(torch.zeros(2, 2)))
        2.0
    """
    if isinstance(one, FactoredSimilarity) and isinstance(other, FactoredSimilarity):
        # In float32 the difference of nearly equal numbers would be lost.
        one, other = _in_double(one), _in_double(other)
        mixed = inner_product(one, other)
        return float((one.square() + other.square() - 2 * mixed).clamp(min=0))
    differences = (
        (one.rows(*block) - other.rows(*block)).flatten() for block in row_blocks(*one.shape)
    )
    return sum(float(torch.dot(difference, difference)) for difference in differences)


@torch.no_grad()
def squared_norm(one: Similarity) -> float:
    r"""Measure :math:`\|S\|_F^2`, for a test and not for a loss."""
    return float(one.square())


def _in_double(one: FactoredSimilarity) -> FactoredSimilarity:
    return FactoredSimilarity(one.left.double(), one.right.double())
