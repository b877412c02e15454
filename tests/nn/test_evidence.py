import copy
import math
from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from bpgnn.data.synthetic import block_model
from bpgnn.graph import Graph
from bpgnn.nn.evidence import EdgeEvidence, column_scale, edge_evidence
from bpgnn.nn.sparse import SparseMatrix


def cosine(one, other):
    lengths = float(one.norm() * other.norm())
    return float(one @ other) / lengths if lengths > 1e-9 else 0.0


def evidence_in_plain_loops(graph, features, scale, asked=None):
    """The four numbers by their definition, for the edges of the graph or others."""
    points = features.double() / scale.double()
    lengths = points.norm(dim=1, keepdim=True)
    points = torch.where(lengths > 0, points / lengths.clamp(min=1e-300), 0.0)
    edges = list(zip(*graph.edge_index.tolist(), graph.weights.tolist(), strict=True))
    into = [
        {source: weight for source, target, weight in edges if target == node}
        for node in range(graph.num_nodes)
    ]

    def to_others(node, candidate):
        others = [w * points[k] for k, w in into[node].items() if k != candidate]
        return cosine(points[candidate], sum(others)) if others else 0.0

    return torch.tensor(
        [
            [
                cosine(points[i], points[j]),
                to_others(i, j),
                to_others(j, i),
                math.log1p(len(into[i].keys() & into[j].keys())),
            ]
            for j, i in (asked or [(j, i) for j, i, _ in edges])
        ]
    ).reshape(-1, 4)


@st.composite
def graphs_with_features(draw):
    num_nodes = draw(st.integers(2, 9))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 10**6)))
    density = draw(st.floats(0.0, 1.0))
    edges = (torch.rand(num_nodes, num_nodes, generator=generator) < density).nonzero().T
    weight = torch.rand(edges.size(1), generator=generator, dtype=torch.double) + 0.1
    weight = weight if draw(st.booleans()) else None
    features = torch.randn(num_nodes, 3, generator=generator, dtype=torch.double)
    features *= torch.rand(num_nodes, 3, generator=generator) < draw(st.floats(0.0, 1.0))
    return Graph.from_edge_index(edges, num_nodes, weight), features


@given(graphs_with_features())
def test_the_evidence_is_its_definition_in_plain_loops(drawn):
    graph, features = drawn
    scale = torch.tensor([1.0, 2.0, 0.5], dtype=torch.double)
    expected = evidence_in_plain_loops(graph, features, scale)
    found = edge_evidence(graph, features, scale)
    torch.testing.assert_close(found, expected.double(), atol=1e-6, rtol=1e-6)


@given(graphs_with_features())
def test_other_edges_are_judged_by_what_the_observed_ones_say(drawn):
    graph, features = drawn
    scale = torch.tensor([1.0, 2.0, 0.5], dtype=torch.double)
    every = torch.ones(graph.num_nodes, graph.num_nodes).nonzero().T
    asked = Graph.from_edge_index(every, graph.num_nodes)
    pairs = list(zip(*asked.edge_index.tolist(), strict=True))
    expected = evidence_in_plain_loops(graph, features, scale, pairs)
    found = edge_evidence(graph, features, scale, edges=asked)
    torch.testing.assert_close(found, expected.double(), atol=1e-6, rtol=1e-6)


@given(graphs_with_features())
def test_sparse_features_give_the_same(drawn):
    graph, features = drawn
    sparse = SparseMatrix.from_csr(features.to_sparse_csr())
    torch.testing.assert_close(edge_evidence(graph, sparse), edge_evidence(graph, features))


def test_many_blocks_of_edges_give_what_one_gives(monkeypatch):
    data = block_model(40, mean_degree=6, seed=0)
    whole = edge_evidence(data.graph, data.features)
    monkeypatch.setattr("bpgnn.nn.evidence._BLOCK_ENTRIES", 7 * data.features.size(1))
    torch.testing.assert_close(edge_evidence(data.graph, data.features), whole)


