"""Names of samplers, and the choice among them."""

import pytest

from bpgnn.infer.sample.choose import SAMPLERS, choose_sampler


@pytest.mark.parametrize("name", SAMPLERS)
def test_a_sampler_is_made_by_its_own_name(name):
    assert choose_sampler(name).name == name


def test_auto_takes_the_one_that_holds_no_matrix():
    assert choose_sampler("auto").name == "lazy"
