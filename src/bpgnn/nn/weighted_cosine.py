"""How similar vectors are, seen from several learned perspectives."""

from typing import final

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from typing_extensions import override

from bpgnn.nn.factor import (
    DenseFactor,
    Factor,
    SparseFactor,
    chosen_entries,
    chosen_rows,
    feature_factor,
    is_nonnegative,
    rows_of_entries,
)
from bpgnn.nn.similarity import FactoredSimilarity, Similarity
from bpgnn.nn.sparse import Features, SparseMatrix, matmul
from bpgnn.nn.thresholded import ThresholdedSimilarity, thresholded


@final
class WeightedCosine(nn.Module):
    r"""Learn similarities as "Iterative Deep Graph Learning for Graph Neural Networks" does.

    .. math:: s_{ij} = \frac{1}{m} \sum_{p=1}^m \cos(w_p \odot v_i, w_p \odot v_j)

    where it is above a threshold, and 0 elsewhere. Since the mean of cosines is one inner
    product, of all perspectives side by side, vectors without negative entries need no
    threshold of 0, and their similarities stay a product of narrow factors.

    Args:
        in_channels: Width F of the vectors.
        num_perspectives: Number m of weight vectors.
        epsilon: The threshold, 0 or more.
    """

    def __init__(self, in_channels: int, num_perspectives: int, epsilon: float) -> None:
        """Draw the weights by Glorot's rule."""
        super().__init__()
        self.epsilon = epsilon
        self.weight = nn.Parameter(
            nn.init.xavier_uniform_(torch.empty(num_perspectives, in_channels))
        )

    @override
    def forward(self, vectors: Features, columns: Tensor | None = None) -> Similarity:
        """Compare every vector with every other, or with those that `columns` names.

        Args:
            vectors: Dense or sparse vectors, shape (N, F).
            columns: Numbers of the vectors to compare with, shape (M,), or None for all.

        Returns:
            Similarities, shape (N, M).
        """
        left, right = self._factors(vectors, columns)
        if self.epsilon == 0 and isinstance(left, DenseFactor) and is_nonnegative(vectors):
            return FactoredSimilarity(left.tensor, right.tensor)
        return thresholded(left, right, self.epsilon)

    def entries(self, vectors: Features, columns: Tensor | None = None) -> ThresholdedSimilarity:
        """Compare as `forward` does, by entries, which can be dropped."""
        return thresholded(*self._factors(vectors, columns), self.epsilon)

    def _factors(self, vectors: Features, columns: Tensor | None) -> tuple[Factor, Factor]:
        left = perspectives(vectors, self.weight)
        return left, left if columns is None else _chosen(left, columns)


def perspectives(vectors: Features, weight: Tensor) -> Factor:  # (N, F), (m, F)
    r"""Weigh and normalise vectors, so that inner products are mean cosines.

    .. math:: z_i = \frac{1}{\sqrt m} \Big[ \frac{w_p \odot v_i}{\|w_p \odot v_i\|} \Big]_{p=1}^m

    Example:
        >>> perspectives(torch.tensor([[3.0, 4.0]]), torch.ones(1, 2)).tensor
        tensor([[0.6000, 0.8000]])
    """
    vectors = _spread(vectors)
    scale = weight.size(0) ** -0.5
    if isinstance(vectors, Tensor):
        weighed = F.normalize(vectors.unsqueeze(1) * weight, dim=-1) * scale
        return DenseFactor(weighed.flatten(1))
    squares = vectors.with_value(vectors.value.square())
    # As in F.normalize, a vector of zeros stays one, and its gradient is zero.
    norm = matmul(squares, weight.square().T).clamp(min=1e-24).sqrt()  # (N, m)
    weighed = vectors.value.unsqueeze(1) * weight.T[vectors.column]  # (E, m)
    return SparseFactor(vectors, weighed * (scale / norm)[rows_of_entries(vectors)])


def _spread(vectors: Features) -> Features:
    """Keep sparse vectors only where the compiled loops run."""
    if isinstance(vectors, SparseMatrix):
        factor = feature_factor(vectors)
        return factor.tensor if isinstance(factor, DenseFactor) else vectors
    return vectors


def _chosen(factor: Factor, index: Tensor) -> Factor:  # (N, F), (M,)
    if isinstance(factor, SparseFactor):
        pattern = chosen_rows(factor.pattern, index)
        entries, _ = chosen_entries(factor.pattern, index)
        return SparseFactor(pattern, factor.tensor[entries])  # pyright: ignore[reportArgumentType]
    return DenseFactor(factor.tensor[index])
