"""A network that learns a graph from its own states, and states from that graph, in turns."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TypeVar, cast, final

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from typing_extensions import override

from bpgnn.graph import Graph, with_both_directions
from bpgnn.method import Method, MethodSettings, Output, Problem, Sizes
from bpgnn.nn.aggregation import weighted_sum
from bpgnn.nn.dropout import dropout
from bpgnn.nn.factor import FeatureGram, is_crowded
from bpgnn.nn.heaviest import heaviest_neighbours
from bpgnn.nn.nearest import nearest_graph
from bpgnn.nn.normalized import normalized
from bpgnn.nn.similarity import Similarity, row_blocks
from bpgnn.nn.sparse import Features, matmul, values_of
from bpgnn.nn.weighted_cosine import WeightedCosine
from bpgnn.settings import Settings


@dataclass(frozen=True, kw_only=True)
class IterativeSettings(Settings):
    """Settle how graphs are learned, and the network that they serve.

    Args:
        hidden: Width of the hidden layer.
        observed_share: What the observed graph counts for beside the learned, λ.
        newest_share: What the newest graph counts for beside the first, η.
        threshold: Similarities up to this are no edges, ε.
        num_perspectives: Weight vectors of the similarity, m.
        smoothness: What it costs that the ends of an edge have different features, α.
        connectivity: What it costs that a node has little similarity to others, β.
        sparsity: What large similarities cost, γ.
        dropout: Share of the hidden layer dropped in the first iteration, in training.
        later_dropout: The same in later iterations.
        input_dropout: Share dropped of the features and of the first learned graph.
        max_iterations: Most iterations after the first.
        stop_change: Iterations end when the graph changes less than this, relative to its
            squared norm.
        nearest: Neighbours a node in the graph that stands in for one not observed.
    """

    hidden: int = 16
    observed_share: float = 0.8
    newest_share: float = 0.1
    threshold: float = 0.0
    num_perspectives: int = 4
    smoothness: float = 0.2
    connectivity: float = 0.0
    sparsity: float = 0.0
    dropout: float = 0.5
    later_dropout: float = 0.5
    input_dropout: float = 0.5
    max_iterations: int = 10
    stop_change: float = 4e-5
    nearest: int = 20

    def __post_init__(self) -> None:
        """Refuse numbers out of range."""
        super().__post_init__()
        counts = ("hidden", "num_perspectives", "max_iterations", "nearest")
        self.refuse_unless_counts(*counts)
        shares = ("observed_share", "newest_share")
        self.refuse_unless("from 0 to 1", lambda share: 0 <= share <= 1, *shares)
        rates = ("dropout", "later_dropout", "input_dropout", "threshold")
        self.refuse_unless_rates(*rates)
        costs = ("smoothness", "connectivity", "sparsity", "stop_change")
        self.refuse_unless("0 or more", lambda cost: cost >= 0, *costs)


class LearnedGraph(ABC):
    """Stand for a graph Ã over which states are propagated."""

    @abstractmethod
    def times(self, states: Tensor) -> Tensor:  # (N, D) -> (N, D)
        """Propagate, Ã H."""

    @abstractmethod
    def rows(self, start: int, stop: int) -> Tensor:  # (B, N)
        """Return some rows of Ã, without gradients."""


@final
@dataclass(frozen=True, eq=False)
class Stage:
    """Hold what is learned of the graph in one iteration.

    Args:
        graph: What states are propagated over.
        similarity: What the graph is made of and its change is measured by.
        regularizer: What the learned similarities cost.
    """

    graph: LearnedGraph
    similarity: Similarity
    regularizer: Tensor


class GraphLearner(ABC):
    """Learn graphs for one forward pass."""

    @abstractmethod
    def first(self) -> Stage:
        """Learn a graph from the features."""

    @abstractmethod
    def later(self, hidden: Tensor) -> Stage:  # (N, D)
        """Learn a graph from the hidden states."""

    @abstractmethod
    def change(self, now: Similarity, before: Similarity, first: Similarity) -> float:
        """Measure how much the graph has just changed."""


@final
@dataclass(frozen=True, eq=False)
class Trace:
    """Follow one forward pass through its iterations.

    Args:
        logits: Scores after each iteration, each of shape (N, C).
        regularizers: What the learned graph of each iteration cost.
        graph: The last graph.
    """

    logits: tuple[Tensor, ...]
    regularizers: tuple[Tensor, ...]
    graph: LearnedGraph


@final
class _Mixed(LearnedGraph):
    r"""Mix the newest and the first graph: :math:`\eta \tilde A^{(t)} + (1-\eta)\tilde A^{(1)}`."""

    def __init__(self, newest: LearnedGraph, first: LearnedGraph, newest_share: float) -> None:
        self.newest, self.first, self.share = newest, first, newest_share

    @override
    def times(self, states: Tensor) -> Tensor:
        return self.mix(self.newest.times(states), self.first.times(states))

    def mix(self, newest: Tensor, first: Tensor) -> Tensor:
        return self.share * newest + (1 - self.share) * first

    @override
    def rows(self, start: int, stop: int) -> Tensor:
        return self.mix(self.newest.rows(start, stop), self.first.rows(start, stop))


@final
class IterativeEncoder(nn.Module):
    r"""Classify by two layers of graph convolution, over a graph learned from the first.

    .. math::
        Z^{(t)} &= \text{ReLU}(\tilde A^{(t)} X W_0) \\
        \hat y^{(t)} &= \text{softmax}(\tilde A^{(t)} Z^{(t)} W_1)

    Args:
        settings: All choices.
        in_channels: Width of the features, F.
        out_channels: Number of classes, C.
    """

    def __init__(self, settings: IterativeSettings, in_channels: int, out_channels: int) -> None:
        """Draw the weights by Glorot's rule."""
        super().__init__()
        self.settings = settings
        self.first, self.last = (
            nn.Parameter(nn.init.xavier_uniform_(torch.empty(*widths)))
            for widths in ((in_channels, settings.hidden), (settings.hidden, out_channels))
        )

    @override
    def forward(
        self, features: Features, learner: GraphLearner, *, generator: torch.Generator
    ) -> Trace:
        """Iterate until the graph settles; features (N, F) are as dropout left them."""
        settings = self.settings
        inputs = matmul(features, self.first)
        first = stage = learner.first()
        graph, start = first.graph, first.graph.times(inputs)
        hidden = self._hidden(start, settings.dropout, generator)
        logits, regularizers = [graph.times(hidden @ self.last)], [first.regularizer]
        for _ in range(settings.max_iterations):
            before, stage = stage, learner.later(hidden)
            graph = _Mixed(stage.graph, first.graph, settings.newest_share)
            propagated = graph.mix(stage.graph.times(inputs), start)
            hidden = self._hidden(propagated, settings.later_dropout, generator)
            logits.append(graph.times(hidden @ self.last))
            regularizers.append(stage.regularizer)
            change = learner.change(stage.similarity, before.similarity, first.similarity)
            if change <= settings.stop_change:
                break
        return Trace(tuple(logits), tuple(regularizers), graph)

    def _hidden(self, propagated: Tensor, rate: float, generator: torch.Generator) -> Tensor:
        states = F.relu(propagated)
        return cast(Tensor, dropout(states, rate, training=self.training, generator=generator))


