"""What a method is: settings, a forward pass, losses, a citation."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, Literal, Self, TypeVar, cast, final

import torch
from torch import Tensor, nn
from typing_extensions import override

from bpgnn.errors import InputError, nearest
from bpgnn.graph import Graph
from bpgnn.infer.probabilities import EdgeProbabilities
from bpgnn.losses.classification import TaskLoss, classification_loss
from bpgnn.nn.sparse import Features, values_of
from bpgnn.settings import Settings


@dataclass(frozen=True, kw_only=True)
class MethodSettings(Settings):
    """Settle what every method has: how it is trained and tested.

    Args:
        learning_rate: Adam's step size.
        weight_decay: L2 penalty on weights and biases.
        max_steps: Most training steps, each over the whole graph.
        patience: Steps without progress on the validation nodes before training stops.
        evaluate_every: Steps between two evaluations.
        num_samples: Sampled graphs over which a prediction is averaged.
        validation_samples: The same while training, where it should cost less; as many if None.
        select_by: What the best validation is judged by: its `loss`, its `accuracy`, or `both`:
            then one of them no worse than ever is progress, and the weights where neither is
            worse are kept.
        test_weights: Test the weights of the `best` validation or the `last`.
        class_weight: `none`, or `balanced` to give every class the same say in the loss.
        feature_scaling: `auto` (rows of counts are divided by their sum, columns of tables
            standardised), `rows`, `columns`, `tables` (their columns; all else stays as it
            is) or `none`.
        split: The split where none is asked for and the data set has it: `complete`,
            `public`, `random`; `auto` for the data set's own.
        outer_nodes: Where labels for a method's outer problem come from: `none`, half of the
            `validation` nodes, or a fifth of the `train` nodes. They are drawn by the seed,
            and leave the part they come from.
    """

    learning_rate: float = 0.01
    weight_decay: float = 5e-4
    max_steps: int = 1000
    patience: int = 150
    evaluate_every: int = 10
    num_samples: int = 10
    validation_samples: int | None = None
    select_by: Literal["loss", "accuracy", "both"] = "loss"
    test_weights: Literal["best", "last"] = "best"
    class_weight: Literal["none", "balanced"] = "none"
    feature_scaling: Literal["auto", "rows", "columns", "tables", "none"] = "auto"
    split: Literal["auto", "complete", "public", "random"] = "auto"
    outer_nodes: Literal["none", "validation", "train"] = "none"

    def __post_init__(self) -> None:
        """Refuse numbers out of range."""
        super().__post_init__()
        positive = (
            *("learning_rate", "max_steps", "evaluate_every", "num_samples", "patience"),
            "validation_samples",
        )
        self.refuse_unless("above 0", lambda value: value > 0, *positive)
        self.refuse_unless("at least 0", lambda value: value >= 0, "weight_decay")


@final
@dataclass(frozen=True, eq=False)
class Problem:
    """Hold what a method sees of a data set, ready for arithmetic.

    Args:
        features: Scaled features, shape (N, F).
        labels: Class numbers; -1 where unknown or hidden from training, shape (N,).
        graph: The observed graph, or None.
        train: The training nodes, shape (M,).
        num_classes: Number of classes C.
        class_weight: What an error on each class costs, shape (C,), or None.
        outer: Nodes whose labels are for an outer problem, or None, shape (O,).
    """

    features: Features
    labels: Tensor
    graph: Graph | None
    train: Tensor
    num_classes: int
    class_weight: Tensor | None = None
    outer: Tensor | None = None

    @property
    def num_nodes(self) -> int:
        """Count the nodes, N."""
        return self.features.size(0)

    @property
    def num_features(self) -> int:
        """Count the columns of the features, F."""
        return self.features.size(1)

    @property
    def observed(self) -> Graph | None:
        """Return the observed graph, or None where no edge was observed."""
        return self.graph if self.graph is not None and self.graph.num_edges else None

    def task_loss(self, logits: Tensor, kind: TaskLoss = "cross_entropy") -> Tensor:  # (S, N, C)
        """Compare the scores of the training nodes with their labels, over all samples."""
        labels = self.labels[self.train]
        values = [
            classification_loss(own[self.train], labels, kind=kind, class_weight=self.class_weight)
            for own in logits
        ]
        return torch.stack(values).mean()


@final
@dataclass(frozen=True, eq=False)
class Output:
    """Hold what a forward pass gives.

    Args:
        logits: Scores, one set for each sampled graph, shape (S, N, C).
        draws: What was drawn that belongs to nodes: graphs, or lists of node numbers. Given
            to another forward pass, it is not drawn anew.
        detail: What the method's own losses and latent graph are made of.
    """

    logits: Tensor
    draws: "Draws" = ()
    detail: Any = field(default=None)

    def probabilities(self) -> Tensor:  # (N, C)
        """Average the class probabilities over the sampled graphs."""
        return self.logits.softmax(-1).mean(0)


Draws = tuple[Graph | Tensor, ...]

SettingsT = TypeVar("SettingsT", bound=MethodSettings)


@final
@dataclass(frozen=True)
class Sizes:
    """Say how large a problem is, for estimates of memory.

    Args:
        num_nodes: Number of nodes N.
        num_edges: Number of directed edges E.
        num_features: Number of features F.
        num_values: Stored feature values: N times F unless features are sparse.
        num_classes: Number of classes C.
    """

    num_nodes: int
    num_edges: int
    num_features: int
    num_values: int
    num_classes: int


def sizes_of(problem: Problem) -> Sizes:
    """Say how large a problem is."""
    return Sizes(
        num_nodes=problem.num_nodes,
        num_edges=0 if problem.graph is None else problem.graph.num_edges,
        num_features=problem.num_features,
        num_values=values_of(problem.features).numel(),
        num_classes=problem.num_classes,
    )


class Method(nn.Module, ABC, Generic[SettingsT]):
    """Classify nodes; what a method needs beyond this it tells the one training loop."""

    citation: ClassVar[str]
    settings_type: ClassVar[type[MethodSettings]]
    presets: ClassVar[Mapping[str, Mapping[str, Any]]]
    """What each preset changes of the settings' defaults."""
    by_dataset: ClassVar[Mapping[tuple[str, str], Mapping[str, Any]]] = {}
    """What a preset changes further for one data set."""
    graph_use: ClassVar[Literal["needed", "used", "ignored"]]
    """Whether the observed graph is needed, used where there is one, or ignored."""
    infers_graph: ClassVar[bool]
    """Whether a latent graph comes out."""
    takes_newcomers: ClassVar[bool] = False
    """Whether, after training, nodes may be appended to a problem that only receive edges: the
    forward pass then scores them too, and the draws of the others may be given."""
    instead: ClassVar[str] = "Take a smaller data set or a machine with more."
    """What to do where memory is short."""
    settings: SettingsT

    @classmethod
    def preset(cls, name: str, dataset: str) -> SettingsT:
        """Return the settings of that name for a data set."""
        if name not in cls.presets:
            raise InputError(f"There is no preset {name!r} here.{nearest(name, cls.presets)}")
        changes = {**cls.presets[name], **cls.by_dataset.get((name, dataset), {})}
        return cast(SettingsT, cls.settings_type(**changes))

    @classmethod
    def build(cls, settings: SettingsT, problem: Problem) -> Self:
        """Make the method with fresh weights for a problem's size."""
        return cls(settings, problem)  # pyright: ignore[reportCallIssue]

    @classmethod
    @abstractmethod
    def memory(cls, settings: SettingsT, sizes: Sizes) -> int:
        """Estimate the most bytes that training holds beyond the data."""

    @abstractmethod
    @override
    def forward(
        self,
        problem: Problem,
        *,
        generator: torch.Generator,
        num_samples: int = 1,
        draws: Draws | None = None,
    ) -> Output:
        """Score every node's classes; `draws` of an earlier output are taken as they are."""

    @abstractmethod
    def losses(self, output: Output, problem: Problem) -> dict[str, Tensor]:
        """Return the named terms whose sum is minimised."""

    def latent_graphs(self, output: Output) -> tuple[Graph, ...]:  # noqa: ARG002  others do
        """Return the last latent graph of each sample, with weights, or none."""
        return ()

    def message_graphs(self, output: Output, problem: Problem) -> tuple[Graph, ...]:  # noqa: ARG002
        """Return what the last messages of each sample pass over, weighed as they are.

        That is the latent graph, unless a method weighs it otherwise or puts other edges beside
        it, observed ones among them.
        """
        return self.latent_graphs(output)

    def edge_probabilities(self, output: Output) -> dict[str, EdgeProbabilities]:  # noqa: ARG002
        """Return by name what the last latent graph was drawn from, where it was drawn."""
        return {}

    def validation_loss(self, output: Output, nodes: Tensor, labels: Tensor) -> float:
        """Judge the predictions of some nodes, (V,) with labels (V,); early stopping asks."""
        chosen = output.probabilities()[nodes, labels]
        return float(-chosen.clamp(min=1e-12).log().mean())

    def observe(self, output: Output, problem: Problem) -> None:
        """Update what is not learned by gradient after a step; keep it in buffers."""

    def is_due(self, step: int) -> bool:
        """Tell whether to evaluate after that step."""
        return step % self.settings.evaluate_every == 0

    def make_optimizer(self) -> torch.optim.Optimizer:
        """Make the optimiser that takes the steps."""
        return torch.optim.Adam(self.parameter_groups(), lr=self.settings.learning_rate)

    def rate_factor(self, step: int) -> float:  # noqa: ARG002  others do
        """Return what every learning rate is multiplied by at a step, 1 at first."""
        return 1.0

    def parameter_groups(self) -> list[dict[str, Any]]:
        """Group parameters for the optimiser; scalars such as temperatures do not decay."""
        settings = self.settings
        shrinking = [p for p in self.parameters() if p.dim() > 0]
        others = [p for p in self.parameters() if p.dim() == 0]
        groups = [{"params": shrinking, "weight_decay": settings.weight_decay}]
        return groups + ([{"params": others, "weight_decay": 0.0}] if others else [])

    @property
    def sampler_name(self) -> str | None:
        """Name the sampler in use, or None for a method that samples no graph."""
        return None
