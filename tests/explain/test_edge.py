"""Why one latent edge is as likely as it is."""

import pytest
import torch

from bpgnn.errors import InputError
from bpgnn.explain.edge import explain_edge


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"witness": "equal", "self_loops": False},
        {"witness": "mixed"},
        {"symmetric": True},
        {"residual": "sum"},
        {"residual": "none"},
        {"boolean_layers": 2},
    ],
)
def test_contributions_add_up_to_the_probability_that_was_sampled_from(explained, changes):
    method, _, output = explained(**changes)
    product = method.edge_probabilities(output)["product"]
    for j, i in output.draws[-4].edge_index[:, ::29].t().tolist():
        reasons = explain_edge(method, output, i, j)
        total = sum(witness.contribution for witness in reasons.witnesses) + reasons.rest
        assert total == pytest.approx(reasons.probability, rel=1e-12)
        expected = float(product.entries(torch.tensor([[j], [i]])).detach())
        assert reasons.probability == pytest.approx(expected, rel=1e-4)
        assert sum(witness.share for witness in reasons.witnesses) == pytest.approx(1.0)
        shares = [witness.share for witness in reasons.witnesses]
        assert shares == sorted(shares, reverse=True)
        assert (reasons.target, reasons.source) == (i, j)


def test_the_witnesses_are_the_observed_neighbours_and_oneself(explained):
    method, problem, output = explained()
    reasons = explain_edge(method, output, 5, 7)
    graph = problem.graph
    expected = {5, *graph.sources[graph.targets == 5].tolist()}
    assert {witness.node for witness in reasons.witnesses} == expected
    assert {witness.side for witness in reasons.witnesses} == {"target"}
    assert not reasons.is_symmetric


def test_the_symmetric_product_has_witnesses_of_both_ends(explained):
    method, problem, output = explained(symmetric=True)
    reasons = explain_edge(method, output, 5, 7)
    graph = problem.graph
    for side, end in (("target", 5), ("source", 7)):
        own = {witness.node for witness in reasons.witnesses if witness.side == side}
        assert own == {end, *graph.sources[graph.targets == end].tolist()}
    assert reasons.is_symmetric
    assert explain_edge(method, output, 7, 5).probability == pytest.approx(reasons.probability)


@pytest.mark.parametrize("name", ["bpgnn", "ddgm-e", "ddgm-h"])
def test_without_the_observed_graph_a_node_is_its_own_witness(explained, name):
    method, _, output = explained(name, residual="none")
    (witness,) = explain_edge(method, output, 5, 7).witnesses
    assert (witness.node, witness.weight, witness.share) == (5, 1.0, 1.0)


def test_a_node_that_loses_its_only_witness_has_nobody_to_speak_for_it(explained):
    method, problem, output = explained(self_loops=False, witness="equal")
    assert int(problem.graph.in_degree[59]) == 0
    reasons = explain_edge(method, output, 59, 7)
    assert reasons.witnesses == ()
    assert reasons.probability == reasons.rest == pytest.approx(1e-24)


@pytest.mark.parametrize(("i", "j", "name"), [(60, 0, "i"), (0, -1, "j"), (0, 1.0, "j")])
def test_numbers_that_are_no_nodes_are_refused(explained, i, j, name):
    method, _, output = explained()
    with pytest.raises(InputError, match=f"`{name}` must be a node's number from 0 to 59"):
        explain_edge(method, output, i, j)


def test_an_edge_to_oneself_is_explained_only_where_it_can_be_drawn(explained):
    method, _, output = explained()
    with pytest.raises(InputError, match="the same node.*`self_pairs=true`"):
        explain_edge(method, output, 5, 5)
    method, _, output = explained(self_pairs=True)
    assert explain_edge(method, output, 5, 5).probability > 0
