"""What one node's prediction rests on."""

import math

import pytest
import torch

from bpgnn.errors import InputError
from bpgnn.explain.node import explain_node
from bpgnn.graph import Graph
from bpgnn.method import Output
from bpgnn.randomness import generator_for

NODE = 5


def explain(method, problem, output, node=NODE):
    return explain_node(method, problem, output, node, generator=generator_for(3))


def test_the_prediction_is_that_of_the_output(explained):
    method, problem, output = explained()
    reasons = explain(method, problem, output)
    expected = output.probabilities()[NODE]
    assert reasons.probabilities == pytest.approx(expected.tolist(), abs=1e-6)
    assert reasons.predicted == int(expected.argmax())
    assert reasons.entropy == pytest.approx(
        -sum(p * math.log(p) for p in reasons.probabilities if p), rel=1e-9
    )
    votes = output.logits[:, NODE].argmax(1) == reasons.predicted
    assert reasons.agreement == pytest.approx(float(votes.float().mean()))


def test_entropy_is_split_into_that_of_each_graph_and_their_disagreement(explained):
    method, problem, output = explained()
    logits = output.logits.clone()
    # Two graphs are sure of one class and two of another: all entropy is disagreement.
    logits[:, NODE] = torch.tensor([[99.0, 0, 0], [99.0, 0, 0], [0, 99.0, 0], [0, 99.0, 0]])
    reasons = explain(method, problem, Output(logits, output.draws, output.detail))
    assert reasons.entropy == pytest.approx(math.log(2))
    assert reasons.disagreement == pytest.approx(math.log(2))
    assert reasons.agreement == 0.5


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"boolean_layers": 2},
        {"aggregation": "gat", "message_weight": "none"},
        {"aggregation": "edgeconv", "observed_messages": True, "num_samples": 1},
        {"symmetric": True, "k": 1},
        {"residual": "none", "self_pairs": True},
    ],
)
def test_an_effect_is_what_predicting_without_the_edge_gives(explained, changes):
    method, problem, output = explained(**changes)
    reasons = explain(method, problem, output)
    num_graphs = output.logits.size(0)
    last = output.draws[-num_graphs:]
    before = output.probabilities()[NODE, reasons.predicted]
    drawn = torch.cat([graph.sources[graph.targets == NODE] for graph in last])
    assert {one.node for one in reasons.neighbours} == set(drawn.tolist())
    for one in reasons.neighbours:
        graphs = [
            Graph.from_edge_index(
                graph.edge_index[:, (graph.sources != one.node) | (graph.targets != NODE)], 60
            )
            for graph in last
        ]
        with torch.no_grad():
            found = method(
                problem,
                generator=generator_for(8),
                num_samples=num_graphs,
                draws=(*output.draws[:-num_graphs], *graphs),
            )
        after = found.probabilities()[NODE, reasons.predicted]
        assert one.effect == pytest.approx(float(before - after), abs=1e-6)
        assert one.frequency == pytest.approx(int((drawn == one.node).sum()) / num_graphs)
    sizes = [abs(one.effect) for one in reasons.neighbours]
    assert sizes == sorted(sizes, reverse=True)
    assert any(sizes)


def test_weights_are_the_probabilities_that_edges_were_drawn_by(explained):
    method, problem, output = explained()
    product = method.edge_probabilities(output)["product"]
    for one in explain(method, problem, output).neighbours:
        expected = float(product.entries(torch.tensor([[one.node], [NODE]])).detach())
        assert one.weight == pytest.approx(expected, rel=1e-5)


def test_a_node_without_observed_neighbours_is_explained(explained):
    method, problem, output = explained()
    reasons = explain(method, problem, output, 59)
    assert sum(one.frequency for one in reasons.neighbours) == pytest.approx(3)


def test_what_cannot_be_explained_is_refused(explained):
    method, problem, output = explained()
    with pytest.raises(InputError, match="`node` must be a node's number from 0 to 59"):
        explain(method, problem, output, 60)
    fewer = Output(output.logits[:, :30], output.draws, output.detail)
    with pytest.raises(InputError, match="about 30 nodes and `problem` about 60"):
        explain(method, problem, fewer)
    method, problem, output = explained("gcn")
    with pytest.raises(InputError, match="gcn infers no graph"):
        explain(method, problem, output)
