import pytest
import torch

from bpgnn.nn.pairs import NodePairs
from bpgnn.nn.straight_through import StraightThrough


@pytest.fixture
def pairs(make_graph):
    return NodePairs(make_graph(num_edges=25).undirected_pairs(), 12)


def drawn(pairs, generator):
    return pairs.joined((torch.rand(pairs.count, generator=generator) < 0.5).nonzero().squeeze(1))


def matrix(graph):
    dense = torch.zeros(graph.num_nodes, graph.num_nodes)
    dense[graph.targets, graph.sources] = graph.weights
    return dense


def test_sums_are_those_over_the_sampled_graph(pairs, states, generator):
    through = StraightThrough(torch.rand(pairs.count, requires_grad=True), pairs)
    graph = drawn(pairs, generator)
    torch.testing.assert_close(through.sums(graph, states), matrix(graph) @ states)


@pytest.mark.parametrize("recorded", [False, True])
def test_a_pair_gets_the_gradients_of_its_entries_in_every_sampled_graph(
    pairs, states, generator, recorded
):
    """`recorded`: the loss is itself made of a gradient, as in an unrolled optimisation."""
    theta = torch.rand(pairs.count, generator=generator, requires_grad=True)
    graphs = [drawn(pairs, generator) for _ in range(2)]
    start = states.clone().requires_grad_()

    def loss(one, other):
        value = other(one(start).tanh()).pow(2).sum()
        if not recorded:
            return value
        (slope,) = torch.autograd.grad(value, start, create_graph=True)
        return value + slope.pow(3).sum()

    through = StraightThrough(theta, pairs)
    found = loss(*(lambda x, graph=graph: through.sums(graph, x) for graph in graphs))
    found = torch.autograd.grad(found, [theta, start])
    assert through.factors == []
    matrices = [matrix(graph).requires_grad_() for graph in graphs]
    expected = loss(*(lambda x, dense=dense: dense @ x for dense in matrices))
    *parts, slope = torch.autograd.grad(expected, [*matrices, start])
    total = sum(parts)
    i, j = pairs.ends
    torch.testing.assert_close(found[0], total[i, j] + total[j, i], rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(found[1], slope, rtol=1e-4, atol=1e-4)
