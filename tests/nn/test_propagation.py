import pytest
import torch
from torch_geometric.nn import GCNConv

from bpgnn.nn.pairs import NodePairs
from bpgnn.nn.propagation import over_graph, over_matrix, over_pairs


@pytest.fixture
def pairs(make_graph):
    """Pairs among twelve nodes; a thirteenth stays alone."""
    return NodePairs(make_graph().undirected_pairs(), 13)


def of_pyg(pairs, states, weight):
    layer = GCNConv(states.size(1), states.size(1), bias=False)
    with torch.no_grad():
        layer.lin.weight.copy_(torch.eye(states.size(1)))
    return layer(states, pairs.graph.edge_index, weight[pairs.of_edge]).detach()


@pytest.mark.parametrize("over", [over_pairs, over_matrix])
def test_weighted_pairs_propagate_as_the_gcn_of_pyg(pairs, generator, over):
    states = torch.randn(13, 4, generator=generator)
    weight = torch.rand(pairs.count, generator=generator)
    torch.testing.assert_close(over(pairs, weight)(states), of_pyg(pairs, states, weight))


def test_a_graph_propagates_as_pairs_of_weight_one(pairs, generator):
    states = torch.randn(13, 4, generator=generator)
    found = over_graph(pairs.graph, states)(states)
    torch.testing.assert_close(found, over_pairs(pairs, torch.ones(pairs.count))(states))


@pytest.mark.parametrize("over", [over_pairs, over_matrix])
def test_the_gradient_goes_through_the_normalisation(over, generator):
    pairs = NodePairs.every(4)
    weight = torch.rand(6, generator=generator, dtype=torch.double, requires_grad=True)
    states = torch.randn(4, 2, generator=generator, dtype=torch.double, requires_grad=True)
    assert torch.autograd.gradcheck(lambda w, x: over(pairs, w)(x), (weight, states))
    assert torch.autograd.gradgradcheck(lambda w, x: over(pairs, w)(x), (weight, states))
