"""Graph attention over weighted edges and sparse features."""

from typing import cast, final

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from typing_extensions import override

from bpgnn.errors import InputError
from bpgnn.graph import Graph
from bpgnn.nn.aggregation import Aggregation
from bpgnn.nn.dropout import dropout
from bpgnn.nn.sparse import Features, matmul


@final
class GAT(Aggregation):
    r"""Aggregate as in "Graph Attention Networks", edge weights included.

    .. math::
        e_{ij} = \text{LeakyReLU}(a_t \cdot x_i W + a_s \cdot x_j W) + \log w_{ij}, \quad
        x'_i = b + \sum_{j \in N_i \cup \{i\}} \text{softmax}_j(e_{ij}) \, x_j W

    `Veličković et al., 2018 <https://arxiv.org/abs/1710.10903>`_. With weights of one it is
    PyG's `GATConv`. A weight multiplies the exponential of the attention, so that an
    edge of weight 0 is no edge and one of weight 2 is two edges; a node's message to itself
    has weight one.

    Args:
        in_channels: Width of the input, F.
        out_channels: Width of the output over all heads, D.
        heads: Number of heads; their outputs stand side by side.
        average: Average the heads instead; each is then as wide as the output.
        attention_dropout: Share of attention weights dropped in training.
        message_dropout: Share of the entries of x W dropped in training, after the attention
            has seen them.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        *,
        heads: int = 1,
        average: bool = False,
        attention_dropout: float = 0.0,
        message_dropout: float = 0.0,
    ) -> None:
        """Draw the weights by Glorot's rule."""
        super().__init__()
        if heads < 1 or (out_channels % heads and not average):
            raise InputError(f"`heads` must divide `out_channels` {out_channels}, but got {heads}.")
        self.heads = heads
        self.average = average
        self.attention_dropout = attention_dropout
        self.message_dropout = message_dropout
        width = out_channels if average else out_channels // heads
        weight = nn.init.xavier_uniform_(torch.empty(in_channels, heads * width))
        self.weight = nn.Parameter(weight)
        self.source = nn.Parameter(nn.init.xavier_uniform_(torch.empty(heads, width)))
        self.target = nn.Parameter(nn.init.xavier_uniform_(torch.empty(heads, width)))
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
        states = matmul(features, self.weight).view(graph.num_nodes, self.heads, -1)
        sending = (states * self.source).sum(-1)
        receiving = (states * self.target).sum(-1)
        logits = F.leaky_relu(sending[graph.sources] + receiving[graph.targets], 0.2)
        if log_weight is not None:
            logits = logits + log_weight.unsqueeze(1)
        logits = logits.masked_fill((graph.sources == graph.targets).unsqueeze(1), -torch.inf)
        own_logits = F.leaky_relu(sending + receiving, 0.2)
        shares, own_shares = _softmax_with_self(logits, own_logits, graph)

        def dropped(values: Tensor, rate: float) -> Tensor:
            return cast(Tensor, dropout(values, rate, training=self.training, generator=generator))

        shares = dropped(shares, self.attention_dropout)
        own_shares = dropped(own_shares, self.attention_dropout)
        states = dropped(states, self.message_dropout)
        messages = states[graph.sources] * shares.unsqueeze(-1)
        total = (states * own_shares.unsqueeze(-1)).index_add(0, graph.targets, messages)
        return (total.mean(1) if self.average else total.flatten(1)) + self.bias


def _softmax_with_self(
    logits: Tensor,  # (E, H)
    own_logits: Tensor,  # (N, H)
    graph: Graph,
) -> tuple[Tensor, Tensor]:
    """Normalise over each node's edges and its message to itself."""
    index = graph.targets.unsqueeze(1).expand_as(logits)
    largest = own_logits.detach().scatter_reduce(0, index, logits.detach(), "amax")
    terms = (logits - largest[graph.targets]).exp()
    own = (own_logits - largest).exp()
    total = own.index_add(0, graph.targets, terms)
    return terms / total[graph.targets], own / total
