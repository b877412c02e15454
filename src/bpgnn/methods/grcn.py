"""The graph-revised convolutional network."""

from dataclasses import dataclass
from typing import Any, ClassVar, cast, final

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from typing_extensions import override

from bpgnn.errors import InputError
from bpgnn.graph import Graph
from bpgnn.method import Draws, Method, MethodSettings, Output, Problem, Sizes
from bpgnn.networks.similar import BLOCK_ENTRIES, most_similar
from bpgnn.nn.aggregation import edge_products, weighted_sum
from bpgnn.nn.dropout import dropout
from bpgnn.nn.factor import to_dense
from bpgnn.nn.linear import FeatureLinear
from bpgnn.nn.sparse import Features, SparseMatrix


@final
@dataclass(frozen=True, kw_only=True)
class GRCNSettings(MethodSettings):
    """Settle a GRCN.

    Args:
        hidden: Width of the classifier's hidden layer.
        k: Most similar nodes that each node is joined with, itself among them.
        unit_length: Scale the vectors that are compared to length one.
        dropout: Share of the hidden layer dropped in training.
        graph_learning_rate: Adam's step size for what the graph is revised by; it does not
            decay.
    """

    hidden: int = 32
    k: int = 50
    unit_length: bool = True
    dropout: float = 0.5
    learning_rate: float = 0.005
    graph_learning_rate: float = 0.001
    weight_decay: float = 5e-3

    def __post_init__(self) -> None:
        """Refuse numbers out of range."""
        super().__post_init__()
        self.refuse_unless_counts("hidden", "k")
        self.refuse_unless_rates("dropout")
        self.refuse_unless("above 0", lambda rate: rate > 0, "graph_learning_rate")


