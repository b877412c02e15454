"""Distances between latent points."""

from abc import ABC, abstractmethod
from typing import NamedTuple, final

import torch
from torch import Tensor, nn
from typing_extensions import override

FLAT, HYPERBOLIC, SPHERICAL = 0, 1, 2


@final
class Cloud(NamedTuple):
    r"""Hold latent points as compiled code and gradients written by hand need them.

    Every space here is a product of components c, each with a function f_c of a squared
    chord that is stretched by a factor of either end:

    .. math::
        \gamma(x, y)^2 = \sum_c \text{scale}_c \, f_c(|x_c - y_c|^2 \, a_c(x) \, a_c(y))

    with f(z) = z where flat, 4 asinh(√z)² where hyperbolic, 4 arcsin(√z / 2)² where spherical.

    Args:
        places: Coordinates, shape (N, D).
        factors: The factors a_c; ones where flat or spherical, shape (N, C).
        scales: What each component counts for, shape (C,).
        kinds: FLAT, HYPERBOLIC or SPHERICAL for each component.
        widths: How many coordinates each component has, adding up to D.
    """

    places: Tensor
    factors: Tensor
    scales: Tensor
    kinds: tuple[int, ...]
    widths: tuple[int, ...]


class Metric(nn.Module, ABC):
    """Measure how far apart latent points are, as the squared distance that P needs."""

    name: str

    @abstractmethod
    def embed(self, raw: Tensor) -> Tensor:  # (N, D) -> (N, D)
        """Put a network's output on the space."""

    def standardized(
        self,
        raw: Tensor,
        num_known: int | None = None,  # noqa: ARG002  flat spaces do
    ) -> Tensor:  # (N, D) -> (N, D)
        """Give dimensions of flat space mean zero and variance one, before they are embedded.

        A curved space has a size of its own, so its dimensions stay as they are.

        Args:
            raw: A network's output.
            num_known: Take mean and variance of so many points, the first; of all if None.
        """
        return raw

    @abstractmethod
    def squared_between(self, first: Tensor, second: Tensor) -> Tensor:  # (M, D) -> (M,)
        """Measure point by point; differentiable, and exactly zero for equal points."""

    @abstractmethod
    def squared_pairwise(self, first: Tensor, second: Tensor) -> Tensor:  # (B, D) -> (B, N)
        """Measure every point of `first` against every point of `second`; for samplers."""

    @abstractmethod
    def cloud(self, points: Tensor) -> Cloud:  # (N, D)
        """Write embedded points out with all that their distances depend on."""


@final
class Euclidean(Metric):
    """Measure straight lines.

    Example:
        >>> points = torch.tensor([[0.0, 0.0], [3.0, 4.0]])
        >>> Euclidean().squared_pairwise(points, points)
        tensor([[ 0., 25.],
                [25.,  0.]])
    """

    name = "euclidean"

    @override
    def embed(self, raw: Tensor) -> Tensor:
        return raw

    @override
    def standardized(self, raw: Tensor, num_known: int | None = None) -> Tensor:
        centred = raw - raw[:num_known].mean(0, keepdim=True)
        # Gradients of a constant dimension stay finite.
        variance = centred[:num_known].square().mean(0, keepdim=True)
        return centred * torch.rsqrt(variance + 1e-12)

    @override
    def squared_between(self, first: Tensor, second: Tensor) -> Tensor:
        return (first - second).square().sum(-1)

    @override
    def squared_pairwise(self, first: Tensor, second: Tensor) -> Tensor:
        # |a|² + |b|² - 2ab loses digits where points are close but far from the origin:
        # centring and a wide type keep the loss under 1e-13 of the cloud's size. As one
        # product of (D + 2)-vectors it writes the block once.
        centre = second.double().mean(0, keepdim=True)
        left, right = first.double() - centre, second.double() - centre
        left_square = left.square().sum(1, keepdim=True)
        right_square = right.square().sum(1, keepdim=True)
        left = torch.cat([left_square, torch.ones_like(left_square), -2 * left], dim=1)
        right = torch.cat([torch.ones_like(right_square), right_square, right], dim=1)
        squares = (left @ right.t()).clamp_(min=0.0)
        return squares.to(torch.promote_types(first.dtype, second.dtype))

    @override
    def cloud(self, points: Tensor) -> Cloud:
        return unstretched(points, FLAT)


def unstretched(points: Tensor, kind: int) -> Cloud:  # (N, D)
    """Write out points of one space whose chords are as long as they look."""
    ones = torch.ones_like(points[:, :1])
    return Cloud(points, ones, points.new_ones(1), (kind,), (points.size(1),))
