"""A linear map of dense or sparse features."""

from typing import final

import torch
from torch import Tensor, nn
from typing_extensions import override

from bpgnn.nn.sparse import Features, matmul


@final
class FeatureLinear(nn.Module):
    """Map features linearly; unlike torch's own, sparse ones as well.

    Args:
        in_channels: Width of the input, F.
        out_channels: Width of the output, D.
    """

    def __init__(self, in_channels: int, out_channels: int) -> None:
        """Draw the weights by Glorot's rule."""
        super().__init__()
        self.weight = nn.Parameter(nn.init.xavier_uniform_(torch.empty(in_channels, out_channels)))
        self.bias = nn.Parameter(torch.zeros(out_channels))

    @override
    def forward(self, features: Features) -> Tensor:  # (N, F) -> (N, D)
        """Multiply and shift."""
        return matmul(features, self.weight) + self.bias
