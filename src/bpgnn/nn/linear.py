"""A linear map of dense or sparse features."""

import math
from typing import Literal, final

import torch
from torch import Tensor, nn
from typing_extensions import override

from bpgnn.nn.sparse import Features, matmul

LinearStart = Literal["glorot", "torch"]


@final
class FeatureLinear(nn.Module):
    """Map features linearly; unlike torch's own, sparse ones as well.

    Args:
        in_channels: Width of the input, F.
        out_channels: Width of the output, D.
        start: How weights are drawn: `glorot`, with biases of zero, or as torch's own `Linear`
            draws weights and biases, up to 1/√F.
    """

    def __init__(self, in_channels: int, out_channels: int, start: LinearStart = "glorot") -> None:
        """Draw the weights."""
        super().__init__()
        self.weight = nn.Parameter(torch.empty(in_channels, out_channels))
        self.bias = nn.Parameter(torch.zeros(out_channels))
        if start == "glorot":
            nn.init.xavier_uniform_(self.weight)
            return
        bound = 1 / math.sqrt(in_channels)
        for values in (self.weight, self.bias):
            nn.init.uniform_(values, -bound, bound)

    @override
    def forward(self, features: Features) -> Tensor:  # (N, F) -> (N, D)
        """Multiply and shift."""
        return matmul(features, self.weight) + self.bias
