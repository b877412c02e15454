"""What one node's prediction rests on."""

from dataclasses import dataclass
from typing import cast, final

import torch
from torch import Tensor

from bpgnn.errors import InputError
from bpgnn.explain.product import check_node, product_of
from bpgnn.graph import Graph
from bpgnn.method import Draws, Method, Output, Problem


@final
@dataclass(frozen=True)
class Neighbour:
    """Hold what a latent neighbour does for a prediction.

    Args:
        node: The neighbour.
        frequency: The share of the sampled graphs in which it was drawn.
        weight: Its edge's probability P~, the mean over those graphs.
        effect: By how much the probability of the predicted class falls, over all sampled
            graphs, when its edge is left out of them; below zero if it rises.
    """

    node: int
    frequency: float
    weight: float
    effect: float


@final
@dataclass(frozen=True)
class NodeReasons:
    """Say what one node's prediction rests on.

    Args:
        node: The node.
        predicted: The most probable class.
        probabilities: Of each class, the mean over the sampled graphs.
        entropy: How open the prediction is, in nats: 0 if sure, log C at most.
        disagreement: The part of the entropy that is due to the sampled graphs, their mutual
            information with the class: 0 if every graph predicts the same.
        agreement: The share of the sampled graphs whose own prediction is that class.
        num_graphs: Number of sampled graphs S.
        neighbours: The node's latent neighbours, the largest effect either way first.
    """

    node: int
    predicted: int
    probabilities: tuple[float, ...]
    entropy: float
    disagreement: float
    agreement: float
    num_graphs: int
    neighbours: tuple[Neighbour, ...]


@torch.no_grad()
def explain_node(
    method: Method, problem: Problem, output: Output, node: int, *, generator: torch.Generator
) -> NodeReasons:
    """Say what a node's class is, how sure that is, and which latent neighbours make it so.

    A neighbour is judged by leaving its edge to this node out of the sampled graphs in which
    it was drawn, and no other: those graphs are given to a forward pass again, so that nothing
    is drawn anew. The graphs are those of the last Boolean layer; earlier layers' stay whole,
    and so do observed and nearest edges that pass messages as well (`observed_messages`,
    `nearest_messages`).

    It costs as much as predicting over S·K graphs, for S samples of K neighbours a node, in
    S forward passes: seconds on thousands of nodes.

    Args:
        method: A trained method that draws graphs: BPGNN or a dDGM.
        problem: What it predicts.
        output: What it predicted (:func:`bpgnn.training.evaluate.predict`).
        node: The node to explain.
        generator: Asked for by the forward pass; nothing is drawn from it.

    Returns:
        The prediction, and the neighbours by their effect on it.

    Example:
        >>> import bpgnn
        >>> from bpgnn.randomness import generator_for
        >>> from bpgnn.training.evaluate import predict
        >>> data = bpgnn.block_model(60, num_classes=3, seed=0)
        >>> fit = bpgnn.fit(data, bpgnn.Plan(changes={"max_steps": 3, "num_samples": 2}))
        >>> output = predict(fit.method, fit.problem, generator=generator_for(0))
        >>> reasons = explain_node(fit.method, fit.problem, output, 5, generator=generator_for(0))
        >>> round(sum(reasons.probabilities), 6), reasons.num_graphs
        (1.0, 2)
        >>> sum(round(2 * neighbour.frequency) for neighbour in reasons.neighbours)  # S·K
        16
    """
    product_of(method, output)
    check_node(node, problem.num_nodes, name="node")
    if output.logits.size(1) != problem.num_nodes:
        raise InputError(
            f"`output` is about {output.logits.size(1)} nodes and `problem` about "
            f"{problem.num_nodes}. Predict this problem first."
        )
    own = output.logits[:, node].double().softmax(-1)
    mean = own.mean(0)
    predicted = int(mean.argmax())
    drawn = [_neighbours(graph, node) for graph in method.latent_graphs(output)]
    falls = _falls(method, problem, output, node, predicted, generator)
    entropy = _entropy(mean)
    return NodeReasons(
        node=node,
        predicted=predicted,
        probabilities=tuple(mean.tolist()),
        entropy=entropy,
        # Rounding could take it below zero.
        disagreement=max(0.0, entropy - sum(map(_entropy, own)) / len(own)),
        agreement=float((own.argmax(1) == predicted).double().mean()),
        num_graphs=len(own),
        neighbours=_summed(drawn, falls),
    )


def _falls(
    method: Method,
    problem: Problem,
    output: Output,
    node: int,
    predicted: int,
    generator: torch.Generator,
) -> list[dict[int, float]]:
    """Measure, for each sample and neighbour, by how much the class falls without its edge."""
    method.eval()
    num_graphs = output.logits.size(0)
    before = output.logits[:, node].double().softmax(-1)[:, predicted]
    falls = []
    for sample in range(num_graphs):
        # Draws come layer by layer, and in each layer sample by sample.
        layers = cast("tuple[Graph, ...]", output.draws[sample::num_graphs])
        sources = layers[-1].sources[layers[-1].targets == node].tolist()
        found = method(
            problem,
            generator=generator,
            num_samples=len(sources),
            draws=_without_each(layers, sources, node),
        )
        after = found.logits[:, node].double().softmax(-1)[:, predicted]
        falls.append(dict(zip(sources, (before[sample] - after).tolist(), strict=True)))
    return falls


def _without_each(layers: tuple[Graph, ...], sources: list[int], node: int) -> Draws:
    """Give one sample's graphs once for each of some edges, which the last graph then lacks."""
    *earlier, last = layers
    same = [graph for graph in earlier for _ in sources]
    return (*same, *(_without(last, source, node) for source in sources))


def _without(graph: Graph, source: int, target: int) -> Graph:
    keep = (graph.sources != source) | (graph.targets != target)
    return Graph(graph.edge_index[:, keep], graph.num_nodes)


def _neighbours(graph: Graph, node: int) -> dict[int, float]:
    """Return the neighbours of a node in a graph, with the weights of their edges."""
    run = slice(*graph.row_pointer[node : node + 2].tolist())
    return dict(zip(graph.sources[run].tolist(), graph.weights[run].tolist(), strict=True))


def _summed(drawn: list[dict[int, float]], falls: list[dict[int, float]]) -> tuple[Neighbour, ...]:
    found = []
    for node in sorted(set().union(*drawn)):
        weights = [graph[node] for graph in drawn if node in graph]
        effect = sum(fall.get(node, 0.0) for fall in falls) / len(drawn)
        share = len(weights) / len(drawn)
        found.append(Neighbour(node, share, sum(weights) / len(weights), effect))
    return tuple(sorted(found, key=lambda one: -abs(one.effect)))


def _entropy(shares: Tensor) -> float:  # (C,)
    return float(torch.special.entr(shares).sum())
