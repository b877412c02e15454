"""A network that infers graphs, samples them and propagates over them.

BPGNN is this network over A ⋄ P, dDGM over P alone.
"""

from abc import ABC
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Literal, TypeVar, cast, final

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from typing_extensions import override

from bpgnn.errors import InputError
from bpgnn.graph import Graph
from bpgnn.infer.checked import CheckedInference
from bpgnn.infer.layer import BooleanLayer, Inference
from bpgnn.infer.messages import MessageWeight, drawn_edges, log_message_weight
from bpgnn.infer.probabilities import EdgeProbabilities, KernelProbabilities
from bpgnn.infer.sample.sampler import Sample, check_sample_size
from bpgnn.losses.graph_reward import (
    graph_likelihood,
    graph_reward,
    noisy_graph_reward,
    probability_reward,
    running_mean,
)
from bpgnn.method import Draws, Method, MethodSettings, Output, Problem, Sizes
from bpgnn.nn.choose import make_aggregation
from bpgnn.nn.dropout import dropout
from bpgnn.nn.evidence import EdgeEvidence, evidence_memory
from bpgnn.nn.linear import FeatureLinear, LinearStart
from bpgnn.nn.nearest import search_memory
from bpgnn.nn.nearest_edges import NearestEdges
from bpgnn.nn.sparse import Features
from bpgnn.nn.stack import Stack, make_layers


