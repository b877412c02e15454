"""Sums and soft maxima over runs of a vector."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from bpgnn.infer.segments import expand_runs, log_sum_exp_by


@given(st.lists(st.tuples(st.integers(0, 4), st.floats(-900, 50)), min_size=1, max_size=30))
def test_segments_have_the_log_sum_exp_of_their_values(items):
    segment = torch.tensor([part for part, _ in items])
    values = torch.tensor([value for _, value in items], dtype=torch.double)
    found = log_sum_exp_by(values, segment, 5)
    for part in range(5):
        torch.testing.assert_close(found[part], values[segment == part].logsumexp(0))


def test_an_empty_segment_and_an_impossible_one_are_minus_infinity_without_nan():
    values = torch.tensor([-torch.inf, 0.0], requires_grad=True)
    found = log_sum_exp_by(values, torch.tensor([0, 1]), 3)
    assert found.tolist() == [-torch.inf, 0.0, -torch.inf]


def test_gradients_are_right():
    values = torch.randn(6, dtype=torch.double, requires_grad=True)
    segment = torch.tensor([0, 0, 1, 1, 1, 2])
    assert torch.autograd.gradcheck(lambda x: log_sum_exp_by(x, segment, 3), (values,))


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 4)), max_size=10))
def test_runs_are_listed_one_after_the_other(runs):
    start = torch.tensor([begin for begin, _ in runs], dtype=torch.long)
    length = torch.tensor([count for _, count in runs], dtype=torch.long)
    position, run = expand_runs(start, length)
    wanted = [(begin + step, at) for at, (begin, count) in enumerate(runs) for step in range(count)]
    assert list(zip(position.tolist(), run.tolist(), strict=True)) == wanted
