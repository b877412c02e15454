"""Random graphs and states for the aggregations."""

import pytest
import torch

from bpgnn.graph import Graph


def random_graph(generator, *, num_nodes=12, num_edges=40, self_pairs=False):
    """A directed graph; with `self_pairs`, some nodes have an edge to themselves."""
    edges = torch.randint(num_nodes, (2, num_edges), generator=generator)
    if self_pairs:
        edges = torch.cat([edges, torch.arange(4).repeat(2, 1)], dim=1)
    graph = Graph.from_edge_index(edges, num_nodes)
    return graph if self_pairs else graph.without_self_loops()


@pytest.fixture
def generator():
    return torch.Generator().manual_seed(0)


@pytest.fixture
def make_graph(generator):
    return lambda **options: random_graph(generator, **options)


@pytest.fixture
def states(generator):
    return torch.randn(12, 5, generator=generator)


@pytest.fixture
def relabelled():
    """Give the nodes of a graph other numbers; returns the graph and where its edges went."""

    def relabel(graph, place, log_weight):
        edges = place[graph.edge_index]
        order = torch.argsort(edges[1] * graph.num_nodes + edges[0])
        moved = None if log_weight is None else log_weight[order]
        return Graph(edges[:, order], graph.num_nodes), moved

    return relabel
