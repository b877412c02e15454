import numpy as np
import pytest
import torch

from bpgnn.infer.sample.arcs import halvings_of, measure_curved
from bpgnn.infer.space import space_of, squared
from bpgnn.infer.spaces import make_metric

METRICS = ["hyperbolic", "spherical", "euclidean+hyperbolic+spherical"]


def measured(metric, points, rows):
    """Measure by the approximation and by the definition."""
    cloud = metric.cloud(points)
    scales = cloud.scales.double() * 3.0
    space = space_of(cloud.places, cloud.factors, scales, cloud.kinds, cloud.widths)
    found = np.empty((len(rows), len(points)), np.float32)
    lines, stretches = (np.ascontiguousarray(part.T) for part in (space.places, space.factors))
    measure_curved(space, lines, stretches, halvings_of(space), np.array(rows), found)
    return found, np.array([[squared(space, i, j) for j in range(len(points))] for i in rows])


@pytest.mark.parametrize("spread", [1e-4, 0.1, 1.0, 30.0])
@pytest.mark.parametrize("name", METRICS)
def test_distances_are_those_of_the_definition_to_six_digits(name, spread):
    metric = make_metric(name, 6)
    raw = spread * torch.randn(700, 6, generator=torch.Generator().manual_seed(0)).double()
    found, wanted = measured(metric, metric.embed(raw), [0, 3, 699])
    np.testing.assert_allclose(found, wanted, rtol=3e-6, atol=1e-30)


def test_opposite_points_of_a_sphere_are_as_far_as_can_be():
    metric = make_metric("spherical", 2)
    points = torch.tensor([[1.0, 0.0], [-1.0, 1e-7], [-1.0, 0.0], [0.0, 1.0]]).double()
    found, wanted = measured(metric, points, [0])
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_points_at_the_rim_of_the_ball_are_far_but_finite():
    metric = make_metric("hyperbolic", 2)
    points = torch.tensor([[0.0, 0.0], [0.9999999, 0.0], [-0.9999999, 0.0]]).double()
    found, wanted = measured(metric, points, [0, 1])
    np.testing.assert_allclose(found, wanted, rtol=3e-6)