def test_columns_are_divided_by_their_deviation_and_constant_ones_are_left():
    features = torch.randn(30, 4, generator=torch.Generator().manual_seed(0)) * 3
    features[:, 2] = 0.1
    expected = features.std(0, correction=0)
    expected[2] = 1.0
    torch.testing.assert_close(column_scale(features), expected)
    sparse = SparseMatrix.from_csr(features.to_sparse_csr())
    torch.testing.assert_close(column_scale(sparse), expected)


def test_at_first_every_edge_counts_the_same_and_then_by_what_speaks_for_it():
    data = block_model(60, mean_degree=6, seed=0)
    evidence = EdgeEvidence(data.graph, data.features)
    assert torch.equal(evidence(data.graph, data.features), torch.zeros(data.graph.num_edges))
    evidence(data.graph, data.features).sum().backward()
    with torch.no_grad():
        evidence.weight.copy_(torch.tensor([1.0, 0.0, 0.0, 0.0]))
    found = evidence(data.graph, data.features).detach()
    likeness = edge_evidence(data.graph, data.features)[:, 0]
    torch.testing.assert_close(found, (likeness - likeness.mean()) / likeness.std(correction=0))


def test_evidence_tells_true_edges_from_random_ones():
    data = block_model(400, mean_degree=8, wrong_edges=0.4, feature_noise=0.5, seed=1)
    same = data.labels[data.graph.sources] == data.labels[data.graph.targets]
    found = edge_evidence(data.graph, data.features)
    for kind in range(3):
        assert found[same, kind].mean() > found[~same, kind].mean() + 0.1


def test_newcomers_change_nothing_for_the_edges_of_others():
    data = block_model(50, mean_degree=5, seed=0)
    evidence = EdgeEvidence(data.graph, data.features)
    with torch.no_grad():
        evidence.weight.copy_(torch.tensor([0.5, 1.0, -1.0, 2.0]))
    before = evidence(data.graph, data.features)
    entering = torch.tensor([[3, 4, 8], [50, 50, 51]])
    edges = torch.cat([data.graph.edge_index, entering], dim=1)
    features = torch.cat([data.features, 9 * data.features[:2]])
    after = evidence(Graph.from_edge_index(edges, 52), features)
    torch.testing.assert_close(after[: len(before)], before)
    fewer = Graph.from_edge_index(edges[:, :-1], 51)
    torch.testing.assert_close(evidence(fewer, features[:51]), after[:-1])


@pytest.mark.parametrize("edges", [torch.empty(2, 0, dtype=torch.long), torch.tensor([[0], [1]])])
def test_graphs_of_no_or_one_edge_do_no_harm(edges):
    graph, features = Graph.from_edge_index(edges, 3), torch.eye(3)
    evidence = EdgeEvidence(graph, features)
    assert torch.isfinite(evidence(graph, features)).all()
    assert torch.isfinite(evidence.mean).all()


def test_a_copy_does_not_copy_the_graph_and_weighs_the_same():
    data = block_model(50, mean_degree=5, seed=0)
    evidence = EdgeEvidence(data.graph, data.features)
    with torch.no_grad():
        evidence.weight.fill_(1.0)
    twin = copy.deepcopy(evidence)
    assert twin.seen is None
    assert torch.equal(twin(data.graph, data.features), evidence(data.graph, data.features))


def test_other_edges_are_measured_anew_and_the_same_only_once(monkeypatch):
    data = block_model(50, mean_degree=5, seed=0)
    other = Graph.from_edge_index(torch.tensor([[0, 1, 2], [3, 4, 5]]), 50)
    evidence = EdgeEvidence(data.graph, data.features, other)
    assert len(evidence(data.graph, data.features)) == data.graph.num_edges
    assert len(evidence(data.graph, data.features, other)) == 3
    monkeypatch.setattr("bpgnn.nn.evidence.edge_evidence", None)
    assert len(evidence(data.graph, data.features, other)) == 3


def test_another_graph_is_measured_anew():
    data = block_model(50, mean_degree=5, seed=0)
    evidence = EdgeEvidence(data.graph, data.features)
    with torch.no_grad():
        evidence.weight.fill_(1.0)
    half = Graph.from_edge_index(data.graph.edge_index[:, ::2], 50)
    assert len(evidence(half, data.features)) == half.num_edges
    same = evidence(data.graph, data.features)
    torch.testing.assert_close(evidence(replace(data.graph), data.features), same)
