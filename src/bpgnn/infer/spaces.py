"""Curved spaces, products of spaces, and their names."""

from collections.abc import Callable, Sequence
from functools import reduce
from typing import cast, final

import torch
from torch import Tensor, nn
from typing_extensions import override

from bpgnn.errors import InputError, nearest
from bpgnn.infer.chords import hyperbolic_square, spherical_square
from bpgnn.infer.geometry import HYPERBOLIC, SPHERICAL, Cloud, Euclidean, Metric, unstretched


@final
class Hyperbolic(Metric):
    r"""Measure in the Poincaré ball of curvature -1, where trees fit.

    .. math::
        \gamma(x, y) = \operatorname{arccosh}\left(
            1 + \frac{2 |x - y|^2}{(1 - |x|^2)(1 - |y|^2)}\right)

    As in the code of "Differentiable Graph Module (DGM) for Graph Convolutional Networks",
    Kazi et al., 2022 (https://arxiv.org/abs/2002.04999), points are embedded as
    :math:`z / (1.01 \max(1, |z|))`, so that no point comes within 0.0099 of the rim.

    Departures:
        That code adds 1e-6 inside the arccosh to keep its gradient finite, so that a point is
        0.0014 away from itself. Here the distance is exact and its gradient is too.

    Example:
        >>> points = Hyperbolic().embed(torch.tensor([[0.0, 0.0], [0.5, 0.0], [9.0, 0.0]]))
        >>> Hyperbolic().squared_pairwise(points, points).sqrt()
        tensor([[0.0000, 1.0855, 5.3033],
                [1.0855, 0.0000, 4.2179],
                [5.3033, 4.2179, 0.0000]])
    """

    name = "hyperbolic"

    @override
    def embed(self, raw: Tensor) -> Tensor:
        return raw / (1.01 * raw.norm(dim=-1, keepdim=True).clamp(min=1))

    @override
    def squared_between(self, first: Tensor, second: Tensor) -> Tensor:
        chord = (first - second).square().sum(-1)
        return hyperbolic_square(chord * _stretch(first) * _stretch(second))

    @override
    def squared_pairwise(self, first: Tensor, second: Tensor) -> Tensor:
        chord = _chords(first, second) * _stretch(first.double()).unsqueeze(1)
        squares = hyperbolic_square(chord * _stretch(second.double()))
        return squares.to(torch.promote_types(first.dtype, second.dtype))

    @override
    def cloud(self, points: Tensor) -> Cloud:
        return unstretched(points, HYPERBOLIC)._replace(factors=_stretch(points).unsqueeze(-1))


@final
class Spherical(Metric):
    """Measure along the unit sphere, where what is far one way is near the other way round.

    Points are embedded by their direction alone; the origin, which has none, becomes the pole
    (1, 0, ..., 0). D dimensions are coordinates, so the sphere is of dimension D - 1.

    Example:
        >>> points = Spherical().embed(torch.tensor([[2.0, 0.0], [0.0, 5.0], [-3.0, 0.0]]))
        >>> Spherical().squared_pairwise(points, points).sqrt()
        tensor([[0.0000, 1.5708, 3.1416],
                [1.5708, 0.0000, 1.5708],
                [3.1416, 1.5708, 0.0000]])
    """

    name = "spherical"

    @override
    def embed(self, raw: Tensor) -> Tensor:
        norm = raw.norm(dim=-1, keepdim=True)
        pole = torch.eye(1, raw.size(-1), dtype=raw.dtype, device=raw.device)
        # The gradient of a direction is 1/|z|: a point this close to the origin has none.
        return torch.where(norm > _NOWHERE, raw / norm.clamp(min=_NOWHERE), pole)

    @override
    def squared_between(self, first: Tensor, second: Tensor) -> Tensor:
        return spherical_square((first - second).square().sum(-1))

    @override
    def squared_pairwise(self, first: Tensor, second: Tensor) -> Tensor:
        squares = spherical_square(_chords(first, second))
        return squares.to(torch.promote_types(first.dtype, second.dtype))

    @override
    def cloud(self, points: Tensor) -> Cloud:
        return unstretched(points, SPHERICAL)


