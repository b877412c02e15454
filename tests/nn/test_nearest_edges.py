import copy

import pytest
import torch

from bpgnn.data.synthetic import block_model
from bpgnn.graph import Graph
from bpgnn.nn.evidence import edge_evidence
from bpgnn.nn.nearest import alike_pairs
from bpgnn.nn.nearest_edges import NearestEdges
from bpgnn.nn.sparse import SparseMatrix


@pytest.fixture
def data():
    return block_model(50, mean_degree=5, seed=0)


def pairs(graph):
    return set(zip(*graph.edge_index.tolist(), strict=True))


def alike(data, k):
    return set(zip(*alike_pairs(data.features, k, data.num_nodes).tolist(), strict=True))


def test_edges_are_the_nearest_that_are_not_observed(data):
    found, weight = NearestEdges(data.graph, data.features, 6)(data.graph, data.features)
    expected = alike(data, 6) - pairs(data.graph)
    assert pairs(found) == expected
    assert 0 < len(expected) < 300
    assert bool((found.targets.diff() >= 0).all())
    assert torch.equal(weight, torch.zeros(found.num_edges))


def test_without_an_observed_graph_all_the_nearest_are_there(data):
    found, _ = NearestEdges(None, data.features, 6, weighed=True)(None, data.features)
    assert pairs(found) == alike(data, 6)


def test_sparse_features_give_the_same_edges(data):
    sparse = SparseMatrix.from_csr(data.features.to_sparse_csr())
    one, _ = NearestEdges(data.graph, sparse, 4)(data.graph, sparse)
    other, _ = NearestEdges(data.graph, data.features, 4)(data.graph, data.features)
    assert torch.equal(one.edge_index, other.edge_index)


def test_what_speaks_for_an_edge_is_what_the_observed_graph_says(data):
    edges = NearestEdges(data.graph, data.features, 4, weighed=True)
    with torch.no_grad():
        edges.log_weight.fill_(-1.0)
        edges.evidence.weight.copy_(torch.tensor([1.0, 0.5, 0.0, 0.0]))
    found, weight = edges(data.graph, data.features)
    measured = edge_evidence(data.graph, data.features, edges=found)
    measured = (measured - measured.mean(0)) / measured.std(0, correction=0).clamp(min=1e-12)
    torch.testing.assert_close(weight, measured[:, 0] + 0.5 * measured[:, 1] - 1.0)


def test_newcomers_hear_from_the_known_and_change_nothing_for_them(data):
    edges = NearestEdges(data.graph, data.features, 4, weighed=True)
    with torch.no_grad():
        edges.evidence.weight.copy_(torch.tensor([0.5, 1.0, -1.0, 2.0]))
    before, weight = edges(data.graph, data.features)
    entering = torch.tensor([[3, 4, 8], [50, 50, 51]])
    wider = Graph.from_edge_index(torch.cat([data.graph.edge_index, entering], dim=1), 52)
    features = torch.cat([data.features, 9 * data.features[:2]])
    after, later_weight = edges(wider, features)
    known = after.targets < 50
    assert torch.equal(after.edge_index[:, known], before.edge_index)
    torch.testing.assert_close(later_weight[known], weight)
    assert int(after.sources.max()) < 50
    # A twin of the first node is nearest to it, and hears from four less those observed.
    assert (0, 50) in pairs(after)
    fewer = Graph.from_edge_index(wider.edge_index[:, :-1], 51)
    alone, alone_weight = edges(fewer, features[:51])
    assert torch.equal(alone.edge_index, after.edge_index[:, after.targets < 51])
    torch.testing.assert_close(alone_weight, later_weight[after.targets < 51])


def test_neighbours_are_looked_for_once_for_each_graph(data, monkeypatch):
    edges = NearestEdges(data.graph, data.features, 4)
    monkeypatch.setattr("bpgnn.nn.nearest_edges.alike_pairs", None)
    edges(data.graph, data.features)
    with pytest.raises(TypeError):
        edges(Graph.empty(50), data.features)


def test_other_features_have_other_neighbours(data):
    edges = NearestEdges(data.graph, data.features, 4)
    before, _ = edges(data.graph, data.features)
    after, _ = edges(data.graph, data.features.flip(0))
    assert pairs(before) != pairs(after)


def test_a_copy_does_not_copy_the_graph_and_finds_the_same(data):
    edges = NearestEdges(data.graph, data.features, 4, weighed=True)
    twin = copy.deepcopy(edges)
    assert twin.seen is None
    (one, weight), (other, same) = (each(data.graph, data.features) for each in (edges, twin))
    assert torch.equal(one.edge_index, other.edge_index)
    assert torch.equal(weight, same)
