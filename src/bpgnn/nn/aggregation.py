"""What an aggregation over a graph is, and the weighted sum that each is made of."""

from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn
from typing_extensions import override

from bpgnn.graph import Graph
from bpgnn.nn.sparse import Features


class Aggregation(nn.Module, ABC):
    """Update every node from its neighbours, over edges with weights.

    Weights come as logarithms, since the attention of GAT adds them to its own.
    """

    @abstractmethod
    @override
    def forward(
        self,
        features: Features,  # (N, F)
        graph: Graph,
        log_weight: Tensor | None,  # (E,)
        *,
        generator: torch.Generator,
    ) -> Tensor:  # (N, D)
        """Aggregate; `log_weight` is None where every edge has weight one."""


def weighted_sum(states: Tensor, graph: Graph, weight: Tensor) -> Tensor:  # (N, D), (E,) -> (N, D)
    r"""Add up each node's neighbours, :math:`\sum_j w_{ij} x_j`; differentiable in both.

    Example:
        >>> pair = Graph.from_edge_index(torch.tensor([[1], [0]]), num_nodes=2)
        >>> weighted_sum(torch.tensor([[1.0], [2.0]]), pair, torch.tensor([0.5]))
        tensor([[1.],
                [0.]])
    """
    messages = states[graph.sources] * weight.unsqueeze(-1)
    return torch.zeros_like(states).index_add(0, graph.targets, messages)


def edge_weights(graph: Graph, log_weight: Tensor | None, like: Tensor) -> Tensor:  # (E,)
    """Return the weights of edges; a node's edge to itself counts as none.

    GCN and GAT give every node a message from itself, of weight one; a self-pair that was
    sampled must not add a second.
    """
    weight = like.new_ones(graph.num_edges) if log_weight is None else log_weight.exp()
    return weight.masked_fill(graph.sources == graph.targets, 0.0)