@dataclass(frozen=True, kw_only=True)
class SampledSettings(CheckedInference):
    """Settle how graphs are inferred, and the networks before, between and after.

    Args:
        boolean_layers: Number of layers L that infer a new graph; 0 is the plain GNN.
        hidden: Width of each GNN layer; those after the last Boolean one reuse its graph.
        input_width: Width of a dense layer before the first GNN layer, or None for none.
        head: Widths of the hidden layers of the classifier after the last GNN layer.
        scores: Where the classes' scores come from: a classifier, `head`, or one more GNN layer,
            `messages`, whose messages they are, as in a GCN; it has no `head`.
        linear_start: How the dense layers before and after are drawn: by `glorot`, or as in
            `torch`, which is the authors' way.
        aggregation: The GNN: `gcn`, `gat` or `edgeconv`.
        embedding: The network f that gives latent points: an aggregation, or `mlp`.
        embedding_hidden: Widths of the hidden layers of f.
        message_weight: What a sampled edge's message counts for: `probability`, its P~;
            `votes`, P~ times the number of witnesses, so that with a sharp kernel the
            messages are those over the observed graph; `none`, one. The first two let the
            classification loss reach the graph.
        task_shapes_graph: Let the classification loss reach the graph through those weights.
        observed_messages: Pass messages over the observed edges as well, beside the sampled
            ones, at a weight that is learned.
        observed_gate: Let such a message count for less the less alike its ends are: for
            exp(-g γ(V_i, V_j)²), g learned.
        edge_evidence: Let an observed edge count for what speaks for it besides: the likeness of
            its ends' features, that of each end to the other's neighbours, and triangles. How
            much each of these counts is learned, and at first nothing.
        nearest_messages: Let every node also hear from up to so many others, those whose features
            are most alike by cosine, beside sampled and observed neighbours, at a weight that is
            learned; a gate and evidence, if settled, weigh these edges, too. The Boolean product
            stays that of the observed graph.
        nearest_in_embedding: Let the first f hear from them as well.
        own_states: Give every layer a linear map of the node's own state beside the messages,
            so that it can tell itself from its neighbours.
        graph_loss: `reward` (the paper's), `probability` (P~ in place of its logarithm, as in
            dDGM's code), `noisy` (the same with the noise of the draw, as in BPGNN's code),
            `likelihood` (with the terms that make it a score function) or `none`.
        graph_loss_weight: What the graph loss counts for.
        latent_loss_weight: What the latent loss counts for: how well a linear classifier of
            each layer's latent points alone does. It teaches f what makes nodes alike
            without the detour through the sampled graph.
        task_loss: `cross_entropy` or, as in the authors' code, `binary`.
        dropout: Share of each hidden layer's input dropped in training.
        input_dropout: Share of the features dropped in training.
        embedding_dropout: Share of each input of f dropped in training.
    """

    boolean_layers: int = 1
    hidden: tuple[int, ...] = (128, 64)
    input_width: int | None = None
    head: tuple[int, ...] = ()
    scores: Literal["head", "messages"] = "head"
    linear_start: LinearStart = "glorot"
    aggregation: Literal["gcn", "gat", "edgeconv"] = "gcn"
    embedding: Literal["gcn", "gat", "edgeconv", "mlp"] = "gcn"
    embedding_hidden: tuple[int, ...] = (128,)
    message_weight: MessageWeight = "votes"
    task_shapes_graph: bool = True
    observed_messages: bool = False
    observed_gate: bool = False
    edge_evidence: bool = False
    nearest_messages: int = 0
    nearest_in_embedding: bool = False
    own_states: bool = False
    graph_loss: Literal["reward", "probability", "noisy", "likelihood", "none"] = "none"
    graph_loss_weight: float = 1.0
    latent_loss_weight: float = 0.3
    task_loss: Literal["cross_entropy", "binary"] = "cross_entropy"
    dropout: float = 0.5
    input_dropout: float = 0.5
    embedding_dropout: float = 0.5

    def __post_init__(self) -> None:
        """Refuse numbers out of range."""
        super().__post_init__()
        layers = len(self.hidden) + (self.scores == "messages")
        self.refuse_unless("one width or more", lambda widths: len(widths) > 0, "hidden")
        self.refuse_unless(
            "widths of 1 or more",
            lambda widths: min(widths, default=1) >= 1,
            *("hidden", "head", "embedding_hidden"),
        )
        self.refuse_unless(
            f"between 0 and {layers}, the number of GNN layers that `hidden` and `scores` make",
            lambda number: 0 <= number <= layers,
            "boolean_layers",
        )
        self.refuse_unless_rates("dropout", "input_dropout", "embedding_dropout")
        self.refuse_unless_counts("input_width")
        self.refuse_unless(
            "0 or more",
            lambda number: number >= 0,
            *("graph_loss_weight", "latent_loss_weight", "nearest_messages"),
        )
        if self.nearest_in_embedding and not self.nearest_messages:
            raise InputError(
                "`nearest_in_embedding` is for the messages of `nearest_messages`, which is 0. "
                "Set `nearest_messages=5`, or `nearest_in_embedding=false`."
            )
        if self.scores == "messages" and self.head:
            raise InputError(
                "`scores=messages` leaves no place for a `head`. Set `head=` to none, or "
                "`scores=head`."
            )
        if self.graph_loss == "likelihood" and self.symmetric:
            raise InputError(
                "`graph_loss=likelihood` is defined for the plain product only. "
                "Set `symmetric=false` or another graph loss."
            )


@dataclass(frozen=True, kw_only=True)
class SampledMethodSettings(MethodSettings, SampledSettings):
    """Settle such a network and how it is trained."""


_Weighed = tuple[Graph, Tensor | None]
"""Edges, and the logarithms of what they count for, shape (E,), or None for ones."""


@final
@dataclass(frozen=True, eq=False)
class _Branch:
    """Follow one sampled graph through the layers."""

    states: Features  # U, (N, F)
    latent: Tensor | None  # V, (N, D)
    graph: Graph
    log_weight: Tensor | None  # (E,)
    drawn: tuple["_Drawn", ...] = ()


@final
@dataclass(frozen=True, eq=False)
class _Entries:
    """Promise the logarithms of P~ at drawn edges, worked out when they are first asked for.

    In training nobody asks where messages count alike and no loss is on the graph.
    """

    inference: Inference
    edges: Tensor  # (2, E)

    def __call__(self) -> Tensor:  # (E,)
        return self._values

    @cached_property
    def _values(self) -> Tensor:  # (E,)
        found = self.inference.probabilities.log_entries(self.edges)
        return found.to(self.inference.latent.dtype)


