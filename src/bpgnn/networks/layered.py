"""Methods that are layers on top of each other over one graph."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

import torch
from torch import Tensor
from typing_extensions import override

from bpgnn.errors import InputError
from bpgnn.graph import Graph
from bpgnn.method import Draws, Method, MethodSettings, Output, Problem, Sizes
from bpgnn.nn.stack import Stack, StackKind, make_layers


@dataclass(frozen=True, kw_only=True)
class LayeredSettings(MethodSettings):
    """Settle a stack of layers and how it is trained.

    Args:
        hidden: Width of each hidden layer.
        dropout: Share of each hidden layer's output dropped in training.
        input_dropout: Share of the features dropped in training.
    """

    hidden: tuple[int, ...] = (64,)
    dropout: float = 0.5
    input_dropout: float = 0.5

    def __post_init__(self) -> None:
        """Refuse numbers out of range."""
        super().__post_init__()
        self.refuse_unless(
            "widths of 1 or more", lambda widths: min(widths, default=1) >= 1, "hidden"
        )
        self.refuse_unless_rates("dropout", "input_dropout")


LayeredT = TypeVar("LayeredT", bound=LayeredSettings)


class LayeredMethod(Method[LayeredT], ABC):
    """Classify by a stack of layers over the observed graph.

    Args:
        settings: All choices.
        problem: What the sizes of the first and last layer are taken from.
    """

    infers_graph = False
    takes_newcomers = True

    def __init__(self, settings: LayeredT, problem: Problem) -> None:
        """Make the layers."""
        super().__init__()
        self.settings = settings
        widths = [problem.num_features, *settings.hidden, problem.num_classes]
        self.stack = self.make_stack(settings, widths)

    @classmethod
    @abstractmethod
    def make_stack(cls, settings: LayeredT, widths: list[int]) -> Stack:
        """Make the layers for their widths from input to output."""

    @classmethod
    def plain_stack(cls, kind: StackKind, settings: LayeredT, widths: list[int]) -> Stack:
        """Make layers of one kind, with the settings' dropout before them."""
        layers = make_layers(kind, widths)
        return Stack(layers, settings.dropout, input_dropout=settings.input_dropout)

    @override
    @classmethod
    def memory(cls, settings: LayeredT, sizes: Sizes) -> int:
        widths = [sizes.num_features, *settings.hidden, sizes.num_classes]
        weights = sum(first * second for first, second in pairwise(widths))
        # Weights with gradient and Adam's two moments; states, what autograd keeps of them, and
        # the features once more with dropout.
        return (
            24 * weights
            + 40 * sizes.num_nodes * sum(widths[1:])
            + 16 * (sizes.num_values + 4 * sizes.num_edges)
        )

    @override
    def forward(
        self,
        problem: Problem,
        *,
        generator: torch.Generator,
        num_samples: int = 1,
        draws: Draws | None = None,
    ) -> Output:
        graph = self._graph(problem)
        log_weight = None if graph.edge_weight is None else graph.edge_weight.log()
        logits = self.stack(problem.features, graph, log_weight, generator=generator)
        return Output(logits.unsqueeze(0))

    @override
    def losses(self, output: Output, problem: Problem) -> dict[str, Tensor]:
        return {"task": problem.task_loss(output.logits)}

    def _graph(self, problem: Problem) -> Graph:
        if problem.graph is not None:
            return problem.graph
        if self.graph_use == "needed":
            raise InputError(
                f"{type(self).__name__} needs an observed graph, but the data have none. "
                "Take knn-gcn, or a method that infers a graph."
            )
        return Graph.empty(problem.num_nodes)


PAPER = {
    "hidden": (32, 16, 8),
    "learning_rate": 0.005,
    "weight_decay": 0.0,
    "dropout": 0.0,
    "input_dropout": 0.0,
    "max_steps": 10_000,
    "patience": 1500,
    "evaluate_every": 100,
    "split": "complete",
}
"""What the BPGNN paper compares with: its own widths and schedule for every method."""
