"""Layers on top of each other, with dropout before and an activation between."""

from collections.abc import Callable, Iterable, Sequence
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

StackKind = Literal["gcn", "gat", "edgeconv", "mlp"]


@final
class Stack(nn.Module):
    """Pass states through layers, each an aggregation over a graph or a linear map.

    Args:
        layers: From input to output.
        dropout_rate: Share of each layer's input dropped in training.
        input_dropout: The same for the first layer, if it differs.
        activation: What stands between two layers.
    """

    def __init__(
        self,
        layers: Iterable[nn.Module],
        dropout_rate: float,
        *,
        input_dropout: float | None = None,
        activation: Callable[[Tensor], Tensor] = F.relu,
    ) -> None:
        """Keep the layers."""
        super().__init__()
        self.layers = nn.ModuleList(layers)
        self.dropout_rate = dropout_rate
        self.input_dropout = dropout_rate if input_dropout is None else input_dropout
        self.activation = activation

    @override
    def forward(
        self,
        states: Features,  # (N, F)
        graph: Graph,
        log_weight: Tensor | None,  # (E,)
        *,
        generator: torch.Generator,
    ) -> Tensor:  # (N, D)
        """Pass through all layers; only those between are activated."""
        for position, layer in enumerate(self.layers):
            if position > 0 and isinstance(states, Tensor):
                states = self.activation(states)
            rate = self.dropout_rate if position > 0 else self.input_dropout
            states = dropout(states, rate, training=self.training, generator=generator)
            if isinstance(layer, FeatureLinear):
                states = layer(states)
            else:
                states = layer(states, graph, log_weight, generator=generator)
        return torch.as_tensor(states)


def make_layers(kind: StackKind, widths: Sequence[int]) -> list[nn.Module]:
    """Make one layer for each two widths that follow each other; `mlp` leaves the graph out.

    Example:
        >>> [tuple(layer.weight.shape) for layer in make_layers("gcn", [4, 3, 2])]
        [(4, 3), (3, 2)]
    """
    return [
        FeatureLinear(*pair) if kind == "mlp" else make_aggregation(kind, *pair)
        for pair in pairwise(widths)
    ]