@final
@dataclass(frozen=True, eq=False)
class _Drawn:
    """Remember what a Boolean layer drew, for the graph loss, and what messages pass over."""

    inference: Inference
    graph: Graph
    entries: _Entries
    edge_scores: Tensor  # (E,)
    messages: Graph
    message_log_weight: Tensor | None  # (E of messages,)

    @property
    def edge_log_prob(self) -> Tensor:  # (E,)
        return self.entries()

    @property
    def log_prob(self) -> Tensor:  # (N, K)
        return self.edge_log_prob.view(self.graph.num_nodes, -1)

    @property
    def scores(self) -> Tensor:  # (N, K)
        return self.edge_scores.view(self.graph.num_nodes, -1)


@final
class SampledNetwork(nn.Module):
    r"""Alternate between inferring a graph and propagating over it.

    .. math::
        V^{(l+1)} &= f([U^{(l)} | V^{(l)}], A^{(l)}) \\
        A^{(l+1)} &\sim \text{Gumbel-top-}k(\tilde P(V^{(l+1)})) \\
        U^{(l+1)} &= \text{GNN}(A^{(l+1)}, U^{(l)})

    and the prediction is an MLP of the last U. Later layers reuse the last graph.

    Args:
        settings: All choices.
        problem: What the sizes of the first and last layer are taken from.
    """

    expected_right: Tensor

    def __init__(self, settings: SampledSettings, problem: Problem) -> None:
        """Make all layers."""
        super().__init__()
        self.settings = settings
        if settings.boolean_layers:
            check_sample_size(settings.k, problem.num_nodes, self_pairs=settings.self_pairs)
        width = settings.input_width or problem.num_features
        self.input = None
        if settings.input_width:
            self.input = FeatureLinear(problem.num_features, width, settings.linear_start)
        self.boolean = nn.ModuleList()
        self.guides = nn.ModuleList()
        self.layers = nn.ModuleList()
        self.own = nn.ModuleList()
        known = 0
        widths = [width, *settings.hidden]
        if settings.scores == "messages":
            widths.append(problem.num_classes)
        for position, (wide, narrow) in enumerate(pairwise(widths)):
            if position < settings.boolean_layers:
                inner = [wide + known, *settings.embedding_hidden, settings.latent_dim]
                layers = make_layers(settings.embedding, inner)
                embedding = Stack(layers, settings.embedding_dropout)
                self.boolean.append(BooleanLayer(embedding, settings))
                if settings.latent_loss_weight > 0:
                    self.guides.append(FeatureLinear(settings.latent_dim, problem.num_classes))
                known = settings.latent_dim
            self.layers.append(make_aggregation(settings.aggregation, wide, narrow))
            if settings.own_states:
                self.own.append(FeatureLinear(wide, narrow))
        head = (settings.hidden[-1], *settings.head, problem.num_classes)
        self.head = nn.ModuleList()
        if settings.scores == "head":
            self.head.extend(FeatureLinear(*pair, settings.linear_start) for pair in pairwise(head))
        # The logarithm of what an observed edge's message counts for.
        keeps = settings.observed_messages and settings.boolean_layers > 0
        self.observed_weight = nn.Parameter(torch.zeros(())) if keeps else None
        gated = keeps and settings.observed_gate
        self.observed_gate = nn.Parameter(torch.full((), 0.1)) if gated else None
        graph, features, weighed = problem.graph, problem.features, settings.edge_evidence
        self.evidence = EdgeEvidence(graph, features) if weighed and graph is not None else None
        near = settings.nearest_messages
        if near >= problem.num_nodes:
            raise InputError(
                f"`nearest_messages` must be between 0 and {problem.num_nodes - 1} for "
                f"{problem.num_nodes} nodes, but got {near}."
            )
        self.nearest = NearestEdges(graph, features, near, weighed=weighed) if near else None
        # E[a_i], how often each node has been classified right of late.
        self.register_buffer("expected_right", torch.full((problem.num_nodes,), 0.5))

    @property
    def sampler_name(self) -> str | None:
        """Name the sampler in use, or None if no graph is sampled."""
        return cast(BooleanLayer, self.boolean[0]).sampler_name if self.boolean else None

    @property
    def inferring(self) -> set[int]:
        """Collect the identities of the parameters that graphs are inferred by."""
        parts = (self.boolean, self.guides)
        return {id(parameter) for part in parts for parameter in part.parameters()}

    @override
    def forward(
        self,
        problem: Problem,
        *,
        generator: torch.Generator,
        num_samples: int = 1,
        draws: Draws | None = None,
    ) -> Output:  # logits (S, N, C)
        """Score every node's classes over sampled graphs, or over the graphs in `draws`.

        Graphs in `draws` may lack edges; only the graph losses want K neighbours a node.
        """
        settings = self.settings
        states = self._input(problem.features, generator)
        observed = self._observed(problem)
        nearest = self._nearest(problem)
        is_wide = settings.nearest_in_embedding or not settings.boolean_layers
        start = _joined(observed, nearest) if is_wide else observed
        branches = [_Branch(states, None, *start)]
        beside = _joined(observed, nearest) if settings.observed_messages else nearest
        given = None if draws is None else iter(draws)
        drawn: list[Graph] = []
        for position, layer in enumerate(self.layers):
            if position < settings.boolean_layers:
                boolean = cast(BooleanLayer, self.boolean[position])
                samples = num_samples if len(branches) == 1 else 1
                branches = [
                    new
                    for branch in branches
                    for new in self._inferred(
                        boolean,
                        branch,
                        problem.graph,
                        beside,
                        generator,
                        samples,
                        None if given is None else [next(given) for _ in range(samples)],
                    )
                ]
                drawn += [branch.drawn[-1].graph for branch in branches]
            rate = settings.input_dropout if position == 0 else settings.dropout
            own = self.own[position] if self.own else None
            branches = [
                self._propagated(layer, own, branch, rate, generator) for branch in branches
            ]
        logits = torch.stack([self._head(branch.states, generator) for branch in branches])
        return Output(logits, tuple(drawn), tuple(branch.drawn for branch in branches))

    def latent_graphs(self, output: Output) -> tuple[Graph, ...]:
        """Return the last graph of each sample, with its probabilities as weights."""
        drawn = [layers[-1] for layers in output.detail if layers]
        return tuple(_as_weighed(one.graph, one.edge_log_prob) for one in drawn)

    def edge_probabilities(self, output: Output) -> dict[str, EdgeProbabilities]:
        """Return P and what it was joined with the observed graph to, of the last layer."""
        layers = output.detail[0]
        if not layers:
            return {}
        found = layers[-1].inference
        return {"latent": found.kernel, "product": found.probabilities}

    def message_graphs(self, output: Output, problem: Problem) -> tuple[Graph, ...]:
        """Return what the messages after the last Boolean layer pass over, weighed as they are.

        Without Boolean layers that is the observed graph, and the nearest if settled so. Where
        all messages count alike, edges have their probabilities.
        """
        drawn = [layers[-1] for layers in output.detail if layers]
        if drawn and drawn[0].message_log_weight is None:
            return self.latent_graphs(output)
        if drawn:
            return tuple(_as_weighed(one.messages, one.message_log_weight) for one in drawn)
        if problem.graph is None and self.nearest is None:
            return ()
        return (_as_weighed(*_joined(self._observed(problem), self._nearest(problem))),)

    def losses(self, output: Output, problem: Problem) -> dict[str, Tensor]:
        """Return the task loss and, as settled, latent and graph loss."""
        settings = self.settings
        terms = {"task": problem.task_loss(output.logits, settings.task_loss)}
        if self.guides:
            guesses = [
                guide(layer.inference.latent)
                for layers in output.detail
                for guide, layer in zip(self.guides, layers, strict=True)
            ]
            value = problem.task_loss(torch.stack(guesses), settings.task_loss)
            terms["latent"] = settings.latent_loss_weight * value
        drawn = [layer for layers in output.detail for layer in layers]
        if drawn and settings.graph_loss != "none":
            right = self._right(output, problem)
            surprise = self.expected_right[problem.train] - right
            values = [self._graph_loss(layer, problem.train, surprise) for layer in drawn]
            terms["graph"] = settings.graph_loss_weight * torch.stack(values).mean()
        return terms

    @torch.no_grad()
    def observe(self, output: Output, problem: Problem) -> None:
        """Move each node's expectation towards what has just been seen."""
        nodes = problem.train
        expected = self.expected_right
        expected[nodes] = running_mean(expected[nodes], self._right(output, problem))

    def _right(self, output: Output, problem: Problem) -> Tensor:  # (M,)
        guess = output.logits.detach().mean(0)[problem.train].argmax(-1)
        return (guess == problem.labels[problem.train]).to(output.logits.dtype)

    def _input(self, features: Features, generator: torch.Generator) -> Features:
        if self.input is None:
            return features
        rate = self.settings.input_dropout
        dropped = dropout(features, rate, training=self.training, generator=generator)
        return F.leaky_relu(self.input(dropped), 0.1)

    def _inferred(
        self,
        boolean: BooleanLayer,
        branch: _Branch,
        observed: Graph | None,
        beside: _Weighed | None,
        generator: torch.Generator,
        num_samples: int,
        given: list[Graph | Tensor] | None,
    ) -> list[_Branch]:
        """Infer the next graph of a branch, several times over if asked, or take those given.

        The edges to put beside it come with the logarithms of what they count for.
        """
        # U is cut off: the graph's parameters do not shape the features they are made of.
        states = branch.states.detach() if isinstance(branch.states, Tensor) else branch.states
        if branch.latent is not None:
            states = torch.cat([cast(Tensor, states), branch.latent], dim=1)
        found = boolean(
            states,
            branch.graph,
            branch.log_weight,
            observed,
            generator=generator,
            num_samples=num_samples,
            num_known=None if given is None else cast(Graph, given[0]).num_nodes,
        )
        branches = []
        known = None if given is None else cast("list[Graph]", given)
        for sampled, scores in _drawn_graphs(found.sample, known):
            edges = sampled.edge_index
            entries = _Entries(found, edges)
            log_weight = log_message_weight(
                found.probabilities, edges, entries, self.settings.message_weight
            )
            if log_weight is not None and not self.settings.task_shapes_graph:
                log_weight = log_weight.detach()
            graph, log_weight = self._beside(sampled, log_weight, beside, found.kernel)
            scores = scores.to(found.latent.dtype)
            drawn = _Drawn(found, sampled, entries, scores, graph, log_weight)
            branches.append(
                _Branch(branch.states, found.latent, graph, log_weight, (*branch.drawn, drawn))
            )
        return branches

    def _beside(
        self,
        sampled: Graph,
        log_weight: Tensor | None,
        beside: _Weighed | None,
        kernel: KernelProbabilities,
    ) -> _Weighed:
        """Put observed and nearest edges beside the sampled ones, if settled so."""
        if beside is None or beside[0].num_edges == 0:
            return sampled, log_weight
        graph, known = beside
        return _joined((sampled, log_weight), (graph, self._beside_weight(graph, known, kernel)))

    def _observed(self, problem: Problem) -> _Weighed:
        """Return the observed edges, and the logarithms of what they count for by themselves."""
        graph = problem.graph
        if graph is None:
            return Graph.empty(problem.num_nodes).to(problem.labels.device), None
        weight = None if graph.edge_weight is None else graph.edge_weight.log()
        if self.evidence is None:
            return graph, weight
        evidence = self.evidence(graph, problem.features)
        return graph, evidence if weight is None else weight + evidence

    def _nearest(self, problem: Problem) -> _Weighed | None:
        """Return the edges between nodes with like features, if there shall be some."""
        return None if self.nearest is None else self.nearest(problem.graph, problem.features)

    def _beside_weight(
        self, graph: Graph, known: Tensor | None, kernel: KernelProbabilities
    ) -> Tensor:  # (E,)
        """Return the logarithm of what edges count for beside the sampled ones."""
        own = kernel.latent.new_zeros(graph.num_edges).to(self.expected_right)
        own = own if self.observed_weight is None else own + self.observed_weight
        own = own if known is None else own + known.to(own)
        return own if self.observed_gate is None else own - self._unlikeness(graph, kernel)

    def _unlikeness(self, observed: Graph, kernel: KernelProbabilities) -> Tensor:  # (E,)
        """Return g γ² of each edge beside the sampled ones."""
        ends = (kernel.latent[nodes] for nodes in (observed.targets, observed.sources))
        squared = kernel.metric.squared_between(*ends)
        squared = squared if self.settings.task_shapes_graph else squared.detach()
        return cast(Tensor, self.observed_gate).clamp(min=0) * squared.to(self.expected_right)

    def _propagated(
        self,
        layer: nn.Module,
        own: nn.Module | None,
        branch: _Branch,
        rate: float,
        generator: torch.Generator,
    ) -> _Branch:
        states = dropout(branch.states, rate, training=self.training, generator=generator)
        heard = layer(states, branch.graph, branch.log_weight, generator=generator)
        heard = heard if own is None else heard + own(states)
        is_last = layer is self.layers[-1]
        states = heard if is_last and not self.head else F.relu(heard)
        return _Branch(states, branch.latent, branch.graph, branch.log_weight, branch.drawn)

    def _head(self, states: Features, generator: torch.Generator) -> Tensor:  # (N, C)
        rate = self.settings.dropout
        for position, layer in enumerate(self.head):
            if position > 0:
                states = F.leaky_relu(cast(Tensor, states), 0.1)
            states = layer(dropout(states, rate, training=self.training, generator=generator))
        return cast(Tensor, states)

    def _graph_loss(self, drawn: _Drawn, nodes: Tensor, surprise: Tensor) -> Tensor:
        settings = self.settings
        log_prob = drawn.log_prob[nodes]
        if settings.graph_loss == "probability":
            return probability_reward(log_prob, surprise)
        if settings.graph_loss == "noisy":
            return noisy_graph_reward(log_prob, drawn.scores[nodes], surprise)
        if settings.graph_loss == "likelihood":
            totals = drawn.inference.probabilities.log_totals(self_pairs=settings.self_pairs)
            return graph_likelihood(log_prob, totals[nodes], surprise)
        return graph_reward(log_prob, surprise)


