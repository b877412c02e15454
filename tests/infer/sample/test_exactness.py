"""Every sampler draws from one distribution, that of the definition, and wrong ones do not.

The family-wise chance of a false alarm is 1e-4 for all tests here together: each p-value is
held against 1e-4 divided by the number of comparisons (`alarm.py`). Seeds are fixed, so a pass
stays a pass. The weights that draws are held against come from `log_dense()` in float64.
"""

from itertools import permutations

import numpy as np
import pytest

from tests.infer.sample.alarm import alarms
from tests.infer.sample.cases import LARGE, SMALL, pairs_in, pairs_wanted
from tests.infer.sample.exactness import (
    chi_square,
    first_chances,
    log_rests,
    pair_chances,
    second_chances,
    set_chances,
)
from tests.infer.sample.samplers import LARGE_BUILD
from tests.infer.sample.wrong import CONTROLS, MISTAKES, Race


@pytest.mark.parametrize("case", SMALL, ids=str)
def test_draws_have_their_exact_chances(sampler, case):
    if case.form == "floored" and sampler.name == "lazy":
        pytest.skip("the lazy sampler does not take the floor")
    assert not alarms(sampler, case)


@pytest.mark.parametrize("case", LARGE, ids=str)
@pytest.mark.parametrize("name", LARGE_BUILD)
def test_draws_among_many_nodes_have_their_exact_chances(name, case):
    assert not alarms(LARGE_BUILD[name](), case)


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_wrong_sampler_raises_the_alarms_it_should(mistake):
    case, statistics = MISTAKES[mistake]
    assert statistics <= alarms(Race(mistake), case).keys()


def test_clocks_shared_between_rows_alarm_two_rows_together_and_nothing_else():
    mistake = "clocks shared between rows"
    assert alarms(Race(mistake), MISTAKES[mistake][0]).keys() == {"two rows"}


@pytest.mark.parametrize("case", CONTROLS, ids=str)
def test_the_same_race_without_a_mistake_raises_none(case):
    assert not alarms(Race(), case)


def test_every_two_levels_of_the_factors_meet_in_a_case():
    assert pairs_wanted() == set().union(*map(pairs_in, SMALL))


def test_chances_are_those_of_every_order_written_out():
    """From weights of like size to weights that floating point cannot add."""
    log_weights = np.array([[0.0, -1.0, -0.5, 0.7, -2.0], [0.0, -50.0, -600.0, -601.0, -1.0]])
    sets = set_chances(log_weights, log_rests(log_weights))
    firsts, pairs = first_chances(log_weights), pair_chances(log_weights)
    np.testing.assert_allclose(second_chances(log_weights), pairs.reshape(2, 5, 5).sum(1))
    for row, weights in enumerate(log_weights):
        for size in (1, 2, 3, 4, 5):
            wanted = np.zeros(2**5)
            for order in permutations(range(5), size):
                chance = 1.0
                for place, j in enumerate(order):
                    left = [weights[m] for m in range(5) if m not in order[:place]]
                    chance /= sum(np.exp(w - weights[j]) for w in left)
                wanted[sum(1 << j for j in order)] += chance
                if size == 1:
                    np.testing.assert_allclose(firsts[row, order[0]], chance)
                if size == 2:
                    np.testing.assert_allclose(pairs[row, 5 * order[0] + order[1]], chance)
            these = wanted > 0
            np.testing.assert_allclose(sets[row, these], wanted[these])


def test_the_chi_square_alarms_as_often_as_it_says():
    """Chances from common to rare, so that some cells are pooled and some left over."""
    chances = np.array([[0.5, 0.3, 0.15, 0.04, 0.009, 0.001], [0.9, 0.097, 0.002, 0.001, 0, 0]])
    noise = np.random.default_rng(0)
    found = [
        chi_square(np.stack([noise.choice(6, 400, p=row) for row in chances], axis=1), chances)
        for _ in range(500)
    ]
    assert 0.02 < np.mean(np.array(found) < 0.05) < 0.08
