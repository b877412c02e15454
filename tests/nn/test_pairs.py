import pytest
import torch

from bpgnn.graph import Graph
from bpgnn.nn.pairs import NodePairs


@pytest.fixture(autouse=True)
def few_rows_at_a_time(monkeypatch):
    monkeypatch.setattr("bpgnn.nn.pairs._ROWS", 5)


@pytest.mark.parametrize("width", [1, 3, 4, 8])
@pytest.mark.parametrize("every", [False, True])
def test_products_are_those_of_the_rows_both_ways(make_graph, generator, width, every):
    graph = make_graph(num_edges=15)
    pairs = NodePairs.every(12) if every else NodePairs(graph.undirected_pairs(), 12)
    left, right = (torch.randn(12, width, generator=generator) for _ in range(2))
    expected = [float(left[i] @ right[j] + left[j] @ right[i]) for i, j in pairs.ends.T.tolist()]
    torch.testing.assert_close(pairs.products(left, right), torch.tensor(expected))


def test_every_pair_is_listed_once_in_the_order_of_a_graph_that_joins_all():
    every = NodePairs.every(5)
    edges = torch.cartesian_prod(torch.arange(5), torch.arange(5)).T
    assert torch.equal(every.ends, Graph.from_edge_index(edges, 5).undirected_pairs())
    assert every.count == 10


def test_each_edge_of_the_graph_belongs_to_the_pair_of_its_nodes(make_graph):
    pairs = NodePairs(make_graph().undirected_pairs(), 12)
    ends = pairs.ends[:, pairs.of_edge]
    assert torch.equal(pairs.graph.edge_index.sort(dim=0).values, ends)
    assert pairs.graph.is_undirected


@pytest.mark.parametrize("share", [0.05, 0.5])
def test_the_chosen_pairs_are_those_found_in_the_graph_that_joins_them(generator, share):
    pairs = NodePairs.every(12)
    chosen = torch.rand(pairs.count, generator=generator) < share
    graph = pairs.joined(chosen.nonzero().squeeze(1))
    expected = torch.cat([pairs.ends[:, chosen], pairs.ends[:, chosen].flip(0)], dim=1)
    assert torch.equal(graph.edge_index, Graph.from_edge_index(expected, 12).edge_index)
    assert torch.equal(pairs.found_in(graph), chosen)


def test_no_pairs_at_all_join_nothing():
    none = NodePairs(torch.empty(2, 0, dtype=torch.long), 3)
    assert none.products(torch.ones(3, 2), torch.ones(3, 2)).shape == (0,)
    assert none.joined(torch.empty(0, dtype=torch.long)).num_edges == 0