SampledT = TypeVar("SampledT", bound=SampledMethodSettings)


class SampledMethod(Method[SampledT], ABC):
    """Classify by such a network; what builds on this brings settings, presets and a paper.

    Args:
        settings: All choices.
        problem: What the sizes of the first and last layer are taken from.
    """

    graph_use = "used"
    infers_graph = True
    takes_newcomers = True

    def __init__(self, settings: SampledT, problem: Problem) -> None:
        """Make the network."""
        super().__init__()
        self.settings = settings
        self.network = SampledNetwork(settings, problem)

    @override
    @classmethod
    def memory(cls, settings: SampledT, sizes: Sizes) -> int:
        return sampled_memory(settings, sizes)

    @property
    @override
    def sampler_name(self) -> str | None:
        return self.network.sampler_name

    @override
    def forward(
        self,
        problem: Problem,
        *,
        generator: torch.Generator,
        num_samples: int = 1,
        draws: Draws | None = None,
    ) -> Output:
        return self.network(problem, generator=generator, num_samples=num_samples, draws=draws)

    @override
    def losses(self, output: Output, problem: Problem) -> dict[str, Tensor]:
        return self.network.losses(output, problem)

    @override
    def latent_graphs(self, output: Output) -> tuple[Graph, ...]:
        return self.network.latent_graphs(output)

    @override
    def message_graphs(self, output: Output, problem: Problem) -> tuple[Graph, ...]:
        return self.network.message_graphs(output, problem)

    @override
    def edge_probabilities(self, output: Output) -> dict[str, EdgeProbabilities]:
        return self.network.edge_probabilities(output)

    @override
    def observe(self, output: Output, problem: Problem) -> None:
        self.network.observe(output, problem)


