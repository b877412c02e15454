import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from bpgnn.experiments.statistics import paired_difference, sampling_error

FIGURES = st.dictionaries(st.integers(0, 9), st.floats(0, 1), min_size=1)


@given(FIGURES, FIGURES)
def test_only_seeds_that_both_have_are_compared(ours, theirs):
    found = paired_difference(ours, theirs)
    shared = ours.keys() & theirs.keys()
    if not shared:
        assert found is None
        return
    assert found.num_pairs == len(shared)
    assert found.mean == pytest.approx(np.mean([ours[s] - theirs[s] for s in shared]), abs=1e-12)
    if len(shared) < 5:
        assert found.low is found.high is None
    else:
        assert found.low <= found.mean + 1e-12
        assert found.mean <= found.high + 1e-12


@given(FIGURES)
def test_turning_the_comparison_round_turns_the_sign(ours):
    theirs = {seed: (seed % 3) / 3 for seed in ours}
    there, back = paired_difference(ours, theirs), paired_difference(theirs, ours)
    assert there.mean == pytest.approx(-back.mean, abs=1e-12)
    if len(ours) >= 5:
        assert there.low == pytest.approx(-back.high, abs=1e-2)


def test_the_interval_is_that_of_scipys_bootstrap_further_out():
    generator = np.random.default_rng(0)
    gaps = generator.normal(0.02, 0.01, 10)
    found = paired_difference(dict(enumerate(gaps)), dict.fromkeys(range(10), 0.0))
    # Student's t with nine degrees of freedom, and the standard deviation by nine, not ten.
    tail = stats.norm.cdf(-2.262 * (10 / 9) ** 0.5)
    expected = stats.bootstrap(
        (gaps,), np.mean, method="percentile", n_resamples=50_000, confidence_level=1 - 2 * tail
    )
    assert found.low == pytest.approx(expected.confidence_interval.low, abs=5e-4)
    assert found.high == pytest.approx(expected.confidence_interval.high, abs=5e-4)


@pytest.mark.parametrize("number", [5, 10, 20])
def test_the_interval_holds_the_truth_about_as_often_as_it_says(number):
    generator = np.random.default_rng(number)
    zeros = dict.fromkeys(range(number), 0.0)
    held = 0
    for _ in range(200):
        found = paired_difference(dict(enumerate(generator.normal(0.3, 1.0, number))), zeros)
        held += found.low <= 0.3 <= found.high
    assert 178 <= held <= 199


def test_500_test_nodes_have_an_error_of_a_point_and_a_half():
    assert sampling_error(0.871, 500) == pytest.approx(0.015, abs=2e-4)
