"""Curved spaces, products of spaces, and their names."""

import math

import geoopt
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from bpgnn.errors import InputError
from bpgnn.infer.geometry import FLAT, HYPERBOLIC, SPHERICAL, Euclidean
from bpgnn.infer.probabilities import KernelProbabilities
from bpgnn.infer.spaces import METRICS, Hyperbolic, Product, Spherical, make_metric

DIM = 6
NAMES = [*METRICS, "euclidean+hyperbolic+hyperbolic", "spherical+spherical", "spherical+euclidean"]
REFERENCE = {
    "euclidean": geoopt.Euclidean(1),
    "hyperbolic": geoopt.PoincareBall(),
    "spherical": geoopt.Sphere(),
}
CURVED = ["hyperbolic", "spherical"]


def make(name, dtype=torch.double):
    """Make a metric whose scales, if it has any, are not one."""
    metric = make_metric(name, DIM).to(dtype)
    with torch.no_grad():
        for position, scale in enumerate(metric.parameters()):
            scale.fill_(0.3 - 0.7 * position)
    return metric


@pytest.fixture(params=NAMES)
def metric(request):
    return make(request.param)


def raw_points(seed, count=7, spread=1.0, dtype=torch.double):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(count, DIM, generator=generator, dtype=dtype) * spread


def components(metric):
    """Name each component, its columns and its scale."""
    names = metric.name.split("+")
    if len(names) == 1:
        return [(metric.name, slice(0, DIM), 1.0)]
    ends = torch.tensor(metric.widths).cumsum(0).tolist()
    scales = [log.exp().item() for log in metric.log_scales]
    columns = [slice(end - width, end) for end, width in zip(ends, metric.widths, strict=True)]
    return list(zip(names, columns, scales, strict=True))


@pytest.mark.parametrize("name", NAMES)
@given(seed=st.integers(0, 1000), spread=st.sampled_from([0.01, 0.5, 5.0]))
def test_distances_are_those_of_geoopt(name, seed, spread):
    metric = make(name)
    first, second = (metric.embed(raw_points(seed + i, spread=spread)) for i in (0, 1))
    expected = sum(
        scale * REFERENCE[space].dist(first[:, own], second[:, own]).double().square()
        for space, own, scale in components(metric)
    )
    torch.testing.assert_close(
        metric.squared_between(first, second), expected, rtol=1e-6, atol=1e-9
    )


def test_a_product_is_geoopts_product_of_scaled_spaces():
    metric = make("euclidean+hyperbolic+hyperbolic")
    spaces = [
        (geoopt.Scaled(REFERENCE[space], scale=math.sqrt(scale)), own.stop - own.start)
        for space, own, scale in components(metric)
    ]
    first, second = (metric.embed(raw_points(seed)) for seed in (0, 1))
    expected = geoopt.ProductManifold(*spaces).dist(first, second).square()
    torch.testing.assert_close(metric.squared_between(first, second), expected, rtol=1e-6, atol=0)