def _joined(one: _Weighed, other: _Weighed | None) -> _Weighed:
    """Put the edges of two graphs beside each other, each with its weight; twins stay two."""
    if other is None:
        return one
    (graph, weight), (others, other_weight) = one, other
    edges = torch.cat([graph.edge_index, others.edge_index], dim=1)
    like = other_weight if weight is None else weight
    order = torch.argsort(edges[1], stable=True)
    both = Graph(edges[:, order], graph.num_nodes)
    if like is None:
        return both, None
    weights = [
        like.new_zeros(some.num_edges) if own is None else own.to(like)
        for some, own in ((graph, weight), (others, other_weight))
    ]
    return both, torch.cat(weights)[order]


def _as_weighed(graph: Graph, log_weight: Tensor | None) -> Graph:  # a graph, (E,)
    """Hand out a graph with weights; those of an edge that is there twice are added up."""
    if log_weight is None:
        weight = torch.ones(graph.num_edges, device=graph.edge_index.device)
    else:
        # A weight that underflows would be no edge at all.
        weight = log_weight.detach().exp().clamp(min=1e-30)
    return Graph.from_edge_index(graph.edge_index, graph.num_nodes, weight)


def _drawn_graphs(sample: Sample, known: list[Graph] | None) -> list[tuple[Graph, Tensor]]:
    """Read drawn neighbours as graphs, each with the scores of its edges.

    Those of newcomers come after graphs that are known: these are taken as they are, and the
    noise they were drawn with is not known.
    """
    num_samples, num_drawn, _ = sample.neighbours.shape
    first = 0 if known is None else known[0].num_nodes
    graphs = []
    for turn in range(num_samples):
        edges, scores = drawn_edges(sample.neighbours[turn]), sample.scores[turn].flatten()
        if known is not None:
            before = known[turn].edge_index
            entering = torch.stack([edges[0], edges[1] + first])
            edges = torch.cat([before, entering], dim=1)
            scores = torch.cat([scores.new_zeros(before.size(1)), scores])
        graphs.append((Graph(edges, first + num_drawn), scores))
    return graphs


