import pytest
import torch
from torch_geometric.nn import GCNConv

from bpgnn.graph import Graph
from bpgnn.nn.gcn import GCN


def reference(layer):
    """PyG's own convolution with the same weights."""
    twin = GCNConv(*layer.weight.shape)
    with torch.no_grad():
        twin.lin.weight.copy_(layer.weight.T)
        twin.bias.copy_(layer.bias)
    return twin


@pytest.fixture
def layer(generator):
    layer = GCN(5, 3)
    with torch.no_grad():
        layer.bias.copy_(torch.randn(3, generator=generator))
    return layer


@pytest.mark.parametrize("undirected", [True, False])
def test_without_weights_it_is_the_convolution_of_pyg(
    layer, make_graph, states, generator, undirected
):
    graph = make_graph()
    if undirected:
        both = torch.cat([graph.edge_index, graph.edge_index.flip(0)], dim=1)
        graph = Graph.from_edge_index(both, graph.num_nodes)
    found = layer(states, graph, None, generator=generator)
    torch.testing.assert_close(found, reference(layer)(states, graph.edge_index))


def test_with_weights_it_is_the_convolution_of_pyg(layer, make_graph, states, generator):
    graph = make_graph()
    weight = torch.rand(graph.num_edges, generator=generator) * 3
    found = layer(states, graph, weight.log(), generator=generator)
    torch.testing.assert_close(found, reference(layer)(states, graph.edge_index, weight))


def test_a_sampled_self_pair_adds_nothing_to_the_message_of_a_node_to_itself(
    layer, make_graph, states, generator
):
    graph = make_graph(self_pairs=True)
    weight = torch.rand(graph.num_edges, generator=generator)
    found = layer(states, graph, weight.log(), generator=generator)
    other = graph.sources != graph.targets
    expected = reference(layer)(states, graph.edge_index[:, other], weight[other])
    torch.testing.assert_close(found, expected)


def test_a_node_without_neighbours_keeps_its_own_state(layer, states, generator):
    found = layer(states, Graph.empty(12), None, generator=generator)
    torch.testing.assert_close(found, states @ layer.weight + layer.bias)


def test_an_edge_of_weight_zero_is_no_edge(layer, make_graph, states, generator):
    graph = make_graph()
    log_weight = torch.zeros(graph.num_edges).index_fill(0, torch.tensor([0, 3]), -torch.inf)
    found = layer(states, graph, log_weight, generator=generator)
    kept = Graph(graph.edge_index[:, log_weight == 0], graph.num_nodes)
    torch.testing.assert_close(found, layer(states, kept, None, generator=generator))


def test_relabelling_nodes_relabels_the_output(layer, make_graph, states, generator, relabelled):
    graph = make_graph()
    log_weight = torch.randn(graph.num_edges, generator=generator)
    place = torch.randperm(12, generator=generator)
    moved, moved_weight = relabelled(graph, place, log_weight)
    found = layer(states[place.argsort()], moved, moved_weight, generator=generator)
    expected = layer(states, graph, log_weight, generator=generator)
    torch.testing.assert_close(found[place], expected)


def test_the_gradient_reaches_states_and_weights_exactly(make_graph, generator):
    layer = GCN(5, 3).double()
    graph = make_graph(num_edges=10)
    states = torch.randn(12, 5, generator=generator).double().requires_grad_()
    log_weight = torch.randn(graph.num_edges, generator=generator).double().requires_grad_()
    assert torch.autograd.gradcheck(
        lambda x, w: layer(x, graph, w, generator=generator), (states, log_weight)
    )
