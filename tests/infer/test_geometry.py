"""Distances between latent points."""

import torch

from bpgnn.infer.geometry import FLAT, Euclidean
from tests.infer.examples import latent_points


def test_straight_lines_are_measured_by_their_definition_in_any_dimension():
    for dim in (1, 2, 7):
        points = latent_points(9, dim)
        expected = [[sum((a - b) ** 2) for b in points.numpy()] for a in points.numpy()]
        found = Euclidean().squared_pairwise(points, points)
        torch.testing.assert_close(found, torch.tensor(expected))


def test_close_points_far_from_the_origin_keep_their_distance():
    points = latent_points() * 1e-3 + 1e3
    expected = torch.cdist(points, points, compute_mode="donot_use_mm_for_euclid_dist").square()
    found = Euclidean().squared_pairwise(points, points)
    torch.testing.assert_close(found, expected, rtol=1e-6, atol=1e-12)


def test_flat_space_has_nothing_to_learn_and_leaves_points_where_they_are():
    points = latent_points()
    assert list(Euclidean().parameters()) == []
    assert Euclidean().embed(points) is points
    cloud = Euclidean().cloud(points)
    assert cloud.places is points
    assert (cloud.kinds, cloud.widths) == ((FLAT,), (2,))
    assert cloud.scales.tolist() == [1.0]
    assert cloud.factors.tolist() == [[1.0]] * 6


def test_standardising_gives_mean_zero_and_variance_one_and_survives_a_constant_dimension():
    points = torch.cat([latent_points() * 50 + 3, torch.ones(6, 1).double()], dim=1)
    points.requires_grad_()
    found = Euclidean().standardized(points)
    torch.testing.assert_close(found.mean(0), torch.zeros(3).double())
    torch.testing.assert_close(found.var(0, unbiased=False)[:2], torch.ones(2).double())
    found.sum().backward()
    assert torch.isfinite(points.grad).all()
