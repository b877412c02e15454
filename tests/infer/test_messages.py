import pytest
import torch

from bpgnn.infer.messages import drawn_edges, log_message_weight
from tests.infer.examples import make


def test_every_neighbour_has_an_edge_to_its_node_in_the_order_drawn():
    neighbours = torch.tensor([[3, 1], [0, 2], [1, 0], [2, 1]])
    edges = drawn_edges(neighbours)
    wanted = [(int(j), i) for i, row in enumerate(neighbours) for j in row]
    assert list(zip(*edges.tolist(), strict=True)) == wanted


@pytest.mark.parametrize("kind", ["product", "gated", "kernel", "sum"])
def test_votes_are_the_probability_times_what_the_row_was_divided_by(kind):
    probabilities, _ = make(kind, "star")
    edges = torch.tensor([[1, 2, 5], [0, 3, 4]])
    log_prob = probabilities.log_entries(edges)
    assert log_message_weight(probabilities, edges, lambda: log_prob, "probability") is log_prob
    votes = log_message_weight(probabilities, edges, lambda: log_prob, "votes")
    divisor = (votes - log_prob).exp()
    if kind == "product":  # each node has itself and its neighbours: the centre five, others one
        torch.testing.assert_close(divisor, torch.tensor([6.0, 2.0, 2.0], dtype=torch.double))
    elif kind == "gated":
        assert ((divisor > 1) & (divisor < torch.tensor([6.0, 2.0, 2.0]))).all()
    else:
        torch.testing.assert_close(divisor, torch.ones(3, dtype=torch.double))


def test_probabilities_are_not_asked_for_where_messages_count_alike():
    probabilities, _ = make("product", "star")
    edges = torch.tensor([[1, 2, 5], [0, 3, 4]])
    assert log_message_weight(probabilities, edges, lambda: pytest.fail("asked"), "none") is None
