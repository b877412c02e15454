from dataclasses import replace

import pytest
import torch
from torch_geometric.nn.models import GCN as Reference

from bpgnn.errors import InputError
from bpgnn.methods.gcn import GCN, GCNSettings


def reference(method, problem):
    """PyG's own model with the same weights."""
    hidden = method.settings.hidden
    twin = Reference(problem.num_features, hidden[0], len(hidden) + 1, problem.num_classes)
    with torch.no_grad():
        for layer, other in zip(method.stack.layers, twin.convs, strict=True):
            other.lin.weight.copy_(layer.weight.T)
            other.bias.copy_(layer.bias)
    return twin.eval()


@pytest.mark.parametrize("hidden", [(6,), (5, 5)])
def test_predictions_are_those_of_pyg_with_the_same_weights(plain_problem, hidden):
    method = GCN.build(GCNSettings(hidden=hidden), plain_problem).eval()
    found = method(plain_problem, generator=torch.Generator()).logits[0]
    wanted = reference(method, plain_problem)(
        plain_problem.features, plain_problem.graph.edge_index
    )
    torch.testing.assert_close(found, wanted)


def test_gradients_are_those_of_pyg(plain_problem):
    method = GCN.build(GCNSettings(hidden=(6,), dropout=0.0, input_dropout=0.0), plain_problem)
    twin = reference(method, plain_problem)
    output = method(plain_problem, generator=torch.Generator())
    sum(method.losses(output, plain_problem).values()).backward()
    train = plain_problem.train
    scores = twin(plain_problem.features, plain_problem.graph.edge_index)[train]
    torch.nn.functional.cross_entropy(scores, plain_problem.labels[train]).backward()
    for layer, other in zip(method.stack.layers, twin.convs, strict=True):
        torch.testing.assert_close(layer.weight.grad, other.lin.weight.grad.T)
        torch.testing.assert_close(layer.bias.grad, other.bias.grad)


def test_published_decay_acts_on_the_first_layer_alone(plain_problem):
    method = GCN.build(GCN.preset("published", "cora"), plain_problem)
    first, rest = method.parameter_groups()
    assert (first["weight_decay"], rest["weight_decay"]) == (5e-4, 0.0)
    assert [id(p) for p in first["params"]] == [id(p) for p in method.stack.layers[0].parameters()]
    every = {id(p) for group in (first, rest) for p in group["params"]}
    assert every == {id(p) for p in method.parameters()}


def test_data_without_a_graph_get_a_sentence(plain_problem):
    method = GCN.build(GCNSettings(), plain_problem)
    with pytest.raises(InputError, match="GCN needs an observed graph.*Take knn-gcn"):
        method(replace(plain_problem, graph=None), generator=torch.Generator())


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"hidden": (0,)}, "`hidden` must be widths of 1 or more"),
        ({"dropout": 1.0}, "`dropout` must be from 0 to below 1"),
        ({"decay": "last"}, "`decay` cannot be 'last'"),
    ],
)
def test_wrong_settings_get_a_sentence(changes, words):
    with pytest.raises(InputError, match=words):
        GCNSettings(**changes)
