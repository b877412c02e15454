"""kNN-GCN: a GCN over the graph of nearest neighbours in feature space."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, cast, final

import torch
from torch import Tensor
from typing_extensions import override

from bpgnn.graph import Graph
from bpgnn.method import Draws, Method, MethodSettings, Output, Problem, Sizes
from bpgnn.networks.two_layer_gcn import TwoLayerGCN
from bpgnn.nn.adjacency import Adjacency, normalized
from bpgnn.nn.nearest import nearest_graph, search_memory
from bpgnn.nn.pattern import Pattern, SparseValues
from bpgnn.nn.sparse import Features, values_of


@final
@dataclass(frozen=True, kw_only=True)
class KNNGCNSettings(MethodSettings):
    """Settle a kNN-GCN.

    Args:
        k: Neighbours of each node, itself not counted.
        metric: What is near: `cosine`, or `minkowski` for Euclidean distance.
        hidden: Hidden width.
        dropout: Share of the hidden layer dropped in training.
        adjacency_dropout: Share of the entries of the adjacency matrix dropped in training.
    """

    k: int = 20
    metric: Literal["cosine", "minkowski"] = "cosine"
    hidden: int = 32
    dropout: float = 0.5
    adjacency_dropout: float = 0.5

    def __post_init__(self) -> None:
        """Refuse numbers out of range."""
        super().__post_init__()
        self.refuse_unless_counts("k", "hidden")
        self.refuse_unless_rates("dropout", "adjacency_dropout")


_SCHEDULE: dict[str, Any] = {
    "learning_rate": 0.01,
    "weight_decay": 5e-4,
    "max_steps": 200,
    "patience": 100,
    "evaluate_every": 10,
    "num_samples": 1,
    "select_by": "accuracy",
    "feature_scaling": "tables",
}

_RAW = {"feature_scaling": "none"}

_SPLITS = {"published": "public", "paper": "complete", "tuned": "auto"}

# What was chosen for a data set by validation accuracy, among the authors' settings.
_CHOSEN: dict[str, dict[str, Any]] = {
    "cora": {"k": 30, "learning_rate": 0.01, "adjacency_dropout": 0.5, **_RAW},
    "citeseer": {"k": 20, "learning_rate": 0.001, "adjacency_dropout": 0.5, **_RAW},
    "pubmed": _RAW,
    "photo": _RAW,
}


@final
class KNNGCN(Method[KNNGCNSettings]):
    r"""Classify nodes by a GCN over the directed graph of nearest neighbours.

    The baseline of "SLAPS: Self-Supervision Improves Structure Learning for Graph Neural
    Networks", Fatemi, El Asri and Kazemi, NeurIPS 2021
    (`arXiv <https://arxiv.org/abs/2102.05034>`_):

    .. math::
        A = D^{-1/2} (A_{kNN} + I) D^{-1/2}, \quad
        \hat Y = A\, \mathrm{ReLU}(A X W_0 + b_0)\, W_1 + b_1

    with row sums for D. The graph is not made symmetric.

    Args:
        settings: All choices.
        problem: What the sizes and the neighbours are taken from.

    Departures:
        The matrix is kept at its k + 1 entries a row, where the authors hold all pairs.
    """

    citation: ClassVar[str] = """@inproceedings{fatemi2021slaps,
  title     = {{SLAPS}: Self-Supervision Improves Structure Learning for Graph Neural Networks},
  author    = {Fatemi, Bahare and El Asri, Layla and Kazemi, Seyed Mehran},
  year      = {2021},
  booktitle = {Advances in Neural Information Processing Systems}
}"""

    settings_type = KNNGCNSettings
    presets: ClassVar = {name: {**_SCHEDULE, "split": split} for name, split in _SPLITS.items()}
    by_dataset: ClassVar = {
        (name, dataset): own for name in _SPLITS for dataset, own in _CHOSEN.items()
    }
    graph_use = "ignored"
    infers_graph = True

    def __init__(self, settings: KNNGCNSettings, problem: Problem) -> None:
        """Find the neighbours and make the network."""
        super().__init__()
        self.settings = settings
        self.network = TwoLayerGCN(
            *(problem.num_features, settings.hidden, problem.num_classes),
            dropout=settings.dropout,
            adjacency_dropout=settings.adjacency_dropout,
        )
        # The neighbours of these features are found once; those of others each time.
        self.features = problem.features
        self.found = self._find(problem.features)

    @override
    @classmethod
    def memory(cls, settings: KNNGCNSettings, sizes: Sizes) -> int:
        numbers = 7 * settings.hidden * sizes.num_features + 10 * sizes.num_nodes * settings.hidden
        numbers += 40 * sizes.num_nodes * (settings.k + 1) + 8 * sizes.num_values
        return 4 * numbers + search_memory(sizes.num_nodes, settings.k)

    @override
    def forward(
        self,
        problem: Problem,
        *,
        generator: torch.Generator,
        num_samples: int = 1,
        draws: Draws | None = None,
    ) -> Output:
        features = problem.features
        graph, adjacency = self.found if features is self.features else self._find(features)
        logits = self.network(features, adjacency, generator=generator)
        return Output(logits.unsqueeze(0), (), graph)

    @override
    def losses(self, output: Output, problem: Problem) -> dict[str, Tensor]:
        return {"task": problem.task_loss(output.logits)}

    @override
    def latent_graphs(self, output: Output) -> tuple[Graph, ...]:
        return (cast(Graph, output.detail),)

    def _find(self, features: Features) -> tuple[Graph, Adjacency]:
        graph = nearest_graph(features, self.settings.k, metric=self.settings.metric)
        return graph, normalized(with_self_loops(graph, features))


def with_self_loops(graph: Graph, features: Features) -> SparseValues:
    """Write A + I, in the precision of the features."""
    own = torch.arange(graph.num_nodes, device=graph.sources.device)
    row, column = torch.cat([graph.targets, own]), torch.cat([graph.sources, own])
    like = values_of(features)
    pattern = Pattern.from_places(row, column, (graph.num_nodes, graph.num_nodes))
    return SparseValues(pattern, like.new_ones(row.numel()))
