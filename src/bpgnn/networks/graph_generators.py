"""What SLAPS makes a graph from: vectors whose cosines are edges, or a number for every pair."""

from typing import Literal, cast, final

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from typing_extensions import override

from bpgnn.nn.linear import drawn_uniform
from bpgnn.nn.nearest import nearest_graph
from bpgnn.nn.pattern import Pattern, sparse_product
from bpgnn.nn.sparse import Features, SparseMatrix

Activation = Literal["relu", "tanh"]

_ACTIVATIONS = {"relu": torch.relu, "tanh": torch.tanh}

# A norm below this is that of a zero vector.
_SHORTEST = 1e-12


@final
class DenseGenerator(nn.Module):
    r"""Map features by two dense layers, MLP, to vectors of length one.

    .. math:: E = \sigma(X W_1 + b_1) W_2 + b_2, \quad W_1 = W_2 = I \text{ at first}

    Biases begin small and random, as those of torch's linear layers do.

    Args:
        num_features: Width of input and output, F.
        activation: `relu` or `tanh`.
    """

    def __init__(self, num_features: int, activation: Activation) -> None:
        """Begin with the identity."""
        super().__init__()
        self.activation = _ACTIVATIONS[activation]
        self.first = nn.Parameter(torch.eye(num_features))
        self.first_bias = drawn_uniform(num_features, num_features)
        self.second = nn.Parameter(torch.eye(num_features))
        self.second_bias = drawn_uniform(num_features, num_features)

    @override
    def forward(self, features: Features) -> Tensor:  # (N, F) -> (N, F)
        """Map, and scale each row to length one."""
        if isinstance(features, SparseMatrix):
            states = sparse_product(Pattern.from_matrix(features), features.value, self.first)
        else:
            states = features @ self.first
        hidden = self.activation(states + self.first_bias)
        return F.normalize(hidden @ self.second + self.second_bias, dim=1, eps=_SHORTEST)


@final
class DiagonalGenerator(nn.Module):
    r"""Weigh features twice, MLP-D, and scale to length one; what is sparse stays sparse.

    .. math:: E = \sigma(X \operatorname{diag}(w_1)) \operatorname{diag}(w_2),
        \quad w_1 = w_2 = 1 \text{ at first}

    Args:
        num_features: Width of input and output, F.
        activation: `relu` or `tanh`, both of which map zero to zero.
    """

    def __init__(self, num_features: int, activation: Activation) -> None:
        """Begin with the identity."""
        super().__init__()
        self.activation = _ACTIVATIONS[activation]
        self.first = nn.Parameter(torch.ones(num_features))
        self.second = nn.Parameter(torch.ones(num_features))

    @override
    def forward(self, features: Features) -> Features:  # (N, F) -> (N, F)
        """Weigh, and scale each row to length one."""
        if isinstance(features, Tensor):
            weighed = self.activation(features * self.first) * self.second
            return F.normalize(weighed, dim=1, eps=_SHORTEST)
        first, second = (w.index_select(0, features.column) for w in (self.first, self.second))
        weighed = self.activation(features.value * first) * second
        return unit_rows(features.with_value(weighed))


@final
class FullGenerator(nn.Module):
    r"""Learn a number for every pair of nodes, FP.

    .. math:: G = \mathrm{ELU}(\Theta) + 1, \quad \Theta = 6 (A_{kNN} + I) - 6 \text{ at first}

    Args:
        features: What the nearest neighbours are found by, shape (N, F).
        k: Number of nearest neighbours.
    """

    def __init__(self, features: Features, k: int) -> None:
        """Begin with the graph of nearest neighbours, as good as alone."""
        super().__init__()
        nearest = nearest_graph(features, k)
        logits = torch.full((nearest.num_nodes, nearest.num_nodes), -6.0)
        logits[nearest.targets.cpu(), nearest.sources.cpu()] = 0.0
        self.logits = nn.Parameter(logits.fill_diagonal_(0.0))

    @override
    def forward(self) -> Tensor:  # (N, N)
        """Return the symmetrised matrix."""
        weight = F.elu(self.logits) + 1
        return (weight + weight.t()) / 2


def unit_rows(matrix: SparseMatrix) -> SparseMatrix:  # (N, F) -> (N, F)
    """Scale each row of a sparse matrix to length one; a row of zeros stays one."""
    row = Pattern.from_matrix(matrix).row
    squares = matrix.value.new_zeros(matrix.shape[0]).index_add(0, row, matrix.value**2)
    # The root comes after the bound, or else a row of zeros would have no gradient.
    length = squares.clamp(min=_SHORTEST**2).sqrt()
    return matrix.with_value(cast(Tensor, matrix.value / length.index_select(0, row)))
