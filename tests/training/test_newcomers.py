import copy
from dataclasses import replace

import pytest
import torch

from bpgnn.data.dataset import make_dataset
from bpgnn.data.prepare import prepare_features
from bpgnn.data.split import split
from bpgnn.data.synthetic import block_model
from bpgnn.errors import InputError
from bpgnn.training.fit import fit
from bpgnn.training.newcomers import nearest_known, predict_newcomers
from bpgnn.training.plan import Plan

METHODS = ("bpgnn", "ddgm-e", "gcn", "gat", "mlp")


def sparse(data):
    features = data.features.relu().to_sparse_csr()
    edges = data.graph.edge_index
    made = make_dataset("sparse", features, data.labels, edges, feature_kind="counts")
    return made.with_split(split(made, "random", seed=0))


@pytest.fixture(scope="module")
def data():
    return block_model(90, seed=3)


@pytest.fixture(scope="module", params=METHODS)
def fitted(request, data):
    return fit(data, Plan(request.param, changes={"max_steps": 15, **few(request.param)}))


def few(method):
    return {"k": 4} if method in ("bpgnn", "ddgm-e") else {}


def given_edges():
    return torch.tensor([[0, 5, 9, 20], [0, 0, 1, 2]])


def test_rows_do_not_depend_on_one_another(fitted, data):
    features, edges = data.features[:4] + 0.1, given_edges()
    together = predict_newcomers(fitted, features, edges)
    assert together.shape[1:] == (4, data.num_classes)
    torch.testing.assert_close(together.sum(-1), torch.ones_like(together.sum(-1)))
    for node in range(4):
        own = edges[:, edges[1] == node].clone()
        own[1] = 0
        alone = predict_newcomers(fitted, features[node : node + 1], own)
        torch.testing.assert_close(alone[:, 0], together[:, node], rtol=0, atol=1e-12)
    order = torch.tensor([2, 0, 3, 1])
    turned = torch.stack([edges[0], torch.argsort(order)[edges[1]]])
    mixed = predict_newcomers(fitted, features[order], turned)
    torch.testing.assert_close(mixed, together[:, order], rtol=0, atol=1e-12)


def test_the_nodes_of_the_training_keep_their_answers(fitted, data):
    # The forward pass that scores newcomers scores the others as before.
    method = copy.deepcopy(fitted.method).double().eval()
    seen = []
    method.register_forward_hook(lambda *call: seen.append(call[-1].logits))
    copied = replace(fitted, method=method)
    predict_newcomers(copied, data.features[:3], given_edges())
    kept = seen[0][:, : data.num_nodes]
    expected = fitted.output.logits.double()
    torch.testing.assert_close(kept, expected, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("method", ["gcn", "bpgnn"])
def test_a_twin_of_a_node_has_nearly_its_answer(method, data):
    fitted = fit(data, Plan(method, changes={"max_steps": 60, **few(method)}))
    nodes = torch.arange(30)
    pairs = [
        torch.stack(
            [
                data.graph.sources[data.graph.targets == node],
                torch.full((int(data.graph.in_degree[node]),), number),
            ]
        )
        for number, node in enumerate(nodes.tolist())
    ]
    twins = predict_newcomers(fitted, data.features[nodes], torch.cat(pairs, dim=1)).mean(0)
    agree = (twins.argmax(1) == fitted.probabilities[nodes].argmax(1)).double().mean()
    assert agree >= 0.9


def test_edges_matter_to_a_newcomer(data):
    fitted = fit(data, Plan("gcn", changes={"max_steps": 40}))
    nothing = torch.zeros(1, data.num_features)
    classes = data.labels
    for label in range(data.num_classes):
        known = (classes == label).nonzero().squeeze(1)[:8]
        edges = torch.stack([known, torch.zeros_like(known)])
        found = predict_newcomers(fitted, nothing + data.features[known].mean(0), edges)
        assert int(found.mean(0).argmax()) == label


def test_sparse_features_and_many_newcomers_go_in_blocks(data, monkeypatch):
    few_words = sparse(data)
    fitted = fit(few_words, Plan("bpgnn", changes={"max_steps": 5, "k": 4}))
    edges = torch.stack([torch.arange(90), torch.arange(90)])
    whole = predict_newcomers(fitted, few_words.features, edges)
    monkeypatch.setattr("bpgnn.training.newcomers._BLOCK", 32)
    torch.testing.assert_close(
        predict_newcomers(fitted, few_words.features, edges), whole, rtol=0, atol=1e-12
    )


@pytest.mark.parametrize("form", [lambda data: data, sparse])
def test_the_nearest_of_a_newcomer_are_those_at_the_least_distance(data, form):
    data = form(data)
    fitted = fit(data, Plan("gcn", changes={"max_steps": 1}))
    found = nearest_known(fitted, data.features.to_dense()[:5], 3)
    assert found[1].tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4]
    ready = prepare_features(data.features, data.feature_kind).to_dense()
    if data.feature_kind == "counts":
        ready = torch.nn.functional.normalize(ready)
    for node in range(5):
        nearest = (ready - ready[node]).norm(dim=1).argsort()[:3]
        assert set(found[0, 3 * node : 3 * node + 3].tolist()) == set(nearest.tolist())
    assert nearest_known(fitted, data.features.to_dense()[:1], 999).size(1) == data.num_nodes
    assert nearest_known(fitted, data.features.to_dense()[:0], 3).shape == (2, 0)
    with pytest.raises(InputError, match="must be finite"):
        nearest_known(fitted, torch.full((1, 16), torch.nan), 3)


