import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from bpgnn.errors import InputError
from bpgnn.randomness import generator_for, numpy_generator_for, repeatable_sums, seeded_globally

SEEDS = st.integers(0, 2**63)
STREAMS = st.lists(st.integers(0, 2**31), max_size=3)


def drawn(generator):
    return torch.rand(4, generator=generator).tolist()


@given(seed=SEEDS, stream=STREAMS)
def test_the_same_seed_and_stream_give_the_same_numbers(seed, stream):
    assert drawn(generator_for(seed, *stream)) == drawn(generator_for(seed, *stream))
    one, other = numpy_generator_for(seed, *stream), numpy_generator_for(seed, *stream)
    assert one.random(4).tolist() == other.random(4).tolist()


@given(seed=SEEDS)
def test_other_seeds_and_other_streams_give_other_numbers(seed):
    generators = [
        generator_for(seed),
        generator_for(seed + 1),
        generator_for(seed, 1),
        generator_for(seed, 2),
        generator_for(seed, 1, 2),
    ]
    assert len({tuple(drawn(generator)) for generator in generators}) == len(generators)


def test_drawing_leaves_the_global_state_alone():
    before = torch.get_rng_state(), np.random.get_state()[1].copy()
    drawn(generator_for(0))
    numpy_generator_for(0).random()
    assert torch.equal(torch.get_rng_state(), before[0])
    assert np.array_equal(np.random.get_state()[1], before[1])


def test_modules_built_under_a_seed_are_equal_and_the_global_state_comes_back():
    before = torch.get_rng_state()
    with seeded_globally(3, 1):
        one = nn.Linear(5, 2)
    with seeded_globally(3, 1):
        other = nn.Linear(5, 2)
    assert torch.equal(one.weight, other.weight)
    assert torch.equal(torch.get_rng_state(), before)


def test_the_global_state_comes_back_after_a_failure():
    before = torch.get_rng_state()
    with pytest.raises(ZeroDivisionError), seeded_globally(0):
        torch.rand(1 // 0)
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("seed", [-1, 1.5, "one", True, None])
def test_a_seed_that_is_no_whole_number_is_refused_in_a_sentence(seed):
    with pytest.raises(InputError, match=r"`seed` must be a whole number from 0 up, but got"):
        numpy_generator_for(seed)


def test_gradients_add_up_the_same_on_several_threads():
    threads = torch.get_num_threads()
    values = torch.randn(50, 8, requires_grad=True)
    place = torch.randint(50, (20_000,), generator=generator_for(0))
    weight = torch.randn(20_000, 8, generator=generator_for(1))
    torch.set_num_threads(2)
    try:
        with repeatable_sums(torch.device("cpu")):
            found = [
                torch.autograd.grad((values[place] * weight).sum(), values)[0] for _ in range(9)
            ]
            assert torch.are_deterministic_algorithms_enabled()
    finally:
        torch.set_num_threads(threads)
    assert all(torch.equal(one, found[0]) for one in found)
    assert not torch.are_deterministic_algorithms_enabled()
