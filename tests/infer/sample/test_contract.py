"""Every sampler keeps the same promises; `test_exactness.py` holds them to one distribution."""

import pytest
import torch

from bpgnn.errors import InputError
from tests.infer.examples import latent_points, make
from tests.infer.sample.alarm import alarms
from tests.infer.sample.wrong import PLAIN


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def test_neighbours_are_distinct_and_never_oneself_unless_allowed(sampler):
    probabilities, _ = make("symmetric", "star")
    sample = sampler.sample(probabilities, 5, generator=generator(), num_samples=50)
    nodes = torch.arange(6)
    for graph in sample.neighbours:
        assert all(len(set(row)) == 5 for row in graph.tolist())
        assert not (graph == nodes.unsqueeze(1)).any()
    whole = sampler.sample(probabilities, 6, generator=generator(), self_pairs=True)
    assert torch.equal(whole.neighbours[0].sort(1).values, nodes.expand(6, 6))


def test_scores_fall_from_first_to_last(sampler):
    probabilities, _ = make("product", "path", "flat")
    sample = sampler.sample(
        probabilities, 6, generator=generator(), num_samples=50, self_pairs=True
    )
    assert torch.all(sample.scores.diff(dim=2) <= 0)


def test_rates_that_underflow_are_drawn_in_the_right_order(sampler):
    """So far apart that every rate is 0 in float64: the nearest must come first all the same."""
    latent = torch.tensor([[0.0], [40.0], [90.0], [150.0], [220.0], [300.0]]).double()
    probabilities, _ = make("kernel", "path", "sharp", latent=latent)
    sample = sampler.sample(probabilities, 3, generator=generator(), num_samples=5)
    wanted = [[1, 2, 3], [0, 2, 3], [1, 3, 0], [2, 4, 1], [3, 5, 2], [4, 3, 2]]
    assert all(graph == wanted for graph in sample.neighbours.tolist())


def test_the_same_seed_gives_the_same_graph_and_another_seed_another(sampler):
    probabilities, _ = make("gated")
    draws = [
        sampler.sample(probabilities, 3, generator=generator(seed), num_samples=20).neighbours
        for seed in (1, 1, 2)
    ]
    assert torch.equal(draws[0], draws[1])
    assert not torch.equal(draws[0], draws[2])


def test_reversed_noise_raises_the_alarms_that_samplers_do_not(sampler):
    if sampler.name == "lazy":
        pytest.skip("the lazy sampler does not take reversed noise")
    assert {"first picks", "scores"} <= alarms(sampler, PLAIN, noise="minus").keys()


@pytest.mark.parametrize("k", [0, 6, 7])
def test_more_neighbours_than_nodes_is_refused_with_the_limit(sampler, k):
    with pytest.raises(InputError, match="between 1 and 5"):
        sampler.sample(make("product")[0], k, generator=generator())


def test_float32_points_are_drawn_as_well(sampler):
    probabilities, _ = make("gated", latent=latent_points(dtype=torch.float))
    sample = sampler.sample(probabilities, 2, generator=generator())
    assert sample.neighbours.shape == (1, 6, 2)