@final
class GRCN(Method[GRCNSettings]):
    r"""Classify nodes over the observed graph plus edges between similar nodes.

    "Graph-Revised Convolutional Network", Yu et al., 2020 (https://arxiv.org/abs/1911.07123):

    .. math::
        Z = \hat A \tanh(\hat A X W_1) W_2, \quad S_{ij} = \langle z_i, z_j \rangle, \quad
        \tilde A = A + S^{(K)}

    with W_1, W_2 diagonal, rows of Z of length one (not on CiteSeer), and S kept where j is among
    the K most similar to i or i to j; then a GCN of two layers over the normalised
    :math:`\tilde A`.

    Args:
        settings: All choices.
        problem: What the sizes are taken from.

    Departures:
        The search for the K most similar nodes goes over blocks of rows and has no gradient;
        S is then computed at the pairs found, so that no N by N matrix is held. Similarities
        below zero count as zero.
    """

    citation: ClassVar[str] = """@inproceedings{yu2020graph,
  title     = {Graph-Revised Convolutional Network},
  author    = {Yu, Donghan and Zhang, Ruohong and Jiang, Zhengbao and Wu, Yuexin and
               Yang, Yiming},
  year      = {2020},
  booktitle = {European Conference on Machine Learning and Knowledge Discovery in Databases}
}"""

    settings_type = GRCNSettings
    presets: ClassVar = {
        "published": {
            "max_steps": 300,
            "patience": 300,
            "evaluate_every": 1,
            "select_by": "accuracy",
            "feature_scaling": "none",
            "split": "public",
        },
        "paper": {"max_steps": 10_000, "patience": 1500, "evaluate_every": 100}
        | {"split": "complete"},
        "tuned": {},
    }
    by_dataset: ClassVar = {
        ("published", "cora"): {"k": 150},
        ("published", "citeseer"): {
            "k": 300,
            "learning_rate": 0.05,
            "max_steps": 200,
            "unit_length": False,
        },
    }
    graph_use = "used"
    infers_graph = True

    def __init__(self, settings: GRCNSettings, problem: Problem) -> None:
        """Make the maps; the graph's begin as identities."""
        super().__init__()
        if settings.k > problem.num_nodes:
            raise InputError(
                f"`k` must be at most {problem.num_nodes}, the number of nodes, but got "
                f"{settings.k}. Ask for fewer neighbours a node."
            )
        self.settings = settings
        self.first = nn.Parameter(torch.ones(problem.num_features))
        self.second = nn.Parameter(torch.ones(problem.num_features))
        self.hidden = FeatureLinear(problem.num_features, settings.hidden, "torch")
        self.output = FeatureLinear(settings.hidden, problem.num_classes, "torch")

    @override
    @classmethod
    def memory(cls, settings: GRCNSettings, sizes: Sizes) -> int:
        dense = sizes.num_nodes * sizes.num_features
        edges = sizes.num_edges + (2 * settings.k + 1) * sizes.num_nodes
        return (
            48 * dense
            + 100 * edges
            + 12 * BLOCK_ENTRIES
            + 24 * (settings.hidden * (sizes.num_features + 2 * sizes.num_nodes))
        )

    @override
    def parameter_groups(self) -> list[dict[str, Any]]:
        settings = self.settings
        classifier = [*self.hidden.parameters(), *self.output.parameters()]
        return [
            {"params": [self.first, self.second], "lr": settings.graph_learning_rate},
            {"params": classifier, "weight_decay": settings.weight_decay},
        ]

    @override
    def forward(
        self,
        problem: Problem,
        *,
        generator: torch.Generator,
        num_samples: int = 1,
        draws: Draws | None = None,
    ) -> Output:
        observed, weight = _with_self_loops(problem, self.first)
        edges, similarity = self._similar(problem.features, observed, weight)
        revised, weight = _joined(observed, weight, edges, similarity)
        weight = _normalized(revised, weight)
        states = F.relu(weighted_sum(self.hidden(problem.features), revised, weight))
        rate = self.settings.dropout
        states = dropout(states, rate, training=self.training, generator=generator)
        logits = weighted_sum(self.output(states), revised, weight)
        return Output(logits.unsqueeze(0), detail=(revised, weight))

    @override
    def losses(self, output: Output, problem: Problem) -> dict[str, Tensor]:
        return {"task": problem.task_loss(output.logits)}

    @override
    def latent_graphs(self, output: Output) -> tuple[Graph, ...]:
        graph, weight = output.detail
        weight = weight.detach()
        kept = weight > 0
        return (Graph.from_edge_index(graph.edge_index[:, kept], graph.num_nodes, weight[kept]),)

    def _similar(
        self, features: Features, observed: Graph, weight: Tensor
    ) -> tuple[Tensor, Tensor]:  # (2, M), (M,)
        """Find each node's most similar ones, and how similar they are, in both directions."""
        normal = _normalized(observed, weight)
        dense = to_dense(features) if isinstance(features, SparseMatrix) else features
        states = weighted_sum(dense * self.first, observed, normal)
        states = weighted_sum(states.tanh() * self.second, observed, normal)
        points = F.normalize(states, dim=1) if self.settings.unit_length else states
        num_nodes, k = observed.num_nodes, self.settings.k
        source = most_similar(points, k).flatten()
        target = torch.arange(num_nodes, device=source.device).repeat_interleave(k)
        edges = torch.stack([source, target])
        similarity = edge_products(points, points, Graph(edges, num_nodes))
        both = torch.cat([similarity, similarity]).clamp(min=0)
        return torch.cat([edges, edges.flip(0)], dim=1), both


def _with_self_loops(problem: Problem, like: Tensor) -> tuple[Graph, Tensor]:
    """Return A + I and its weights."""
    num_nodes = problem.num_nodes
    graph = problem.graph or Graph.empty(num_nodes).to(like.device)
    loops = torch.arange(num_nodes, device=like.device).repeat(2, 1)
    weight = graph.weights.to(like)
    return _joined(graph, weight, loops, like.new_ones(num_nodes))


def _joined(
    graph: Graph, weight: Tensor, edges: Tensor, more: Tensor
) -> tuple[Graph, Tensor]:  # (E,), (2, M), (M,)
    """Add edges with weights; a pair may then have several, whose weights add up."""
    every = torch.cat([graph.edge_index, edges], dim=1)
    order = torch.argsort(every[1], stable=True)
    return Graph(every[:, order], graph.num_nodes), torch.cat([weight, more])[order]


def _normalized(graph: Graph, weight: Tensor) -> Tensor:  # (E,)
    """Divide weights by the roots of both ends' sums."""
    total = weight.new_zeros(graph.num_nodes).index_add(0, graph.targets, weight)
    root = cast(Tensor, total.clamp(min=1e-10).rsqrt())
    return weight * root[graph.sources] * root[graph.targets]