def output_of(traces: list[Trace], draws: tuple[Tensor, ...] = ()) -> Output:
    """Hand out the scores after the last iteration of each sample."""
    return Output(torch.stack([trace.logits[-1] for trace in traces]), draws, tuple(traces))


@dataclass(frozen=True, kw_only=True)
class IterativeMethodSettings(MethodSettings, IterativeSettings):
    """Settle such a network and how it is trained."""


IterativeT = TypeVar("IterativeT", bound=IterativeMethodSettings)


class IterativeMethod(Method[IterativeT], ABC):
    """Classify by such a network; what builds on this says what nodes are compared with.

    Args:
        settings: All choices.
        problem: What the sizes of the first and last layer are taken from.
    """

    graph_use = "used"
    infers_graph = True

    def __init__(self, settings: IterativeT, problem: Problem) -> None:
        """Make the network and what compares features and states."""
        super().__init__()
        self.settings = settings
        self.encoder = IterativeEncoder(settings, problem.num_features, problem.num_classes)
        views = (settings.num_perspectives, settings.threshold)
        self.compare_features = WeightedCosine(problem.num_features, *views)
        self.compare_states = WeightedCosine(settings.hidden, *views)
        self.observed = ObservedGraph(settings.nearest)

    @override
    def losses(self, output: Output, problem: Problem) -> dict[str, Tensor]:
        """Return the classification loss and the regulariser, over all iterations."""
        traces: tuple[Trace, ...] = output.detail
        tasks = [
            over_iterations([problem.task_loss(own.unsqueeze(0)) for own in trace.logits])
            for trace in traces
        ]
        graphs = [over_iterations(list(trace.regularizers)) for trace in traces]
        return {"task": torch.stack(tasks).mean(), "graph": torch.stack(graphs).mean()}

    @override
    @torch.no_grad()
    def validation_loss(self, output: Output, nodes: Tensor, labels: Tensor) -> float:
        """Judge as in training, regulariser and all, by the labels (V,) of other nodes (V,)."""
        totals = [
            over_iterations(
                [
                    F.cross_entropy(own[nodes], labels) + cost
                    for own, cost in zip(trace.logits, trace.regularizers, strict=True)
                ]
            )
            for trace in output.detail
        ]
        return float(torch.stack(totals).mean())

    @override
    def latent_graphs(self, output: Output) -> tuple[Graph, ...]:
        size = output.logits.size(1)
        return tuple(heaviest_neighbours(trace.graph.rows, size) for trace in output.detail)


