"""Distances between latent points."""

from abc import ABC, abstractmethod
from typing import final

import torch
from torch import Tensor
from typing_extensions import override


class Metric(ABC):
    """Measure how far apart latent points are, as the squared distance that P needs."""

    name: str

    @abstractmethod
    def squared_between(self, first: Tensor, second: Tensor) -> Tensor:  # (M, D) -> (M,)
        """Measure point by point; differentiable, and exactly zero for equal points."""

    @abstractmethod
    def squared_pairwise(self, first: Tensor, second: Tensor) -> Tensor:  # (B, D) -> (B, N)
        """Measure every point of `first` against every point of `second`."""


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


METRICS: dict[str, type[Metric]] = {"euclidean": Euclidean}
