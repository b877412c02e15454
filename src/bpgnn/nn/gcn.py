"""Graph convolution over weighted edges and sparse features."""

from typing import final

import torch
from torch import Tensor, nn
from typing_extensions import override

from bpgnn.graph import Graph
from bpgnn.nn.aggregation import Aggregation, edge_weights, weighted_sum
from bpgnn.nn.sparse import Features, matmul


@final
class GCN(Aggregation):
    r"""Aggregate as in "Semi-Supervised Classification with Graph Convolutional Networks".

    .. math:: x'_i = b + \sum_{j \in N_i \cup \{i\}} \frac{w_{ij}}{\sqrt{d_i d_j}} x_j W,
        \quad d_i = 1 + \sum_j w_{ij}

    `Kipf and Welling, 2017 <https://arxiv.org/abs/1609.02907>`_. The same as PyG's `GCNConv`,
    which takes no sparse features.

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
    def forward(
        self,
        features: Features,
        graph: Graph,
        log_weight: Tensor | None,
        *,
        generator: torch.Generator,
    ) -> Tensor:
        states = matmul(features, self.weight)
        weight = edge_weights(graph, log_weight, states)
        degree = states.new_ones(graph.num_nodes).index_add(0, graph.targets, weight)
        scale = degree.rsqrt()
        scaled = states * scale.unsqueeze(1)
        neighbours = weighted_sum(scaled, graph, weight)
        return (neighbours + scaled) * scale.unsqueeze(1) + self.bias
