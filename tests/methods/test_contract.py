"""Every method keeps the contract; a method of one's own is held to the same checks."""

import pytest

from bpgnn.errors import InputError
from bpgnn.graph import Graph
from bpgnn.methods.gcn import GCN
from bpgnn.methods.registry import METHODS
from bpgnn.nn import factor
from bpgnn.testing import METHOD_CHECKS

# The classifier of SLAPS learns from the end of the warm-up on.
QUICK = {"slaps": {"warm_up": 4}}


@pytest.mark.parametrize("check", METHOD_CHECKS)
@pytest.mark.parametrize("name", METHODS)
def test_the_method_keeps_the_contract(name, check):
    method = METHODS[name]
    METHOD_CHECKS[check](method, method.preset("tuned", "my own").changed(QUICK.get(name, {})))


@pytest.mark.parametrize("check", METHOD_CHECKS)
@pytest.mark.parametrize(
    "more", [{}, {"nearest_messages": 3, "nearest_in_embedding": True}], ids=str
)
def test_bpgnn_with_evidence_for_its_edges_keeps_the_contract(check, more):
    method = METHODS["bpgnn"]
    changes = {"edge_evidence": True, **more}
    METHOD_CHECKS[check](method, method.preset("tuned", "my own").changed(changes))


@pytest.mark.parametrize("name", ["idgl", "idgl-anch"])
def test_features_that_stay_sparse_do_as_well_as_dense_ones(monkeypatch, name):
    """The contract's features are so many that both would be dense."""
    monkeypatch.setattr(factor, "DENSE_SPEED", 0)
    (promise,) = (one for one in METHOD_CHECKS if one.startswith("dense features"))
    method = METHODS[name]
    METHOD_CHECKS[promise](method, method.preset("tuned", "my own").changed(QUICK.get(name, {})))


def as_it_is(_, problem):
    return problem.graph


def refused(_, problem):
    raise InputError("A graph is wanted.")


def replaced(_, problem):
    return problem.graph or Graph.empty(problem.num_nodes)


@pytest.mark.parametrize(
    ("use", "graph_of", "error", "words"),
    [
        ("used", as_it_is, AttributeError, "'NoneType' object"),
        ("used", refused, AssertionError, "is 'used', but it says: A graph is wanted"),
        ("needed", replaced, AssertionError, "it runs without a graph"),
    ],
)
def test_what_a_method_says_of_the_graph_is_tried_without_one(
    monkeypatch, use, graph_of, error, words
):
    monkeypatch.setattr(GCN, "graph_use", use)
    monkeypatch.setattr(GCN, "_graph", graph_of)
    (promise,) = (one for one in METHOD_CHECKS if one.startswith("without a graph"))
    with pytest.raises(error, match=words):
        METHOD_CHECKS[promise](GCN, GCN.preset("tuned", "my own"))


def test_a_method_that_says_it_ignores_the_graph_is_held_to_it(monkeypatch):
    monkeypatch.setattr(GCN, "graph_use", "ignored")
    monkeypatch.setattr(GCN, "_graph", replaced)
    (promise,) = (one for one in METHOD_CHECKS if one.startswith("where it ignores"))
    with pytest.raises(AssertionError, match="The graph changes what it predicts"):
        METHOD_CHECKS[promise](GCN, GCN.preset("tuned", "my own"))