@final
class Product(Metric):
    r"""Measure in several spaces at once, each with a scale that is learned.

    "Latent Graph Inference using Product Manifolds", Sáez de Ocáriz Borde et al., 2023
    (https://arxiv.org/abs/2211.16199):

    .. math:: \gamma(x, y)^2 = \sum_m \alpha_m \, \gamma_m(x_m, y_m)^2

    A space of curvature K has the distances of one of curvature ±1 over √|K|, so that to
    learn α is to learn the curvature ±1/α.

    Args:
        parts: The spaces, each with the number of dimensions it takes, in order.

    Departures:
        The paper embeds by the exponential map at the origin, and its hyperbolic part is the
        hyperboloid; here each part embeds as it does alone. Flat parts have a scale as well.

    Example:
        >>> product = Product([(Euclidean(), 1), (Hyperbolic(), 2)])
        >>> product.name
        'euclidean+hyperbolic'
        >>> points = product.embed(torch.tensor([[0.0, 0.0, 0.0], [3.0, 0.5, 0.0]]))
        >>> product.squared_between(points[0], points[1])
        tensor(10.1782, grad_fn=<AddBackward0>)
    """

    def __init__(self, parts: Sequence[tuple[Metric, int]]) -> None:
        """Keep the spaces; every scale starts at one."""
        super().__init__()
        if not parts or min(width for _, width in parts) < 1:
            widths = [width for _, width in parts]
            raise InputError(
                f"`parts` must be one space or more, of 1 dimension or more each, but got {widths}."
            )
        self.name = "+".join(part.name for part, _ in parts)
        self.parts = nn.ModuleList(part for part, _ in parts)
        self.widths = tuple(width for _, width in parts)
        # One scalar each and not a vector, because weight decay spares scalars.
        self.log_scales = nn.ParameterList(nn.Parameter(torch.zeros(())) for _ in parts)

    @override
    def embed(self, raw: Tensor) -> Tensor:
        return torch.cat([part.embed(own) for part, own in self._shares(raw)], dim=-1)

    @override
    def standardized(self, raw: Tensor, num_known: int | None = None) -> Tensor:
        shares = [part.standardized(own, num_known) for part, own in self._shares(raw)]
        return torch.cat(shares, dim=-1)

    @override
    def squared_between(self, first: Tensor, second: Tensor) -> Tensor:
        own = zip(self._shares(first), self._shares(second), strict=True)
        return self._weighed([part.squared_between(a, b) for (part, a), (_, b) in own])

    @override
    def squared_pairwise(self, first: Tensor, second: Tensor) -> Tensor:
        own = zip(self._shares(first), self._shares(second), strict=True)
        return self._weighed([part.squared_pairwise(a, b) for (part, a), (_, b) in own])

    @override
    def cloud(self, points: Tensor) -> Cloud:
        clouds = [part.cloud(own) for part, own in self._shares(points)]
        scales = zip(clouds, self.log_scales, strict=True)
        return Cloud(
            points,
            torch.cat([cloud.factors for cloud in clouds], dim=1),
            torch.cat([cloud.scales * log.exp() for cloud, log in scales]),
            tuple(kind for cloud in clouds for kind in cloud.kinds),
            tuple(width for cloud in clouds for width in cloud.widths),
        )

    def _shares(self, points: Tensor) -> list[tuple[Metric, Tensor]]:
        """Deal the coordinates out among the parts."""
        own = points.split(self.widths, dim=-1)
        return [(cast(Metric, part), share) for part, share in zip(self.parts, own, strict=True)]

    def _weighed(self, squares: list[Tensor]) -> Tensor:
        scaled = [log.exp() * own for log, own in zip(self.log_scales, squares, strict=True)]
        return reduce(torch.add, scaled)


def _sphere(dim: int) -> Metric:
    if dim < 2:
        raise InputError(
            f"A sphere needs 2 latent dimensions or more, but gets {dim}. Raise `latent_dim`."
        )
    return Spherical()


METRICS: dict[str, Callable[[int], Metric]] = {
    "euclidean": lambda _: Euclidean(),
    "hyperbolic": lambda _: Hyperbolic(),
    "spherical": _sphere,
}


def make_metric(name: str, dim: int) -> Metric:
    """Make the metric of that name.

    Args:
        name: A name in `METRICS`, or several joined by `+` for a product of spaces.
        dim: Latent dimensions D, dealt out evenly, what is left over to the first spaces.

    Returns:
        The metric, with its own parameters if it is a product.

    Example:
        >>> make_metric("euclidean+hyperbolic+hyperbolic", 8).widths
        (3, 3, 2)
    """
    names = name.split("+")
    for part in names:
        if part not in METRICS:
            raise InputError(
                f"`metric` cannot be {name!r}: there is no {part!r}.{nearest(part, METRICS)} "
                "Join several with `+`."
            )
    if len(names) == 1:
        return METRICS[name](dim)
    if dim < len(names):
        raise InputError(
            f"`metric` {name!r} has {len(names)} parts, but there are {dim} latent dimensions. "
            "Raise `latent_dim`."
        )
    widths = [len(range(position, dim, len(names))) for position in range(len(names))]
    return Product([(METRICS[part](w), w) for part, w in zip(names, widths, strict=True)])


def _stretch(points: Tensor) -> Tensor:  # (N, D) -> (N,)
    """Compute 1 / (1 - |x|²), the factor by which the ball stretches chords at x."""
    return (1 - points.square().sum(-1)).clamp(min=_RIM).reciprocal()


def _chords(first: Tensor, second: Tensor) -> Tensor:  # (B, D), (N, D) -> (B, N)
    """Compute squared chords from differences, which keep the digits of close points."""
    mode = "donot_use_mm_for_euclid_dist"
    return torch.cdist(first.double(), second.double(), compute_mode=mode).square()


# Embedded points keep 1 - |x|² above 0.019; others count as no closer to the rim than this.
_RIM = 1e-6

_NOWHERE = 1e-6
