import pytest
import torch
from torch import nn
from torch_geometric.nn import EdgeConv as ReferenceEdgeConv

from bpgnn.graph import Graph
from bpgnn.nn.edge_conv import EdgeConv


@pytest.fixture
def layer(generator):
    layer = EdgeConv(5, 3)
    with torch.no_grad():
        layer.bias.copy_(torch.randn(3, generator=generator))
    return layer


@pytest.mark.parametrize("self_pairs", [False, True])
def test_without_weights_it_is_the_edge_convolution_of_pyg(
    layer, make_graph, states, generator, self_pairs
):
    graph = make_graph(self_pairs=self_pairs)
    linear = nn.Linear(10, 3)
    twin = ReferenceEdgeConv(linear, aggr="add")  # which draws new weights for what it is given
    with torch.no_grad():
        linear.weight.copy_(layer.weight.T)
        linear.bias.copy_(layer.bias)
    expected = twin(states, graph.edge_index)
    found = layer(states, graph, None, generator=generator)
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)


def test_a_weight_multiplies_the_message_as_plain_loops_have_it(
    layer, make_graph, states, generator
):
    graph = make_graph()
    weight = torch.rand(graph.num_edges, generator=generator) * 3
    expected = torch.zeros(12, 3)
    for j, i, edge_weight in zip(*graph.edge_index.tolist(), weight, strict=True):
        message = torch.cat([states[i], states[j] - states[i]]) @ layer.weight + layer.bias
        expected[i] += edge_weight * message
    found = layer(states, graph, weight.log(), generator=generator)
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)


def test_a_node_without_neighbours_gets_no_message(layer, states, generator):
    found = layer(states, Graph.empty(12), None, generator=generator)
    assert torch.equal(found, torch.zeros(12, 3))


def test_relabelling_nodes_relabels_the_output(layer, make_graph, states, generator, relabelled):
    graph = make_graph()
    log_weight = torch.randn(graph.num_edges, generator=generator)
    place = torch.randperm(12, generator=generator)
    moved, moved_weight = relabelled(graph, place, log_weight)
    found = layer(states[place.argsort()], moved, moved_weight, generator=generator)
    expected = layer(states, graph, log_weight, generator=generator)
    torch.testing.assert_close(found[place], expected, atol=1e-5, rtol=1e-5)


def test_the_gradient_reaches_states_and_weights_exactly(make_graph, generator):
    layer = EdgeConv(5, 3).double()
    graph = make_graph(num_edges=10, self_pairs=True)
    states = torch.randn(12, 5, generator=generator).double().requires_grad_()
    log_weight = torch.randn(graph.num_edges, generator=generator).double().requires_grad_()
    assert torch.autograd.gradcheck(
        lambda x, w: layer(x, graph, w, generator=generator), (states, log_weight)
    )
