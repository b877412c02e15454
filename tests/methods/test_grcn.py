import pytest
import torch
import torch.nn.functional as F

from bpgnn.errors import InputError
from bpgnn.methods.grcn import GRCN, GRCNSettings
from bpgnn.randomness import seeded_globally


def built(problem, **changes):
    with seeded_globally(0):
        method = GRCN.build(GRCNSettings(hidden=5, k=4).changed(changes), problem)
        with torch.no_grad():
            method.first.uniform_(0.5, 2)
            method.second.uniform_(0.5, 2)
    return method


def normalized(matrix):
    root = matrix.sum(1).rsqrt()
    return root.unsqueeze(1) * matrix * root


def in_dense_matrices(method, problem):
    """Write the paper's equations out, every matrix whole."""
    observed = torch.eye(problem.num_nodes)
    observed[problem.graph.targets, problem.graph.sources] += 1
    hat = normalized(observed)
    points = hat @ torch.tanh(hat @ (problem.features * method.first)) * method.second
    points = F.normalize(points, dim=1) if method.settings.unit_length else points
    similar = points @ points.T
    kept = torch.zeros_like(similar).scatter(1, similar.topk(method.settings.k).indices, 1.0)
    revised = normalized(observed + similar.clamp(min=0) * (kept + kept.T))
    hidden = F.relu(revised @ (problem.features @ method.hidden.weight + method.hidden.bias))
    return revised @ (hidden @ method.output.weight + method.output.bias)


@pytest.mark.parametrize("unit_length", [True, False])
def test_values_and_gradients_are_those_of_dense_matrices(plain_problem, unit_length):
    method = built(plain_problem, unit_length=unit_length).eval()
    found = method(plain_problem, generator=torch.Generator()).logits[0]
    wanted = in_dense_matrices(method, plain_problem)
    torch.testing.assert_close(found, wanted)
    gradients = [
        torch.autograd.grad(it.square().sum(), list(method.parameters())) for it in (found, wanted)
    ]
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-4)


def test_the_graph_has_a_rate_of_its_own_and_does_not_decay(plain_problem):
    graph, classifier = built(plain_problem, weight_decay=0.1).make_optimizer().param_groups
    assert (graph["lr"], graph["weight_decay"]) == (0.001, 0)
    assert (classifier["lr"], classifier["weight_decay"]) == (0.005, 0.1)


def test_the_revised_graph_holds_every_observed_edge(plain_problem):
    method = built(plain_problem)
    (graph,) = method.latent_graphs(method(plain_problem, generator=torch.Generator()))
    revised = {tuple(pair) for pair in graph.edge_index.T.tolist()}
    assert {tuple(pair) for pair in plain_problem.graph.edge_index.T.tolist()} <= revised


def test_more_neighbours_than_nodes_get_a_sentence(plain_problem):
    with pytest.raises(InputError, match="`k` must be at most 30"):
        built(plain_problem, k=31)
