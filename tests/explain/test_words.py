"""Explanations as plain sentences."""

import pytest

from bpgnn.explain.edge import EdgeReasons, Witness, explain_edge
from bpgnn.explain.node import Neighbour, NodeReasons
from bpgnn.explain.words import edge_in_words, node_in_words

NAMES = ["Ann", "Bob", *"CDEFGHIJ"]


def reasons_of(*votes, rest=0.0):
    """Make reasons for Ann – Bob of (node, side, weight, likeness)."""
    total = sum(weight * likeness for *_, weight, likeness in votes)
    witnesses = [
        Witness(node, side, weight, likeness, weight * likeness, weight * likeness / total)
        for node, side, weight, likeness in votes
    ]
    ordered = tuple(sorted(witnesses, key=lambda witness: -witness.share))
    return EdgeReasons(0, 1, total + rest, ordered, rest)


def test_neighbours_are_named_with_share_and_likeness_and_then_the_node_itself():
    reasons = reasons_of(
        (0, "target", 0.25, 0.2),
        (2, "target", 0.25, 0.9),
        (1, "target", 0.25, 1.0),
        (3, "target", 0.25, 0.04),
    )
    assert edge_in_words(reasons, NAMES) == (
        "Ann – Bob: probability 0.54. Three of Ann's neighbours speak for it: Bob itself, a "
        "neighbour already (share 47 %), C (share 42 %: C and Bob are alike, P = 0.9), D (share "
        "2 %: D and Bob are hardly alike, P = 0.04); Ann itself 9 % (Ann and Bob are somewhat "
        "alike, P = 0.2)."
    )


def test_few_are_named_and_the_others_summed_up():
    votes = [(node, "target", 0.1, 0.5) for node in range(2, 10)]
    text = edge_in_words(reasons_of(*votes), NAMES, most=2)
    assert "Eight of Ann's neighbours speak for it: C (" in text
    assert text.endswith("and six more with 75 % together.")


def test_neighbours_without_a_say_are_not_named():
    text = edge_in_words(reasons_of((0, "target", 0.5, 1.0), (2, "target", 0.5, 1e-6)), NAMES)
    assert "None of Ann's neighbours has a say of 1 % or more; Ann itself 100 %" in text


def test_both_sides_speak_in_the_symmetric_product():
    text = edge_in_words(reasons_of((2, "target", 0.5, 0.6), (3, "source", 0.5, 0.6)), NAMES)
    assert "One of Ann's neighbours speaks for it: C (share 50 %: C and Bob are alike" in text
    assert "One of Bob's neighbours speaks for it: D (share 50 %: D and Ann are alike" in text


def test_an_end_without_neighbours_leaves_it_to_the_other():
    text = edge_in_words(reasons_of((3, "source", 0.5, 0.6), rest=5e-25), NAMES)
    assert "Ann has no neighbours to speak for it. One of Bob's neighbours speaks" in text
    assert "allowed" not in text
    assert "equally likely" not in text


def test_the_sum_names_its_two_terms():
    text = edge_in_words(reasons_of((1, "observed", 1.0, 1.0), (0, "latent", 0.3, 0.8)), NAMES)
    assert text == (
        "Ann – Bob: weight 1.2 when neighbours are drawn. The observed graph has it, with weight "
        "1 (share 81 %). Ann and Bob are alike, P = 0.8, which counts 0.3 times (share 19 %)."
    )
    absent = edge_in_words(reasons_of((1, "observed", 0.0, 1.0), (0, "latent", 0.3, 0.8)), NAMES)
    assert "does not have the edge" in absent


def test_a_node_without_witnesses_and_one_alone_are_told_apart():
    nobody = edge_in_words(EdgeReasons(0, 1, 1e-24, (), 1e-24))
    assert nobody.startswith("Node 0 – node 1: probability 1e-24. Node 0 has no neighbours")
    assert nobody.endswith("All nodes are equally likely to be drawn.")
    alone = edge_in_words(reasons_of((0, "target", 1.0, 0.3)))
    assert alone.endswith(
        "Only node 0 itself speaks for it: node 0 and node 1 are somewhat alike, P = 0.3."
    )
    floored = edge_in_words(reasons_of((0, "target", 1.0, 1e-9), rest=0.1))
    assert floored.endswith("less than the least that is allowed, which counts.")


@pytest.mark.parametrize("changes", [{}, {"symmetric": True}, {"residual": "sum"}])
def test_what_a_network_gives_can_be_said(explained, changes):
    method, _, output = explained(**changes)
    text = edge_in_words(explain_edge(method, output, 5, 7))
    assert text.startswith("Node 5 – node 7: ")
    assert text.endswith(".")


def test_a_prediction_is_told_with_those_for_and_against_it():
    neighbours = (
        Neighbour(1, 1.0, 0.4, 0.2),
        Neighbour(2, 0.5, 0.1, -0.05),
        Neighbour(3, 0.5, 0.1, 0.0001),
    )
    reasons = NodeReasons(0, 1, (0.2, 0.7, 0.1), 0.8, 0.1, 1.0, 10, neighbours)
    text = node_in_words(reasons, NAMES, ["red", "blue", "grey"])
    assert text.startswith("Ann: blue, probability 0.70, then red, 0.20; 10 of 10 sampled graphs")
    assert "entropy is 0.80 nats of at most 1.10, of which 0.10 is disagreement" in text
    assert "Without Bob, drawn in 10 of 10 graphs (P~ = 0.4), blue falls by 0.2." in text
    assert "Without C, drawn in 5 of 10 graphs (P~ = 0.1), blue rises by 0.05." in text
    assert "Without D" not in text


def test_a_prediction_that_rests_on_nobody_says_so():
    reasons = NodeReasons(0, 0, (1.0,), 0.0, 0.0, 1.0, 2, (Neighbour(0, 1.0, 0.5, 0.0),))
    text = node_in_words(reasons)
    assert text.startswith("Node 0: class 0, probability 1.00; 2 of 2 sampled graphs say class 0.")
    assert text.endswith("None of its latent neighbours (1 in all) changes that by 0.001 or more.")
