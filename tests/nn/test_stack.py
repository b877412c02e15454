import pytest
import torch
import torch.nn.functional as F
from torch_geometric.nn import GCNConv

from bpgnn.graph import Graph
from bpgnn.nn.sparse import SparseMatrix
from bpgnn.nn.stack import Stack, make_layers

KINDS = ("gcn", "gat", "edgeconv", "mlp")


def test_two_layers_of_gcn_are_those_of_pyg_rectified_between(make_graph, states, generator):
    graph, stack = make_graph(), Stack(make_layers("gcn", [5, 7, 2]), 0.0)
    expected = states
    for position, layer in enumerate(stack.layers):
        twin = GCNConv(*layer.weight.shape)
        with torch.no_grad():
            twin.lin.weight.copy_(layer.weight.T)
            twin.bias.copy_(layer.bias)
        expected = twin(F.relu(expected) if position else expected, graph.edge_index)
    torch.testing.assert_close(stack(states, graph, None, generator=generator), expected)


def test_an_mlp_takes_no_notice_of_the_graph(make_graph, states, generator):
    stack = Stack(make_layers("mlp", [5, 7, 2]), 0.0)
    over_graph = stack(states, make_graph(), None, generator=generator)
    assert torch.equal(over_graph, stack(states, Graph.empty(12), None, generator=generator))


@pytest.mark.parametrize("kind", KINDS)
def test_relabelling_nodes_relabels_the_points(kind, make_graph, states, generator, relabelled):
    graph, stack = make_graph(), Stack(make_layers(kind, [5, 6, 3]), 0.0)
    log_weight = torch.randn(graph.num_edges, generator=generator)
    place = torch.randperm(12, generator=generator)
    moved, moved_weight = relabelled(graph, place, log_weight)
    found = stack(states[place.argsort()], moved, moved_weight, generator=generator)
    expected = stack(states, graph, log_weight, generator=generator)
    torch.testing.assert_close(found[place], expected, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_sparse_features_give_the_points_of_dense_ones(kind, make_graph, states, generator):
    graph, stack = make_graph(), Stack(make_layers(kind, [5, 6, 3]), 0.0)
    sparse = SparseMatrix.from_csr(states.to_sparse_csr())
    found = stack(sparse, graph, None, generator=generator)
    expected = stack(states, graph, None, generator=generator)
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-4)


def test_dropout_acts_in_training_only(make_graph, states, generator):
    graph, stack = make_graph(), Stack(make_layers("gcn", [5, 2]), 0.5)
    assert not torch.equal(*(stack(states, graph, None, generator=generator) for _ in range(2)))
    stack.eval()
    assert torch.equal(*(stack(states, graph, None, generator=generator) for _ in range(2)))
