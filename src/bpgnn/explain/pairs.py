"""The latent graph beside the observed one, pair by pair."""

from dataclasses import dataclass
from typing import final

import numpy as np
import torch
from torch import Tensor

from bpgnn.graph import Graph
from bpgnn.infer.probabilities import EdgeProbabilities
from bpgnn.training.compare import pair_keys
from bpgnn.training.fit import Fit

OBSERVED, ADDED, DROPPED = "observed", "added", "dropped"


@final
@dataclass(frozen=True, eq=False)
class Pairs:
    """Hold every pair of nodes that is joined by the observed graph or a sampled one.

    Args:
        nodes: The pairs, smaller number first, shape (2, E).
        kind: `observed` (and in a sampled graph), `added` (in sampled graphs only) or
            `dropped` (observed, and in none of the sampled graphs), shape (E,).
        probability: P~ of the pair, the larger of its two directions, shape (E,). Of methods
            without edge probabilities, the latent weight.
        frequency: The share of the sampled graphs that join the pair, shape (E,).
    """

    nodes: Tensor
    kind: np.ndarray
    probability: Tensor
    frequency: Tensor


@torch.no_grad()
def pairs_of(fitted: Fit) -> Pairs:
    """Compare the sampled graphs of a training with the graph that was observed.

    Example:
        >>> from bpgnn.data.synthetic import block_model
        >>> from bpgnn.training.fit import fit
        >>> from bpgnn.training.plan import Plan
        >>> found = pairs_of(fit(block_model(60), Plan(changes={"max_steps": 3, "k": 4})))
        >>> sorted(set(found.kind.tolist()))
        ['added', 'dropped', 'observed']
    """
    num_nodes = fitted.problem.num_nodes
    graphs = [graph.to("cpu") for graph in fitted.method.latent_graphs(fitted.output)]
    observed = fitted.dataset.graph or Graph.empty(num_nodes)
    before = pair_keys(observed)
    each = [pair_keys(graph) for graph in graphs]
    latent, counts = torch.unique(torch.cat([before[:0], *each]), return_counts=True)
    every = torch.unique(torch.cat([before, latent]))
    frequency = torch.zeros(len(every), dtype=torch.double)
    frequency[torch.searchsorted(every, latent)] = counts.double() / max(len(graphs), 1)
    was, now = torch.isin(every, before), frequency > 0
    kind = np.where(was & now, OBSERVED, np.where(now, ADDED, DROPPED))
    low = torch.div(every, max(num_nodes, 1), rounding_mode="floor")
    nodes = torch.stack([low, every - low * num_nodes])
    return Pairs(nodes, kind, _probability(fitted, nodes, graphs), frequency)


def _probability(fitted: Fit, nodes: Tensor, graphs: list[Graph]) -> Tensor:  # (2, E) -> (E,)
    found = fitted.method.edge_probabilities(fitted.output)
    if "product" in found:
        return _larger(found["product"], nodes)
    weight = torch.zeros(nodes.size(1), dtype=torch.double)
    keys = nodes[0] * fitted.problem.num_nodes + nodes[1]
    for graph in graphs:
        low = torch.minimum(graph.sources, graph.targets)
        high = torch.maximum(graph.sources, graph.targets)
        apart = low != high
        place = torch.searchsorted(keys, (low * graph.num_nodes + high)[apart])
        weight = weight.scatter_reduce(0, place, graph.weights.double()[apart], "amax")
    return weight


def _larger(probabilities: EdgeProbabilities, nodes: Tensor) -> Tensor:
    edges = nodes.to(probabilities.device)
    both = [probabilities.entries(ends).double().cpu() for ends in (edges, edges.flip(0))]
    return torch.maximum(*both)
