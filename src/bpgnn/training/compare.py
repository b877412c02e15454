"""How a latent graph compares with the observed one."""

import torch
from torch import Tensor

from bpgnn.graph import Graph
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


def compare_graphs(observed: Graph | None, latent: Graph, labels: Tensor) -> LatentSummary:
    """Count the undirected pairs that were kept, added and dropped, and compare homophily."""
    observed = observed or Graph.empty(latent.num_nodes)
    before, after = (_keys(graph) for graph in (observed, latent))
    kept = int(torch.isin(before, after).sum())
    return LatentSummary(
        kept=kept,
        added=len(after) - kept,
        dropped=len(before) - kept,
        observed_homophily=homophily(observed, labels),
        latent_homophily=homophily(latent, labels),
    )


def _keys(graph: Graph) -> Tensor:
    low, high = graph.undirected_pairs()
    return low * graph.num_nodes + high
