"""The two-layer GCN over an adjacency matrix that is itself learned."""

from typing import cast, final

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from typing_extensions import override

from bpgnn.nn.adjacency import Adjacency, propagate, row_sums, thinned
from bpgnn.nn.dropout import dropout
from bpgnn.nn.linear import drawn_uniform
from bpgnn.nn.pattern import Pattern, SparseValues, product_at, sparse_product
from bpgnn.nn.sparse import Features, matmul


@final
class TwoLayerGCN(nn.Module):
    r"""Propagate twice over a given normalised adjacency matrix, whose entries are dropped, too.

    .. math:: \hat A\, (\mathrm{ReLU}(\hat A\, (X W_0 + b_0))\, W_1 + b_1)

    Both layers see the same dropped matrix. Biases are propagated, as SLAPS' authors have it.

    Args:
        in_channels: Width of the features, F.
        hidden: Width between the layers.
        out_channels: Width of the output, C.
        dropout: Share of the hidden layer dropped in training.
        adjacency_dropout: Share of the entries of the matrix dropped in training.
    """

    def __init__(
        self,
        in_channels: int,
        hidden: int,
        out_channels: int,
        *,
        dropout: float,
        adjacency_dropout: float,
    ) -> None:
        """Draw weights and biases as torch's own linear layers do."""
        super().__init__()
        self.dropout, self.adjacency_dropout = dropout, adjacency_dropout
        self.first = drawn_uniform(in_channels, in_channels, hidden)
        self.first_bias = drawn_uniform(in_channels, hidden)
        # By rows of the output, of which `at` needs some only.
        self.second = drawn_uniform(hidden, out_channels, hidden)
        self.second_bias = drawn_uniform(hidden, out_channels)

    @override
    def forward(
        self, features: Features | SparseValues, adjacency: Adjacency, *, generator: torch.Generator
    ) -> Tensor:  # (N, F) -> (N, C)
        """Compute the whole output."""
        hidden, dropped = self._hidden(features, adjacency, generator)
        return propagate(dropped, hidden @ self.second.t() + self.second_bias)

    def at(
        self,
        pattern: Pattern,
        features: Features | SparseValues,  # (N, F)
        adjacency: Adjacency,
        *,
        generator: torch.Generator,
    ) -> Tensor:  # (E,)
        """Compute the output at some places of the N by C matrix only."""
        hidden, dropped = self._hidden(features, adjacency, generator)
        entries = product_at(pattern, propagate(dropped, hidden), self.second)
        return entries + row_sums(dropped)[pattern.row] * self.second_bias[pattern.column]

    def _hidden(
        self, features: Features | SparseValues, adjacency: Adjacency, generator: torch.Generator
    ) -> tuple[Tensor, Adjacency]:
        rate, training = self.adjacency_dropout, self.training
        dropped = thinned(adjacency, rate, training=training, generator=generator)
        if isinstance(features, SparseValues):
            states = sparse_product(features.pattern, features.value, self.first)
        else:
            states = matmul(features, self.first)
        hidden = F.relu(propagate(dropped, states + self.first_bias))
        hidden = dropout(hidden, self.dropout, training=training, generator=generator)
        return cast(Tensor, hidden), dropped
