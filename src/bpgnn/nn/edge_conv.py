"""Edge convolution over weighted edges and sparse features."""

from typing import final

import torch
from torch import Tensor, nn
from typing_extensions import override

from bpgnn.graph import Graph
from bpgnn.nn.aggregation import Aggregation, weighted_sum
from bpgnn.nn.sparse import Features, matmul


@final
class EdgeConv(Aggregation):
    r"""Aggregate as in "Dynamic Graph CNN for Learning on Point Clouds".

    .. math:: x'_i = \sum_j w_{ij} \left( [x_i \,|\, x_j - x_i] W + b \right)

    `Wang et al., 2019 <https://arxiv.org/abs/1801.07829>`_, in the form that dDGM and BPGNN
    use: one linear map, no inner activation, a sum, and no message from a node to itself.
    The map being linear, it is applied to nodes and not to edges.

    Args:
        in_channels: Width of the input, F.
        out_channels: Width of the output, D.
    """

    def __init__(self, in_channels: int, out_channels: int) -> None:
        """Draw the weights by Glorot's rule."""
        super().__init__()
        weight = nn.init.xavier_uniform_(torch.empty(2 * in_channels, out_channels))
        self.weight = nn.Parameter(weight)
        self.bias = nn.Parameter(torch.zeros(out_channels))

    @override
    def forward(
        self,
        features: Features,
        graph: Graph,
        log_weight: Tensor | None,
        *,
        generator: torch.Generator,
    ) -> Tensor:
        own, difference = self.weight.chunk(2)
        centre = matmul(features, own - difference) + self.bias
        states = matmul(features, difference)
        weight = states.new_ones(graph.num_edges) if log_weight is None else log_weight.exp()
        total = states.new_zeros(graph.num_nodes).index_add(0, graph.targets, weight)
        return total.unsqueeze(1) * centre + weighted_sum(states, graph, weight)
