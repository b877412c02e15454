"""Iterative deep graph learning."""

from dataclasses import dataclass
from typing import Any, ClassVar, final

import torch
from torch import Tensor
from typing_extensions import override

from bpgnn.graph import Graph
from bpgnn.method import Draws, Output, Problem, Sizes
from bpgnn.networks.iterative import (
    GraphLearner,
    IterativeMethod,
    IterativeMethodSettings,
    LearnedGraph,
    Stage,
    drawn_mask,
    graph_regularizer,
    observed_rows,
    output_of,
    propagate_observed,
    states_memory,
)
from bpgnn.nn.dropout import dropout
from bpgnn.nn.factor import FeatureGram, without_zeros
from bpgnn.nn.similarity import Similarity, squared_distance, squared_norm
from bpgnn.nn.sparse import Features
from bpgnn.nn.thresholded import is_small


@final
@dataclass(frozen=True, kw_only=True)
class IDGLSettings(IterativeMethodSettings):
    """Settle IDGL: how it is trained, how it learns graphs, and its network."""


_AUTHORS: dict[str, Any] = {
    "max_steps": 10_000,
    "patience": 100,
    "evaluate_every": 1,
    "num_samples": 1,
    "feature_scaling": "rows",
    "split": "public",
}

# The defaults are the authors' for Cora.
_PRESETS: dict[str, dict[str, Any]] = {
    "published": _AUTHORS,
    "paper": {**_AUTHORS, "hidden": 32, "split": "complete"},
    "tuned": {**_AUTHORS, "max_steps": 2000, "feature_scaling": "auto", "split": "auto"},
}

_CITESEER = {
    "observed_share": 0.6,
    "newest_share": 0.5,
    "threshold": 0.3,
    "num_perspectives": 1,
    "smoothness": 0.4,
    "sparsity": 0.2,
    "input_dropout": 0.0,
    "later_dropout": 0.0,
    "stop_change": 1e-3,
}


@final
class IDGL(IterativeMethod[IDGLSettings]):
    r"""Learn a graph from node states and node states from that graph, until it settles.

    `Chen, Wu and Zaki, 2020 <https://arxiv.org/abs/2006.13009>`_, "Iterative Deep Graph Learning
    for Graph Neural Networks: Better and Robust Node Embeddings". With L the normalised
    observed graph and f dividing each row by its sum,

    .. math::
        s_{ij} &= \frac{1}{m} \sum_{p=1}^m \cos(w_p \odot v_i, w_p \odot v_j),
            \quad S_{ij} = s_{ij} [s_{ij} > \varepsilon] \\
        \tilde A^{(t)} &= \lambda L + (1 - \lambda) f(S^{(t)}) \\
        \hat A^{(t)} &= \eta \tilde A^{(t)} + (1 - \eta) \tilde A^{(1)} \\
        Z^{(t)} &= \text{ReLU}(\hat A^{(t)} X W_0), \quad
            \hat y^{(t)} = \text{softmax}(\hat A^{(t)} Z^{(t)} W_1)

    where S^(1) compares features and S^(t) the states Z^(t-1), until
    :math:`\|S^{(t)} - S^{(t-1)}\|_F^2 \le \delta \|S^{(1)}\|_F^2`. Every iteration's loss is that
    of classification and a regulariser; the first's and the mean of the others' are minimised.

    Args:
        settings: All choices.
        problem: What the sizes of the first and last layer are taken from.

    Departures:
        The equations, dropout and training are those of the authors' code, with the two-layer
        network without biases of their node classification. Where no graph is observed, the
        symmetrised 20 nearest neighbours stand in. Self-loops of an observed graph do not
        count twice. The graph handed out has each node's 100 heaviest neighbours only. The
        arithmetic alone is other: similarities without threshold stay products of narrow
        factors, and gradients of the others are made in one sweep.
    """

    citation: ClassVar[str] = """@inproceedings{chen2020iterative,
  title     = {Iterative Deep Graph Learning for Graph Neural Networks:
               Better and Robust Node Embeddings},
  author    = {Chen, Yu and Wu, Lingfei and Zaki, Mohammed J.},
  booktitle = {Advances in Neural Information Processing Systems},
  volume    = {33},
  year      = {2020}
}"""

    settings_type = IDGLSettings
    presets = _PRESETS
    by_dataset: ClassVar = {(name, "citeseer"): _CITESEER for name in _PRESETS}
    instead = "Take idgl-anch, which compares nodes with a few anchors only, or a smaller data set."

    @override
    @classmethod
    def memory(cls, settings: IDGLSettings, sizes: Sizes) -> int:
        num_nodes = sizes.num_nodes
        dropping = settings.input_dropout > 0
        # Two of the masks of a byte an entry; matrices of four only where they are kept.
        entries = 2 * num_nodes**2 if dropping else 0
        if is_small(num_nodes, num_nodes):
            kept = 1 + 2 * dropping + bool(settings.smoothness)
            kept += settings.max_iterations if settings.threshold > 0 else 0
            entries += 4 * (kept + 3) * num_nodes**2
        return entries + states_memory(settings, sizes)

    @override
    def forward(
        self,
        problem: Problem,
        *,
        generator: torch.Generator,
        num_samples: int = 1,
        draws: Draws | None = None,
    ) -> Output:
        rate = self.settings.input_dropout
        features = dropout(problem.features, rate, training=self.training, generator=generator)
        features = without_zeros(features)
        learner = _FullGraphs(self, features, self.observed.of(problem), generator)
        return output_of([self.encoder(features, learner, generator=generator)])


