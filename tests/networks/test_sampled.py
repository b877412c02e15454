"""Draws that were made before, whole or with an edge taken out."""

import pytest
import torch

from bpgnn.data.synthetic import block_model
from bpgnn.graph import Graph
from bpgnn.methods.bpgnn import BPGNN, BPGNNSettings
from bpgnn.randomness import generator_for, seeded_globally
from bpgnn.training.evaluate import predict
from bpgnn.training.problem import make_problem


def trained(**changes):
    settings = BPGNNSettings(
        **{"hidden": (6, 5), "latent_dim": 3, "k": 3, "num_samples": 2, **changes}
    )
    problem = make_problem(block_model(30, num_classes=3, mean_degree=4, seed=0), settings)
    with seeded_globally(0):
        method = BPGNN.build(settings, problem)
    return method, problem, predict(method, problem, generator=generator_for(0))


@torch.no_grad()
def again(method, problem, draws, num_samples=2):
    return method(problem, generator=generator_for(9), num_samples=num_samples, draws=draws)


@pytest.mark.parametrize("boolean_layers", [1, 2])
def test_given_draws_give_the_same_scores_to_the_last_bit(boolean_layers):
    method, problem, output = trained(boolean_layers=boolean_layers)
    assert torch.equal(again(method, problem, output.draws).logits, output.logits)


@pytest.mark.parametrize("aggregation", ["gcn", "gat", "edgeconv"])
def test_an_edge_taken_out_of_a_draw_is_an_edge_of_weight_nothing(aggregation):
    method, problem, output = trained(
        aggregation=aggregation, hidden=(6,), residual="none", message_weight="probability"
    )
    whole = output.draws[0]
    node = 4
    place = int((whole.targets == node).nonzero()[0])
    keep = torch.arange(whole.num_edges) != place
    ragged = Graph(whole.edge_index[:, keep], whole.num_nodes)
    found = again(method, problem, (ragged,), num_samples=1)
    assert found.draws[0].num_edges == whole.num_edges - 1
    # One layer: only the node that lost a message is scored otherwise.
    moved = (found.logits[0] != output.logits[0]).any(1)
    others = torch.arange(30) != node
    if aggregation == "gcn":  # Its messages are scaled by the sender's degree, too.
        others &= ~torch.isin(torch.arange(30), whole.targets[whole.sources == node])
    assert bool(moved[node])
    torch.testing.assert_close(found.logits[0, others], output.logits[0, others])


def test_all_of_a_nodes_edges_may_be_taken_out():
    method, problem, output = trained()
    bare = tuple(Graph(one.edge_index[:, one.targets != 4], 30) for one in output.draws)
    found = again(method, problem, bare)
    assert bool(torch.isfinite(found.logits).all())
    assert all(int(graph.in_degree[4]) == 0 for graph in method.latent_graphs(found))
