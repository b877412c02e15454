import pytest
import torch

from bpgnn.graph import Graph
from bpgnn.nn.pairs import NodePairs, pair_products, symmetric_sum


@pytest.fixture
def pairs(make_graph):
    return NodePairs(make_graph().undirected_pairs(), 12)


def matrix(pairs, weight):
    dense = weight.new_zeros(pairs.num_nodes, pairs.num_nodes)
    for (i, j), value in zip(pairs.ends.T.tolist(), weight, strict=True):
        dense[i, j] = dense[j, i] = value
    return dense


def test_the_symmetric_sum_is_the_symmetric_matrix_times_the_states(pairs, states, generator):
    weight = torch.rand(pairs.count, generator=generator)
    found = symmetric_sum(states, pairs, weight)
    torch.testing.assert_close(found, matrix(pairs, weight) @ states)


@pytest.mark.parametrize("width", [1, 3, 4, 8])
def test_pair_products_are_those_of_the_rows_both_ways(pairs, generator, width):
    left, right = (torch.randn(12, width, generator=generator) for _ in range(2))
    expected = [float(left[i] @ right[j] + left[j] @ right[i]) for i, j in pairs.ends.T.tolist()]
    torch.testing.assert_close(pair_products(left, right, pairs), torch.tensor(expected))


def test_both_are_differentiable_twice_in_all_they_are_made_of(generator):
    pairs = NodePairs(torch.tensor([[0, 0, 2], [1, 3, 4]]), 6)
    left, right = (torch.randn(6, 2, generator=generator).double() for _ in range(2))
    weight = torch.tensor([0.0, 1.0, 0.4], dtype=torch.double)
    inputs = [one.requires_grad_() for one in (left, right, weight)]
    for function in (
        lambda x, _, w: symmetric_sum(x, pairs, w).pow(3),
        lambda x, y, _: pair_products(x, y, pairs).pow(3),
    ):
        assert torch.autograd.gradcheck(function, inputs)
        assert torch.autograd.gradgradcheck(function, inputs)


def test_a_pair_of_weight_zero_has_a_gradient(generator):
    states = torch.randn(4, 3, generator=generator)
    weight = torch.zeros(6, requires_grad=True)
    symmetric_sum(states, NodePairs.every(4), weight).sum().backward()
    assert weight.grad.abs().min() > 0


def test_every_pair_is_listed_once_in_the_order_of_a_graph_that_joins_all():
    every = NodePairs.every(5)
    edges = torch.cartesian_prod(torch.arange(5), torch.arange(5)).T
    assert torch.equal(every.ends, Graph.from_edge_index(edges, 5).undirected_pairs())
    assert every.count == 10


@pytest.mark.parametrize("share", [0.05, 0.5])
def test_the_chosen_pairs_are_those_found_in_the_graph_that_joins_them(generator, share):
    pairs = NodePairs.every(12)
    chosen = torch.rand(pairs.count, generator=generator) < share
    graph = pairs.joined(chosen)
    expected = torch.cat([pairs.ends[:, chosen], pairs.ends[:, chosen].flip(0)], dim=1)
    assert torch.equal(graph.edge_index, Graph.from_edge_index(expected, 12).edge_index)
    assert torch.equal(pairs.found_in(graph), chosen)


def test_no_pairs_at_all_give_sums_of_zero():
    none = NodePairs(torch.empty(2, 0, dtype=torch.long), 3)
    states, weight = torch.ones(3, 2, requires_grad=True), torch.empty(0, requires_grad=True)
    found = symmetric_sum(states, none, weight)
    assert found.tolist() == [[0, 0]] * 3
    found.sum().backward()
    assert weight.grad.shape == (0,)
    assert none.joined(torch.empty(0, dtype=torch.bool)).num_edges == 0
