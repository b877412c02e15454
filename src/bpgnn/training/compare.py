"""How a latent graph compares with the observed one."""

import torch
from sklearn.metrics import roc_auc_score
from torch import Tensor

from bpgnn.graph import Graph
from bpgnn.infer.probabilities import EdgeProbabilities
from bpgnn.training.record import LatentSummary


def homophily(graph: Graph, labels: Tensor) -> float | None:  # (N,)
    """Measure the share of edges, by weight, whose ends have the same label.

    Edges to unlabelled nodes and to oneself do not count. None where no edge counts.

    Example:
        >>> pair = Graph.from_edge_index(torch.tensor([[0, 1], [1, 2]]), num_nodes=3)
        >>> homophily(pair, torch.tensor([0, 0, 1]))
        0.5
    """
    first, second = labels[graph.sources], labels[graph.targets]
    counts = (first >= 0) & (second >= 0) & (graph.sources != graph.targets)
    weight = graph.weights.double()[counts]
    if weight.numel() == 0:
        return None
    same = (first == second)[counts]
    return float((weight * same).sum() / weight.sum())


def merged(graphs: tuple[Graph, ...]) -> Graph:
    """Average sampled graphs into one, whose weights are mean weights over all samples."""
    edges = torch.cat([graph.edge_index for graph in graphs], dim=1)
    weight = torch.cat([graph.weights for graph in graphs]) / len(graphs)
    return Graph.from_edge_index(edges, graphs[0].num_nodes, weight)


def recovery(observed: Graph, learned: Graph, true: Graph) -> float | None:
    """Measure how well learned weights tell true edges from added ones, from 0 to 1.

    A pair of nodes has the weight of both directions together. None where no edge was added,
    or none is true.

    Example:
        >>> observed = Graph.from_edge_index(torch.tensor([[0, 1], [1, 2]]), num_nodes=3)
        >>> true = Graph.from_edge_index(torch.tensor([[0], [1]]), num_nodes=3)
        >>> recovery(observed, true, true)
        1.0
    """
    pairs, (weighed, weight) = pair_keys(observed), _pair_weights(learned)
    is_true = torch.isin(pairs, pair_keys(true))
    if bool(is_true.all()) or not bool(is_true.any()):
        return None
    place = torch.searchsorted(weighed, pairs).clamp(max=max(len(weighed) - 1, 0))
    found = torch.zeros(len(pairs), dtype=torch.double)
    if len(weighed):
        found = torch.where(weighed[place] == pairs, weight[place], found)
    return float(roc_auc_score(is_true.numpy(), found.numpy()))


@torch.no_grad()
def same_label_counts(
    probabilities: EdgeProbabilities,
    nodes: Tensor,  # (M,)
    labels: Tensor,  # (N,)
) -> list[tuple[int, int]]:
    """Count pairs of some nodes, and those of the same label, by their probability.

    Args:
        probabilities: Of the edges.
        nodes: Between whom.
        labels: Of all nodes.

    Returns:
        Two counts for each tenth of the interval from 0 to 1, each pair in both directions.
    """
    edges = torch.cartesian_prod(nodes, nodes).T
    edges = edges[:, edges[0] != edges[1]]
    found = probabilities.entries(edges.to(probabilities.device)).cpu()
    tenth = (found * _INTERVALS).long().clamp(0, _INTERVALS - 1)
    same = labels[edges[0]] == labels[edges[1]]
    pairs, alike = (
        torch.bincount(part, minlength=_INTERVALS).tolist() for part in (tenth, tenth[same])
    )
    return list(zip(pairs, alike, strict=True))


# Intervals of probability that pairs are counted in.
_INTERVALS = 10


def compare_graphs(observed: Graph | None, latent: Graph, labels: Tensor) -> LatentSummary:
    """Count the undirected pairs that were kept, added and dropped, and compare homophily."""
    observed = observed or Graph.empty(latent.num_nodes)
    before, after = (pair_keys(graph) for graph in (observed, latent))
    kept = int(torch.isin(before, after).sum())
    return LatentSummary(
        kept=kept,
        added=len(after) - kept,
        dropped=len(before) - kept,
        observed_homophily=homophily(observed, labels),
        latent_homophily=homophily(latent, labels),
    )


def pair_keys(graph: Graph) -> Tensor:  # (pairs,)
    """Number each pair that an edge joins once, in order, by its nodes."""
    low, high = graph.undirected_pairs()
    return low * graph.num_nodes + high


def edge_keys(graph: Graph) -> Tensor:  # (edges,)
    """Number the pair of each edge as `pair_keys` does; both directions have one number."""
    low = torch.minimum(graph.sources, graph.targets)
    high = torch.maximum(graph.sources, graph.targets)
    return low * graph.num_nodes + high


def _pair_weights(graph: Graph) -> tuple[Tensor, Tensor]:
    """Add up the weights of both directions; return pairs in order and their weights."""
    keys, place = torch.unique(edge_keys(graph), return_inverse=True)
    total = torch.zeros(len(keys), dtype=torch.double)
    return keys, total.index_add(0, place, graph.weights.double())