def test_no_newcomers_give_no_rows(fitted, data):
    assert predict_newcomers(fitted, data.features[:0]).shape[1] == 0


def test_what_cannot_be_answered_is_said(data):
    fitted = fit(data, Plan("knn-gcn", changes={"max_steps": 3, "k": 4}))
    with pytest.raises(InputError, match="knn-gcn has no answer .* one of: .*bpgnn"):
        predict_newcomers(fitted, data.features[:2])


@pytest.mark.parametrize(
    ("features", "edges", "words"),
    [
        (torch.zeros(2, 3), None, "must have the 16 columns"),
        (torch.zeros(2, 16).long(), None, "floating-point"),
        (torch.full((2, 16), torch.nan), None, "must be finite"),
        (torch.zeros(2, 16), torch.tensor([[90], [0]]), "Row 0 .* from 0 to 89"),
        (torch.zeros(2, 16), torch.tensor([[0], [2]]), "Row 1 .* from 0 to 1"),
        (torch.zeros(2, 16), torch.tensor([[-1], [0]]), "Row 0 .* from 0 to 89, but it holds -1"),
        (torch.zeros(2, 16), torch.tensor([[0, 1]]), r"`edges` must have shape \(2, E\)"),
    ],
)
def test_bad_newcomers_are_refused(data, features, edges, words):
    fitted = fit(data, Plan("gcn", changes={"max_steps": 1}))
    with pytest.raises(InputError, match=words):
        predict_newcomers(fitted, features, edges)


def test_an_edge_given_twice_is_one_edge_beside_a_weighted_graph_too(data):
    edges = data.graph.edge_index
    weight = torch.full((edges.size(1),), 0.5)
    weighted = make_dataset("own", data.features, data.labels, edges, edge_weight=weight)
    fitted = fit(weighted.with_split(data.chosen_split()), Plan("gcn", changes={"max_steps": 2}))
    once, twice = torch.tensor([[5, 7], [0, 0]]), torch.tensor([[5, 7, 5], [0, 0, 0]])
    found = [predict_newcomers(fitted, data.features[:1], some) for some in (once, twice)]
    torch.testing.assert_close(found[0], found[1], rtol=0, atol=0)
    heavier = predict_newcomers(fitted, data.features[:1], twice, torch.ones(3))
    assert not torch.equal(heavier, found[0])
