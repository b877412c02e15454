"""Edges added to a graph and removed from it, to measure what noise does."""

import math

import numpy as np
import torch
from torch import Tensor

from bpgnn.errors import InputError
from bpgnn.graph import Graph
from bpgnn.randomness import numpy_generator_for

_ADDING, _DROPPING = 0xADD, 0xD209


def add_edges(graph: Graph, ratio: float, *, seed: int) -> Graph:
    """Add random edges: round(ratio · E) new undirected pairs, E being those there are.

    Each set of non-edges of that size is equally likely. Self-loops are never added. In a
    weighted graph a new edge gets the mean weight. Time and memory grow with the number of
    edges, never with N².

    Args:
        graph: An undirected graph.
        ratio: New pairs as a share of the present ones, 0 or more.
        seed: The same seed gives the same edges.

    Returns:
        A graph that holds every edge of `graph` and the new ones.

    Example:
        >>> path = Graph.from_edge_index(torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), num_nodes=3)
        >>> add_edges(path, 0.5, seed=0).undirected_pairs().tolist()
        [[0, 0, 1], [1, 2, 2]]
    """
    present = _checked_pairs(graph, ratio)
    num_added = round(ratio * present.size)
    num_pairs = graph.num_nodes * (graph.num_nodes - 1) // 2
    if num_added > num_pairs - present.size:
        largest = (num_pairs - present.size) / present.size
        raise InputError(
            f"`ratio` {ratio} asks for {num_added} new edges, but only "
            f"{num_pairs - present.size} pairs of nodes are not joined yet. Use a ratio of at "
            f"most {math.floor(largest * 1000) / 1000}."
        )
    if num_added == 0:
        return graph
    generator = numpy_generator_for(seed, _ADDING)
    if 2 * (present.size + num_added) > num_pairs:
        # Most pairs end up joined: listing them all costs no more than the answer does,
        # while rejection would draw the same pair again and again.
        absent = np.setdiff1d(_all_pairs(graph.num_nodes), present, assume_unique=True)
        added = generator.choice(absent, num_added, replace=False, shuffle=False)
    else:
        added = _rejection_sample(present, num_added, graph.num_nodes, generator)
    return _with_pairs(graph, np.sort(added))


def drop_edges(graph: Graph, ratio: float, *, seed: int) -> Graph:
    """Remove random edges: round(ratio · E) undirected pairs of the E there are.

    Args:
        graph: An undirected graph.
        ratio: Removed pairs as a share of the present ones, from 0 to 1.
        seed: The same seed removes the same edges.

    Returns:
        A graph whose edges, with their weights, are edges of `graph`.

    Example:
        >>> path = Graph.from_edge_index(torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), num_nodes=3)
        >>> drop_edges(path, 0.5, seed=0).num_edges
        2
    """
    present = _checked_pairs(graph, ratio)
    if ratio > 1:
        raise InputError(
            f"`ratio` must be between 0 and 1 to remove edges, but got {ratio}. 0.25 removes a "
            "quarter of them."
        )
    num_dropped = round(ratio * present.size)
    generator = numpy_generator_for(seed, _DROPPING)
    dropped = generator.choice(present, num_dropped, replace=False, shuffle=False)
    keep = torch.from_numpy(~np.isin(_pair_keys(graph), dropped)).to(graph.edge_index.device)
    weight = None if graph.edge_weight is None else graph.edge_weight[keep]
    return Graph(graph.edge_index[:, keep], graph.num_nodes, weight)


def perturbation_note(before: Graph, after: Graph) -> str:
    """Say in a sentence how many undirected pairs a perturbation added and removed.

    Example:
        >>> path = Graph.from_edge_index(torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), num_nodes=3)
        >>> perturbation_note(path, add_edges(path, 0.5, seed=0))
        'Of 2 undirected edges 0 were removed, and 1 were added: 3 now.'
    """
    old, new = _unique_pairs(before), _unique_pairs(after)
    kept = np.intersect1d(old, new, assume_unique=True).size
    return (
        f"Of {old.size} undirected edges {old.size - kept} were removed, and "
        f"{new.size - kept} were added: {new.size} now."
    )


def _checked_pairs(graph: Graph, ratio: float) -> np.ndarray:
    if not math.isfinite(ratio) or ratio < 0:
        raise InputError(
            f"`ratio` must be a finite number from 0 up, but got {ratio}. 0.25 means a quarter "
            "of the present edges."
        )
    if not graph.is_undirected:
        raise InputError(
            "Only an undirected graph can be perturbed, but this one has an edge without a twin "
            "of the same weight. Add the twins with `bpgnn.graph.with_both_directions(graph)`."
        )
    return _unique_pairs(graph)


def _pair_keys(graph: Graph) -> np.ndarray:
    """Number each edge's pair, smaller node first, so that both directions agree."""
    low = torch.minimum(graph.sources, graph.targets)
    high = torch.maximum(graph.sources, graph.targets)
    return (low * graph.num_nodes + high).cpu().numpy()


def _unique_pairs(graph: Graph) -> np.ndarray:
    low, high = graph.undirected_pairs()
    return (low * graph.num_nodes + high).cpu().numpy()


def _all_pairs(num_nodes: int) -> np.ndarray:
    low = np.repeat(np.arange(num_nodes), np.arange(num_nodes - 1, -1, -1))
    first_of_row = np.concatenate([[0], np.cumsum(np.arange(num_nodes - 1, 0, -1))])
    high = np.arange(low.size) - first_of_row[low] + low + 1
    return low * num_nodes + high


def _rejection_sample(
    present: np.ndarray, num_added: int, num_nodes: int, generator: np.random.Generator
) -> np.ndarray:
    """Draw pairs until enough are new; at least half of the pairs are, so a few rounds do."""
    drawn = np.empty(0, dtype=np.int64)
    while drawn.size < num_added:
        ends = generator.integers(num_nodes, size=(2, 2 * (num_added - drawn.size) + 16))
        low, high = ends.min(axis=0), ends.max(axis=0)
        key = (low * num_nodes + high)[low != high]
        drawn = np.concatenate([drawn, key[~_member(key, present)]])
        # The first copy of each, in the order of drawing: sorted ones would favour low nodes.
        _, first = np.unique(drawn, return_index=True)
        drawn = drawn[np.sort(first)]
    return drawn[:num_added]


def _member(key: np.ndarray, ordered: np.ndarray) -> np.ndarray:
    if ordered.size == 0:
        return np.zeros(key.shape, dtype=bool)
    place = np.minimum(np.searchsorted(ordered, key), ordered.size - 1)
    return ordered[place] == key


def _with_pairs(graph: Graph, pairs: np.ndarray) -> Graph:
    low, high = (torch.from_numpy(end) for end in np.divmod(pairs, graph.num_nodes))
    added: Tensor = torch.stack([torch.cat([low, high]), torch.cat([high, low])])
    added = added.to(graph.edge_index.device)
    weight = None
    if graph.edge_weight is not None:
        mean = graph.edge_weight.mean().expand(added.size(1))
        weight = torch.cat([graph.edge_weight, mean])
    edge_index = torch.cat([graph.edge_index, added], dim=1)
    return Graph.from_edge_index(edge_index, graph.num_nodes, weight)
