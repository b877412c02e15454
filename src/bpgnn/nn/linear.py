"""A linear map of dense or sparse features."""

import math
from typing import Literal, final

import torch
from torch import Tensor, nn
from typing_extensions import override

from bpgnn.nn.sparse import Features, matmul

LinearStart = Literal["glorot", "torch"]


def drawn_uniform(fan_in: int, *shape: int) -> nn.Parameter:
    """Draw weights as torch's own `Linear` does, up to 1/√F where F values are added up."""
    bound = 1 / math.sqrt(fan_in)
    return nn.Parameter(torch.empty(*shape).uniform_(-bound, bound))


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
        if start == "torch":
            self.weight = drawn_uniform(in_channels, in_channels, out_channels)
            self.bias = drawn_uniform(in_channels, out_channels)
            return
        self.weight = nn.Parameter(torch.empty(in_channels, out_channels))
        self.bias = nn.Parameter(torch.zeros(out_channels))
        nn.init.xavier_uniform_(self.weight)

    @override
    def forward(self, features: Features) -> Tensor:  # (N, F) -> (N, D)
        """Multiply and shift."""
        return matmul(features, self.weight) + self.bias
