"""Every sampler draws from the same distribution, that of the definition.

The family-wise chance of a false alarm is 1e-4: each test of counts compares its p-value with
1e-4 divided by the number of tests in this file. Seeds are fixed, so a pass stays a pass.
"""

from collections import Counter

import pytest
import torch

from bpgnn.errors import InputError
from bpgnn.infer.sample.blocked import BlockedSampler
from bpgnn.infer.sample.choose import SAMPLERS
from bpgnn.infer.sample.frontier import Effort
from bpgnn.infer.sample.lazy import LazySampler
from tests.infer.examples import EDGES, KINDS, SHARPNESS, latent_points, make
from tests.infer.sample.exactness import chi_square_p_value, ordered_probabilities

BUILD = {
    **SAMPLERS,
    "blocked by 4": lambda: BlockedSampler(block_size=4),
    "lazy with single points": lambda: LazySampler(1, Effort(4, 4, 64, 1.5, 30.0)),
    "lazy with loose bounds": lambda: LazySampler(2, Effort(3, 3, 64, 30.0, 100.0)),
    "lazy by scanning": lambda: LazySampler(2, Effort(3, 3, 0, 4.0, 0.0)),
}
# Each kind meets every shape and every sharpness; the order is shifted from kind to kind.
CASES = [
    (kind, shape, sharp)
    for turn, kind in enumerate(KINDS)
    for shape, sharp in zip(EDGES, (*SHARPNESS, *SHARPNESS)[turn % 3 :], strict=False)
]
ALARM = 1e-4 / (len(BUILD) * len(CASES) * 2 * 6 + 100)
DRAWS = 1000


@pytest.fixture(params=BUILD)
def sampler(request):
    return BUILD[request.param]()


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def row_weights(probabilities, i, *, self_pairs):
    row = probabilities.log_dense()[i].clone()
    if not self_pairs:
        row[i] = -torch.inf
    # Only ratios matter, and without its maximum a sharp row would be all zeros.
    return (row - row.max()).exp().tolist()


@pytest.mark.parametrize(("kind", "shape", "sharpness"), CASES)
def test_first_two_picks_have_their_exact_chances(sampler, kind, shape, sharpness):
    probabilities, _ = make(kind, shape, sharpness)
    self_pairs = sharpness == "middle"
    sample = sampler.sample(
        probabilities, 2, generator=generator(), num_samples=DRAWS, self_pairs=self_pairs
    )
    for i in range(6):
        weights = row_weights(probabilities, i, self_pairs=self_pairs)
        drawn = [tuple(pair) for pair in sample.neighbours[:, i].tolist()]
        pairs = chi_square_p_value(Counter(drawn), ordered_probabilities(weights, 2))
        firsts = Counter((pair[0],) for pair in drawn)
        first = chi_square_p_value(firsts, ordered_probabilities(weights, 1))
        assert pairs > ALARM, f"row {i}: ordered pairs"
        assert first > ALARM, f"row {i}: first picks"


def test_neighbours_are_distinct_and_never_oneself_unless_allowed(sampler):
    probabilities, _ = make("symmetric", "star")
    sample = sampler.sample(probabilities, 5, generator=generator(), num_samples=50)
    nodes = torch.arange(6)
    for graph in sample.neighbours:
        assert all(len(set(row)) == 5 for row in graph.tolist())
        assert not (graph == nodes.unsqueeze(1)).any()
    whole = sampler.sample(probabilities, 6, generator=generator(), self_pairs=True)
    assert torch.equal(whole.neighbours[0].sort(1).values, nodes.expand(6, 6))


def test_scores_fall_from_first_to_last_and_have_gumbel_noise(sampler):
    probabilities, _ = make("product", "path", "flat")
    sample = sampler.sample(
        probabilities, 6, generator=generator(), num_samples=400, self_pairs=True
    )
    assert torch.all(sample.scores.diff(dim=2) <= 0)
    log_rows = probabilities.log_rows(torch.arange(6))
    noise = sample.scores - log_rows.expand(400, 6, 6).gather(2, sample.neighbours)
    # All six were drawn, so the noise is a plain sample: mean 0.5772, variance π²/6.
    assert abs(float(noise.mean()) - 0.5772) < 0.06
    assert abs(float(noise.var()) - 1.6449) < 0.15


def test_rows_that_share_a_witness_are_drawn_independently(sampler):
    probabilities, _ = make("product", "star", "middle")
    first = sampler.sample(probabilities, 1, generator=generator(3), num_samples=6000)
    joint = Counter(map(tuple, first.neighbours[:, (1, 2), 0].tolist()))
    one = ordered_probabilities(row_weights(probabilities, 1, self_pairs=False), 1)
    two = ordered_probabilities(row_weights(probabilities, 2, self_pairs=False), 1)
    chances = {(*a, *b): p * q for a, p in one.items() for b, q in two.items()}
    assert chi_square_p_value(joint, chances) > ALARM


def test_rates_that_underflow_are_drawn_in_the_right_order(sampler):
    """So far apart that every rate is 0 in float64: the nearest must come first all the same."""
    latent = torch.tensor([[0.0], [40.0], [90.0], [150.0], [220.0], [300.0]]).double()
    probabilities, _ = make("kernel", "path", "sharp", latent=latent)
    sample = sampler.sample(probabilities, 3, generator=generator(), num_samples=5)
    wanted = [[1, 2, 3], [0, 2, 3], [1, 3, 0], [2, 4, 1], [3, 5, 2], [4, 3, 2]]
    assert all(graph == wanted for graph in sample.neighbours.tolist())


def test_duplicate_points_are_drawn_evenly(sampler):
    probabilities, _ = make("product", "path", "sharp", latent=torch.zeros(6, 2).double())
    sample = sampler.sample(probabilities, 1, generator=generator(), num_samples=3000)
    counts = Counter((j,) for j in sample.neighbours[:, 0, 0].tolist())
    assert chi_square_p_value(counts, {(j,): 0.2 for j in range(1, 6)}) > ALARM


def test_the_same_seed_gives_the_same_graph_and_another_seed_another(sampler):
    probabilities, _ = make("gated")
    draws = [
        sampler.sample(probabilities, 3, generator=generator(seed), num_samples=20).neighbours
        for seed in (1, 1, 2)
    ]
    assert torch.equal(draws[0], draws[1])
    assert not torch.equal(draws[0], draws[2])


def test_reversed_noise_fails_the_test_that_samplers_pass(sampler):
    probabilities, _ = make("product", "path", "middle")
    if isinstance(sampler, LazySampler):
        with pytest.raises(InputError, match="without reversed noise"):
            sampler.sample(probabilities, 1, generator=generator(), noise="minus")
        return
    sample = sampler.sample(
        probabilities, 1, generator=generator(), num_samples=4 * DRAWS, noise="minus"
    )
    weights = row_weights(probabilities, 0, self_pairs=False)
    counts = Counter((j,) for j in sample.neighbours[:, 0, 0].tolist())
    assert chi_square_p_value(counts, ordered_probabilities(weights, 1)) < ALARM


@pytest.mark.parametrize("k", [0, 6, 7])
def test_more_neighbours_than_nodes_is_refused_with_the_limit(sampler, k):
    with pytest.raises(InputError, match="between 1 and 5"):
        sampler.sample(make("product")[0], k, generator=generator())


def test_float32_points_are_drawn_as_well(sampler):
    probabilities, _ = make("gated", latent=latent_points(dtype=torch.float))
    sample = sampler.sample(probabilities, 2, generator=generator())
    assert sample.neighbours.shape == (1, 6, 2)
