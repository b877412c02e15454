"""Exact sampling without forming a row: the parts that only it has."""

import numpy as np
import pytest
import torch

from bpgnn.graph import Graph
from bpgnn.infer.boolean import BooleanProduct
from bpgnn.infer.geometry import Euclidean
from bpgnn.infer.probabilities import KernelProbabilities
from bpgnn.infer.sample.heavy import find_heavy
from bpgnn.infer.sample.lazy import LazySampler
from bpgnn.infer.sample.race import Votes, race_rows
from bpgnn.infer.witness import equal_votes, witness_graph

NODES = 40


def product(sharpness, spread=1.0):
    generator = torch.Generator().manual_seed(0)
    latent = spread * torch.randn(NODES, 3, generator=generator, dtype=torch.double)
    edges = torch.randint(NODES, (2, 60), generator=generator)
    edges = edges[:, edges[0] != edges[1]]
    graph = Graph.from_edge_index(torch.cat([edges, edges.flip(0)], dim=1), NODES)
    witnesses = witness_graph(graph, self_loops=True)
    kernel = KernelProbabilities(latent, torch.tensor(sharpness).double(), Euclidean())
    return BooleanProduct(witnesses, equal_votes(witnesses), kernel)


@pytest.mark.parametrize("sharpness", [1e-3, 2.0, 500.0])
def test_no_acceptance_ratio_is_above_one(sharpness):
    probabilities = product(sharpness)
    points = probabilities.kernel.latent.numpy()
    heavy = find_heavy(points, sharpness, 4, 12)
    graph = probabilities.witnesses
    votes = Votes(
        graph.row_pointer.numpy(), graph.sources.numpy(), probabilities.log_weight.numpy()
    )
    worst = 0.0
    for seed in range(200):
        race = race_rows(points, sharpness, votes, heavy, k=3, seed=seed, self_pairs=False)
        worst = max(worst, race.ratios.max())
    assert worst <= 1.0


@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_heavy_points_are_the_nearest_and_no_other_is_above_the_bound(offset):
    """Far from the origin float32 loses digits: the bound must allow for that."""
    points = np.random.default_rng(0).normal(size=(300, 5))
    points[150:] += offset
    heavy = find_heavy(points, 2.0, 20, 60)
    exact = -2.0 * ((points[:, None] - points[None]) ** 2).sum(-1)
    for row in range(300):
        count = heavy.counts[row]
        assert 20 <= count <= 60
        nodes = heavy.nodes[row, :count]
        np.testing.assert_allclose(heavy.exponents[row, :count], exact[row, nodes])
        assert np.all(np.diff(heavy.exponents[row, :count]) <= 0)
        assert np.delete(exact[row], nodes).max() <= heavy.bounds[row]
        mass = np.exp(heavy.exponents[row, :count] - heavy.exponents[row, 0])
        np.testing.assert_allclose(heavy.masses[row, :count], mass[::-1].cumsum()[::-1])


def test_many_points_at_one_distance_are_cut_at_the_least_number():
    heavy = find_heavy(np.zeros((50, 2)), 1.0, 5, 10)
    assert np.all(heavy.counts == 5)
    assert np.all(heavy.bounds == 0.0)


def test_the_sample_does_not_depend_on_the_number_of_threads():
    probabilities = product(1.0)
    before = torch.get_num_threads()
    draws = []
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            generator = torch.Generator().manual_seed(0)
            draws.append(LazySampler(4).sample(probabilities, 5, generator=generator).neighbours)
    finally:
        torch.set_num_threads(before)
    assert torch.equal(draws[0], draws[1])