def sampled_memory(settings: SampledSettings, sizes: Sizes) -> int:
    """Estimate the bytes that a step or an evaluation holds beyond the data."""
    num_nodes, near = sizes.num_nodes, settings.nearest_messages
    num_edges = sizes.num_edges + near * num_nodes
    widths = sum(settings.hidden) + sum(settings.head) + sum(settings.embedding_hidden)
    widths += (settings.input_width or 0) + settings.latent_dim + sizes.num_classes
    weights = 16 * (settings.input_width or settings.hidden[0]) * sizes.num_features
    weights += 16 * max(0, *settings.embedding_hidden, settings.latent_dim) * sizes.num_features
    # Measured: states, their gradients and what the layers keep for them; edges twice over.
    kept = 40 * num_nodes * widths + 200 * (num_edges + num_nodes * settings.k)
    # Attention writes messages down, and they are kept for the gradient.
    parts = (
        (settings.aggregation, sum(settings.hidden) + sizes.num_classes),
        (settings.embedding, sum(settings.embedding_hidden) + settings.latent_dim),
    )
    attending = sum(width for layer, width in parts if layer == "gat")
    kept += 24 * attending * (num_edges + num_nodes * settings.k)
    sampling = 0
    if settings.boolean_layers:
        sampling = _SAMPLER_BYTES[settings.sampler](num_nodes)
    if settings.edge_evidence:
        counts = (sizes.num_edges, sizes.num_features, sizes.num_values)
        sampling += evidence_memory(num_nodes, *counts, num_asked=num_edges)
    if near:
        sampling += search_memory(num_nodes, near, sizes.num_values)
    return weights + kept + 8 * sizes.num_values + sampling


# The lazy sampler has a few kilobytes a row; the others hold float64 blocks.
_SAMPLER_BYTES: dict[str, Callable[[int], int]] = {
    "auto": lambda n: 4500 * n,
    "lazy": lambda n: 4500 * n,
    "blocked": lambda n: 6 * 8 * 256 * n,
    "dense": lambda n: 56 * n * n,
}
