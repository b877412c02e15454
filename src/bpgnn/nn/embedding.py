"""The network that turns node states into latent points."""

from itertools import pairwise
from typing import Literal, final

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from typing_extensions import override

from bpgnn.graph import Graph
from bpgnn.nn.choose import make_aggregation
from bpgnn.nn.dropout import dropout
from bpgnn.nn.linear import FeatureLinear
from bpgnn.nn.sparse import Features

EmbeddingKind = Literal["gcn", "gat", "edgeconv", "mlp"]


@final
class Embedding(nn.Module):
    """Embed nodes by a small network, over a graph or without one.

    Args:
        kind: The aggregation of each layer, or `mlp` to leave the graph out.
        widths: Widths from input to output.
        dropout_rate: Share of each layer's input dropped in training.
    """

    def __init__(self, kind: EmbeddingKind, widths: list[int], dropout_rate: float) -> None:
        """Make one layer for each pair of widths."""
        super().__init__()
        self.dropout_rate = dropout_rate
        self.layers = nn.ModuleList(
            FeatureLinear(*pair) if kind == "mlp" else make_aggregation(kind, *pair)
            for pair in pairwise(widths)
        )

    @override
    def forward(
        self,
        states: Features,  # (N, F)
        graph: Graph,
        log_weight: Tensor | None,  # (E,)
        *,
        generator: torch.Generator,
    ) -> Tensor:  # (N, D)
        """Embed; only the layers between are rectified."""
        for position, layer in enumerate(self.layers):
            if position > 0 and isinstance(states, Tensor):
                states = F.relu(states)
            states = dropout(states, self.dropout_rate, training=self.training, generator=generator)
            if isinstance(layer, FeatureLinear):
                states = layer(states)
            else:
                states = layer(states, graph, log_weight, generator=generator)
        return torch.as_tensor(states)