def states_memory(settings: IterativeSettings, sizes: Sizes) -> int:
    """Estimate the bytes of all that grows with N alone."""
    num_nodes, rounds = sizes.num_nodes, settings.max_iterations + 1
    width = settings.num_perspectives * settings.hidden
    states = 4 * num_nodes * rounds * (6 * width + 8 * settings.hidden)
    values = 8 * sizes.num_values * (4 + 4 * settings.num_perspectives)
    if is_crowded(sizes.num_values, num_nodes, sizes.num_features):
        values += 32 * num_nodes * sizes.num_features * settings.num_perspectives
    weights = 16 * sizes.num_features * (settings.hidden + settings.num_perspectives)
    # Blocks of rows, a few at a time.
    return states + values + weights + 100 * sizes.num_edges + 2**26


def over_iterations(values: list[Tensor]) -> Tensor:
    """Add the first iteration's value and the mean of the later ones.

    Example:
        >>> over_iterations([torch.tensor(1.0), torch.tensor(2.0), torch.tensor(4.0)])
        tensor(4.)
    """
    return values[0] + torch.stack(values[1:]).mean() if len(values) > 1 else values[0]


def graph_regularizer(
    similarity: Similarity, gram: FeatureGram | None, settings: IterativeSettings
) -> Tensor:  # ()
    r"""Charge for a graph that is rough, disconnected or dense.

    .. math:: \frac{\alpha}{n^2} \text{tr}(X^\top (D - S) X) - \frac{\beta}{n} 1^\top \log(S 1)
        + \frac{\gamma}{n^2} \|S\|_F^2

    Args:
        similarity: S, shape (n, n).
        gram: The products of the features X; None will do where α is 0.
        settings: The weights α, β and γ.

    Returns:
        The cost.
    """
    size = similarity.shape[0]
    sums = similarity.row_sums
    total = connectivity_cost(sums, settings)
    if settings.smoothness and gram is not None:
        rough = sums @ gram.squared_norms() - similarity.alignment(gram)
        total = total + settings.smoothness * rough / size**2
    if settings.sparsity:
        total = total + settings.sparsity * similarity.square() / size**2
    return total


def connectivity_cost(sums: Tensor, settings: IterativeSettings) -> Tensor:  # (n,) -> ()
    """Charge for nodes whose similarities add up to little."""
    if not settings.connectivity:
        return sums.new_zeros(())
    return -settings.connectivity * (sums + 1e-12).log().mean()


def drawn_mask(
    shape: tuple[int, int], rate: float, like: Tensor, generator: torch.Generator
) -> Tensor:  # (N, M)
    """Draw which entries dropout keeps, one byte each."""
    kept = torch.empty(shape, dtype=torch.bool, device=like.device)
    for start, stop in row_blocks(*shape):
        draws = torch.rand(stop - start, shape[1], generator=generator, device=generator.device)
        kept[start:stop] = draws >= rate
    return kept


@final
class ObservedGraph:
    """Keep the normalised observed graph of the problem that was seen last."""

    def __init__(self, nearest: int) -> None:
        self.nearest = nearest
        self.seen: tuple[Problem, Graph] | None = None

    def of(self, problem: Problem) -> Graph:
        """Return Â with its entries as weights; nearest neighbours where none is observed."""
        if self.seen is None or self.seen[0] is not problem:
            features = problem.features
            like = values_of(features)
            graph = problem.observed
            if graph is None:
                k = min(self.nearest, problem.num_nodes - 1)
                graph = with_both_directions(nearest_graph(features, k))
            self.seen = (problem, normalized(graph, like))
        return self.seen[1]


def observed_rows(graph: Graph, start: int, stop: int) -> Tensor:  # (B, N)
    """Write some rows of a graph's matrix out."""
    first, last = int(graph.row_pointer[start]), int(graph.row_pointer[stop])
    dense = graph.weights.new_zeros(stop - start, graph.num_nodes)
    dense[graph.targets[first:last] - start, graph.sources[first:last]] = graph.weights[first:last]
    return dense


def propagate_observed(graph: Graph, states: Tensor) -> Tensor:  # (N, D) -> (N, D)
    """Propagate over the observed graph."""
    return weighted_sum(states, graph, graph.weights)
