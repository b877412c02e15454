import itertools
import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from bpgnn.losses.graph_reward import (
    LOG_FLOOR,
    graph_likelihood,
    graph_reward,
    noisy_graph_reward,
    running_mean,
)

SURPRISE = torch.tensor([0.5, -0.25, 0.0], dtype=torch.double)


@pytest.fixture
def log_prob():
    generator = torch.Generator().manual_seed(0)
    return torch.rand(3, 2, generator=generator, dtype=torch.double).log()


def test_the_reward_is_the_mean_of_surprise_times_log_probability(log_prob):
    total = sum(SURPRISE[i] * log_prob[i, t] for i in range(3) for t in range(2))
    torch.testing.assert_close(graph_reward(log_prob, SURPRISE), total / 6)


def test_descent_makes_edges_of_right_nodes_likelier_and_of_wrong_ones_less_likely():
    log_prob = torch.full((2, 1), -1.0, requires_grad=True)
    right_then_wrong = torch.tensor([0.5 - 1.0, 0.5 - 0.0])
    graph_reward(log_prob, right_then_wrong).backward()
    assert log_prob.grad[0] < 0 < log_prob.grad[1]


def test_edges_below_the_floor_count_as_the_floor_and_are_not_pushed():
    assert math.isclose(LOG_FLOOR, math.log(1e-24))
    log_prob = torch.tensor([[-500.0, -1.0]], requires_grad=True)
    loss = graph_reward(log_prob, torch.tensor([1.0]))
    assert float(loss.detach()) == pytest.approx((math.log(1e-24) - 1) / 2)
    loss.backward()
    assert log_prob.grad.tolist() == [[0.0, 0.5]]


def test_the_noisy_reward_is_the_mean_of_surprise_times_the_exponential_score(log_prob):
    scores = log_prob + torch.tensor([[0.3, -1.0], [2.0, 0.0], [1.0, 1.0]])
    log_prob.requires_grad_()
    loss = noisy_graph_reward(log_prob, scores, SURPRISE)
    expected = (SURPRISE.unsqueeze(1) * scores.detach().exp()).mean()
    torch.testing.assert_close(loss.detach(), expected)
    # The noise is a constant: only log P~ is differentiated, d exp(s) = exp(s) d log P~.
    loss.backward()
    torch.testing.assert_close(log_prob.grad, SURPRISE.unsqueeze(1) * scores.detach().exp() / 6)


def ordered_draw_probability(weights, order):
    """Plackett and Luce: draw without replacement, each time by what is left."""
    left, probability = dict(enumerate(weights)), 1.0
    for j in order:
        probability *= left[j] / sum(left.values())
        del left[j]
    return probability


WEIGHTS = st.lists(st.floats(0.05, 3.0), min_size=3, max_size=5)


@given(WEIGHTS, st.data())
def test_the_likelihood_is_the_plackett_luce_probability_of_the_draw(weights, data):
    order = data.draw(st.permutations(range(len(weights))))[: len(weights) - 1]
    rates = torch.tensor(weights, dtype=torch.double)
    loss = graph_likelihood(
        rates[list(order)].log().unsqueeze(0), rates.sum().log().view(1), torch.ones(1).double()
    )
    expected = math.log(ordered_draw_probability(weights, order)) / len(order)
    assert float(loss) == pytest.approx(expected, rel=1e-6)


@given(WEIGHTS)
def test_likelihoods_of_all_ordered_draws_add_up_to_one(weights):
    rates = torch.tensor(weights, dtype=torch.double)
    orders = list(itertools.permutations(range(len(weights)), 2))
    log_prob = rates[torch.tensor(orders)].log()
    each = [
        2 * graph_likelihood(row.unsqueeze(0), rates.sum().log().view(1), torch.ones(1))
        for row in log_prob
    ]
    assert float(torch.stack(each).exp().sum()) == pytest.approx(1, rel=1e-6)


def test_the_score_function_has_mean_zero():
    """The expected gradient of a true log-likelihood vanishes; the plain reward's does not."""
    theta = torch.tensor([0.1, 0.7, -0.4, 0.2], dtype=torch.double, requires_grad=True)
    expected = torch.zeros(4, dtype=torch.double)
    for order in itertools.permutations(range(4), 2):
        log_prob = theta[list(order)].unsqueeze(0)
        total = theta.logsumexp(0).view(1)
        loss = graph_likelihood(log_prob, total, torch.ones(1).double())
        (gradient,) = torch.autograd.grad(loss, theta)
        weights = theta.detach().exp().tolist()
        expected += ordered_draw_probability(weights, order) * gradient
    torch.testing.assert_close(expected, torch.zeros_like(expected), atol=1e-12, rtol=0)


def test_a_row_that_is_drawn_empty_stays_finite():
    log_prob = torch.tensor([[0.0, -200.0, -300.0]], requires_grad=True)
    loss = graph_likelihood(log_prob, torch.tensor([0.0]), torch.tensor([1.0]))
    loss.backward()
    assert torch.isfinite(loss)
    assert torch.isfinite(log_prob.grad).all()


@given(st.floats(0, 1), st.lists(st.booleans(), min_size=1, max_size=30))
def test_a_running_mean_weighs_the_past_geometrically(start, seen):
    mean = torch.tensor(start, dtype=torch.double)
    for one in seen:
        mean = running_mean(mean, torch.tensor(float(one), dtype=torch.double))
    steps = len(seen)
    closed = 0.95**steps * start + sum(
        0.05 * 0.95 ** (steps - 1 - t) * one for t, one in enumerate(seen)
    )
    assert float(mean) == pytest.approx(closed)
