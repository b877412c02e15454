"""Distances between latent points."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from bpgnn.infer.geometry import METRICS


@pytest.fixture(params=METRICS)
def metric(request):
    return METRICS[request.param]()


def points(seed, count=7, dim=3, dtype=torch.double):
    return torch.randn(count, dim, generator=torch.Generator().manual_seed(seed), dtype=dtype)


@given(seed=st.integers(0, 1000))
def test_pairwise_and_point_by_point_agree(seed):
    for kind in METRICS.values():
        metric, first, second = kind(), points(seed), points(seed + 1, count=5)
        pairwise = metric.squared_pairwise(first, second)
        for i in range(len(first)):
            one = metric.squared_between(first[i].expand(5, -1), second)
            torch.testing.assert_close(pairwise[i], one, rtol=1e-9, atol=1e-9)


def test_equal_points_are_at_distance_zero_even_far_from_the_origin(metric):
    cloud = points(0, dtype=torch.float) * 1e-3 + 0.5
    assert torch.all(metric.squared_between(cloud, cloud) == 0)
    assert metric.squared_pairwise(cloud, cloud).diagonal().max() < 1e-12


def test_distances_are_symmetric_and_obey_the_triangle_inequality(metric):
    cloud = points(3, count=12)
    distance = metric.squared_pairwise(cloud, cloud).sqrt()
    torch.testing.assert_close(distance, distance.t())
    detour = distance.unsqueeze(2) + distance.unsqueeze(0)
    assert torch.all(distance.unsqueeze(1) <= detour + 1e-7)


def test_gradients_are_right(metric):
    first, second = points(1).requires_grad_(), points(2).requires_grad_()
    assert torch.autograd.gradcheck(metric.squared_between, (first, second))