@final
class _FullGraphs(GraphLearner):
    """Compare every node with every other."""

    def __init__(
        self, method: IDGL, features: Features, observed: Graph, generator: torch.Generator
    ) -> None:
        self.method, self.settings, self.features = method, method.settings, features
        self.observed, self.generator = observed, generator
        self.first_norm: float | None = None
        size = features.size(0)
        self.gram = None
        if self.settings.smoothness:
            self.gram = FeatureGram(features, stored=is_small(size, size))

    @override
    def first(self) -> Stage:
        similarity = self.method.compare_features.entries(self.features)
        sums = similarity.row_sums
        rate = self.settings.input_dropout if self.method.training else 0.0
        if rate == 0.0:
            return self._stage(similarity, similarity, self.observed, sums)
        # The graph and the regulariser see the same similarities through masks of their own.
        in_graph, in_cost = (
            drawn_mask(similarity.shape, rate, sums, self.generator) for _ in range(2)
        )
        kept = in_graph[self.observed.targets, self.observed.sources]
        weight = self.observed.weights * kept / (1 - rate)
        observed = Graph(self.observed.edge_index, self.observed.num_nodes, weight)
        return self._stage(
            similarity.dropped(in_graph, rate), similarity.dropped(in_cost, rate), observed, sums
        )

    @override
    def later(self, hidden: Tensor) -> Stage:
        similarity = self.method.compare_states(hidden)
        return self._stage(similarity, similarity, self.observed, similarity.row_sums)

    @override
    def change(self, now: Similarity, before: Similarity, first: Similarity) -> float:
        if self.first_norm is None:
            self.first_norm = max(squared_norm(first), 1e-12)
        return squared_distance(now, before) / self.first_norm

    def _stage(
        self, in_graph: Similarity, in_cost: Similarity, observed: Graph, sums: Tensor
    ) -> Stage:
        graph = CombinedGraph(observed, in_graph, sums, self.settings.observed_share)
        return Stage(graph, in_cost, graph_regularizer(in_cost, self.gram, self.settings))


@final
class CombinedGraph(LearnedGraph):
    r"""Join the observed and the learned graph, :math:`\lambda L + (1 - \lambda) f(S)`.

    Args:
        observed: L, with its entries as weights.
        similarity: S, shape (N, N).
        sums: What each row of S is divided by, shape (N,).
        observed_share: λ.
    """

    def __init__(
        self, observed: Graph, similarity: Similarity, sums: Tensor, observed_share: float
    ) -> None:
        self.observed, self.similarity, self.share = observed, similarity, observed_share
        self.scale = (1 - observed_share) / sums.clamp(min=1e-12).unsqueeze(1)

    @override
    def times(self, states: Tensor) -> Tensor:
        observed = propagate_observed(self.observed, states)
        return self.share * observed + self.scale * self.similarity.times(states)

    @override
    def rows(self, start: int, stop: int) -> Tensor:
        learned = self.scale.detach()[start:stop] * self.similarity.rows(start, stop)
        return learned.add_(observed_rows(self.observed, start, stop), alpha=self.share)