@pytest.mark.parametrize("name", NAMES)
@given(seed=st.integers(0, 1000))
def test_pairwise_and_point_by_point_agree(name, seed):
    metric = make(name)
    first, second = metric.embed(raw_points(seed)), metric.embed(raw_points(seed + 1, count=5))
    wanted = metric.squared_between(first.unsqueeze(1), second.unsqueeze(0))
    found = metric.squared_pairwise(first, second)
    torch.testing.assert_close(found, wanted, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", CURVED)
@given(exponent=st.integers(-9, -3))
def test_close_points_keep_their_digits(name, exponent):
    metric = make(name)
    points = metric.embed(raw_points(0, count=1, spread=2.0)).repeat(5, 1)
    moved = points + raw_points(1, count=5) * 10.0**exponent
    between = metric.squared_between(points, moved)
    pairwise = metric.squared_pairwise(points, moved).diagonal()
    torch.testing.assert_close(pairwise, between, rtol=1e-8, atol=0)


@pytest.mark.parametrize("dtype", [torch.float, torch.double])
def test_equal_points_are_at_distance_zero_and_pull_nowhere(metric, dtype):
    metric = metric.to(dtype)
    for spread in (0.0, 1e-3, 1.0, 1e3):
        points = metric.embed(raw_points(0, spread=spread, dtype=dtype)).requires_grad_()
        squares = metric.squared_between(points, points.clone())
        assert torch.all(squares == 0)
        squares.sum().backward()
        assert torch.all(points.grad == 0)
        diagonal = metric.squared_pairwise(points, points).diagonal()
        assert diagonal.max() < 1e-12 * max(1, spread**2)


@pytest.mark.parametrize("name", NAMES)
@given(seed=st.integers(0, 1000), spread=st.sampled_from([0.1, 1.0, 10.0]))
def test_distances_are_symmetric_and_obey_the_triangle_inequality(name, seed, spread):
    metric = make(name)
    points = metric.embed(raw_points(seed, spread=spread))
    distance = metric.squared_pairwise(points, points).detach().sqrt()
    torch.testing.assert_close(distance, distance.t(), rtol=1e-7, atol=1e-6)
    detour = distance.unsqueeze(2) + distance.unsqueeze(0)
    assert torch.all(distance.unsqueeze(1) <= detour + 1e-6)


def test_a_cloud_gives_the_same_distances_by_its_formula(metric):
    points = metric.embed(raw_points(4))
    with torch.no_grad():
        cloud = metric.cloud(points)
    assert sum(cloud.widths) == cloud.places.size(1)
    expected = metric.squared_between(points[0], points[1]).item()
    total, start = 0.0, 0
    for c, (kind, width) in enumerate(zip(cloud.kinds, cloud.widths, strict=True)):
        x, y = cloud.places[:2, start : start + width].tolist()
        z = math.dist(x, y) ** 2 * float(cloud.factors[0, c] * cloud.factors[1, c])
        square = {
            FLAT: lambda z: z,
            HYPERBOLIC: lambda z: math.acosh(1 + 2 * z) ** 2,
            SPHERICAL: lambda z: 4 * math.asin(min(1, math.sqrt(z) / 2)) ** 2,
        }[kind]
        total += float(cloud.scales[c]) * square(z)
        start += width
    assert total == pytest.approx(expected, rel=1e-9)


def test_a_cloud_passes_gradients_on(metric):
    raw = raw_points(4).requires_grad_()
    cloud = metric.cloud(metric.embed(raw))
    (cloud.places.sum() + cloud.factors.square().sum() + cloud.scales.sum()).backward()
    assert raw.grad.abs().sum() > 0
    assert all(scale.grad != 0 for scale in metric.parameters())


def test_gradients_are_right(metric):
    first, second = (metric.embed(raw_points(seed)).requires_grad_() for seed in (1, 2))
    assert torch.autograd.gradcheck(metric.squared_between, (first, second))
    raw = raw_points(3).requires_grad_()
    assert torch.autograd.gradcheck(metric.embed, (raw,))
    scales = tuple(metric.parameters())
    if scales:
        pair = first.detach(), second.detach()
        assert torch.autograd.gradcheck(lambda *_: metric.squared_between(*pair), scales)


@pytest.mark.parametrize("dtype", [torch.float, torch.double])
def test_rim_antipode_and_origin_give_finite_distances_and_gradients(metric, dtype):
    metric = metric.to(dtype)
    far = torch.eye(DIM, dtype=dtype) * 1e6
    raw = torch.cat([far, -far, far, torch.zeros(2, DIM, dtype=dtype)]).requires_grad_()
    points = metric.embed(raw)
    squares = metric.squared_between(points.unsqueeze(1), points.unsqueeze(0))
    (gradient,) = torch.autograd.grad(squares.sum(), raw)
    assert torch.isfinite(squares).all()
    assert torch.isfinite(gradient).all()
    assert torch.isfinite(metric.squared_pairwise(points, points)).all()


@pytest.mark.parametrize("dtype", [torch.float, torch.double])
def test_points_on_the_rim_that_were_not_embedded_stay_finite(dtype):
    points = torch.tensor([[1.0, 0.0], [-1.0, 0.0], [1.1, 0.0]], dtype=dtype).requires_grad_()
    squares = Hyperbolic().squared_between(points.unsqueeze(1), points.unsqueeze(0))
    squares.sum().backward()
    assert torch.isfinite(squares).all()
    assert torch.isfinite(points.grad).all()


@given(spread=st.floats(1e-6, 1e6), seed=st.integers(0, 100))
def test_embedded_points_lie_on_their_space_in_single_precision(spread, seed):
    raw = raw_points(seed, spread=spread, dtype=torch.float)
    inside = Hyperbolic().embed(raw).norm(dim=1)
    expected = raw.norm(dim=1) / (1.01 * raw.norm(dim=1).clamp(min=1))
    torch.testing.assert_close(inside, expected)
    assert (1 - inside.square()).min() > 0.019
    on = Spherical().embed(raw)
    torch.testing.assert_close(on.norm(dim=1), torch.ones(len(raw)))


def test_the_origin_has_a_place_on_the_sphere():
    raw = torch.zeros(1, 3, requires_grad=True)
    points = Spherical().embed(raw)
    assert points.tolist() == [[1.0, 0.0, 0.0]]
    points.sum().backward()
    assert torch.isfinite(raw.grad).all()


@pytest.mark.parametrize("name", NAMES)
def test_points_pushed_apart_for_two_hundred_steps_stay_finite(name):
    metric = make(name, torch.float)
    raw = raw_points(0, dtype=torch.float).requires_grad_()
    optimizer = torch.optim.Adam([raw, *metric.parameters()], lr=0.05)
    for _ in range(200):
        points = metric.embed(raw)
        squares = metric.squared_between(points.unsqueeze(1), points.unsqueeze(0))
        optimizer.zero_grad()
        (-squares.mean()).backward()
        optimizer.step()
        assert all(torch.isfinite(one.grad).all() for one in [raw, *metric.parameters()])
    assert torch.isfinite(raw).all()
    assert torch.isfinite(squares).all()


def test_only_flat_dimensions_are_standardised():
    metric = make("spherical+euclidean")
    raw = raw_points(0) * 3 + 5
    found = metric.standardized(raw)
    assert torch.equal(found[:, :3], raw[:, :3])
    torch.testing.assert_close(found[:, 3:], Euclidean().standardized(raw[:, 3:]))
    for curved in (Hyperbolic(), Spherical()):
        assert curved.standardized(raw) is raw


def test_scales_of_a_product_start_at_one_and_weight_decay_spares_them():
    metric = make_metric("euclidean+hyperbolic+hyperbolic", 8)
    assert metric.cloud(torch.zeros(2, 8)).scales.tolist() == [1.0, 1.0, 1.0]
    assert [parameter.dim() for parameter in metric.parameters()] == [0, 0, 0]
    for name in METRICS:
        assert list(make_metric(name, 4).parameters()) == []


def test_products_may_be_parts_of_products():
    inner = make("spherical+euclidean")
    outer = Product([(inner, DIM), (Hyperbolic(), 2)]).double()
    with torch.no_grad():
        outer.log_scales[0].fill_(1.0)
    points = outer.embed(torch.cat([raw_points(0), raw_points(1)[:, :2]], dim=1))
    cloud = outer.cloud(points)
    assert (cloud.kinds, cloud.widths) == ((SPHERICAL, FLAT, HYPERBOLIC), (3, 3, 2))
    inner_scales = inner.cloud(points[:, :DIM]).scales
    torch.testing.assert_close(cloud.scales[:2], math.e * inner_scales)


def test_every_way_to_ask_for_probabilities_agrees(metric):
    points = metric.embed(raw_points(0)).requires_grad_()
    kernel = KernelProbabilities(points, torch.tensor(0.4).double(), metric)
    index = torch.tensor([4, 1])
    dense = kernel.to_dense().detach()
    torch.testing.assert_close(kernel.rows(index), dense[index])
    torch.testing.assert_close(kernel.columns(index), dense[:, index])
    torch.testing.assert_close(kernel.log_rows(index), dense[index].log())
    totals = kernel.log_totals(self_pairs=True)
    torch.testing.assert_close(totals, dense.sum(1).log())
    others = dense.clone().fill_diagonal_(0).sum(1)
    torch.testing.assert_close(kernel.log_totals(self_pairs=False), others.log())
    gradients = torch.autograd.grad(totals.sum(), [points, *metric.parameters()])
    assert all(torch.isfinite(one).all() for one in gradients)


@pytest.mark.parametrize(
    ("name", "dim", "widths"),
    [
        ("euclidean+hyperbolic+hyperbolic", 12, (4, 4, 4)),
        ("euclidean+hyperbolic+hyperbolic", 11, (4, 4, 3)),
        ("euclidean+hyperbolic+hyperbolic", 3, (1, 1, 1)),
        ("spherical+spherical", 5, (3, 2)),
    ],
)
def test_dimensions_are_dealt_out_evenly_and_what_is_left_to_the_first(name, dim, widths):
    metric = make_metric(name, dim)
    assert metric.widths == widths
    assert metric.name == name


@pytest.mark.parametrize(
    ("name", "dim", "words"),
    [
        ("hyperbollic", 4, r"cannot be 'hyperbollic': there .* Did you mean hyperbolic\?"),
        ("euclidean+sperical", 4, r"there is no 'sperical'. Did you mean spherical\?"),
        ("euclidean+", 4, "there is no ''. Known: euclidean, hyperbolic, spherical"),
        ("hyperbolic+hyperbolic+euclidean", 2, "has 3 parts, but there are 2 latent dimensions"),
        ("spherical", 1, "needs 2 latent dimensions or more, but gets 1"),
        ("spherical+spherical", 3, "needs 2 latent dimensions or more, but gets 1"),
    ],
)
def test_metrics_that_cannot_be_are_refused(name, dim, words):
    with pytest.raises(InputError, match=words):
        make_metric(name, dim)


@pytest.mark.parametrize("parts", [[], [(Euclidean(), 0)]])
def test_a_product_of_nothing_is_refused(parts):
    with pytest.raises(InputError, match="one space or more, of 1 dimension or more each"):
        Product(parts)
