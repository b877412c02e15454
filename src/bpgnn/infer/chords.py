"""The way along a curved space, from the straight chord between its two ends."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from typing_extensions import override

_Elementwise = Callable[[Tensor], Tensor]


def hyperbolic_square(chord: Tensor) -> Tensor:
    r"""Turn stretched squared chords of the Poincaré ball into squared distances.

    .. math::
        f(z) = 4 \operatorname{asinh}(\sqrt z)^2 = \operatorname{arccosh}(1 + 2 z)^2, \quad
        z = \frac{|x - y|^2}{(1 - |x|^2)(1 - |y|^2)}

    The second form loses all digits of close points; the first loses none, and its gradient
    is 4 where the points are the same.

    Args:
        chord: The values z, 0 or more, of any shape.

    Returns:
        Squared distances, of the same shape; differentiable once.

    Example:
        >>> hyperbolic_square(torch.tensor([0.0, 1e-12, 1.0]))
        tensor([0.0000e+00, 4.0000e-12, 3.1073e+00])
    """
    return _Square.apply(chord, _hyperbolic_value, _hyperbolic_slope)


def spherical_square(chord: Tensor) -> Tensor:
    r"""Turn squared chords of the unit sphere into squared distances along it.

    .. math:: f(z) = 4 \arcsin(\min(1, \sqrt z / 2))^2, \quad z = |x - y|^2

    The gradient is unbounded at the antipode; closer to it than 0.002 it is cut off.

    Args:
        chord: The values z, from 0 to 4, of any shape; above 4, by rounding, counts as 4.

    Returns:
        Squared distances, of the same shape; differentiable once.

    Example:
        >>> spherical_square(torch.tensor([0.0, 2.0, 4.0])).sqrt()
        tensor([0.0000, 1.5708, 3.1416])
    """
    return _Square.apply(chord, _spherical_value, _spherical_slope)


class _Square(torch.autograd.Function):
    """Apply a function whose slope is written out, because that of its parts is infinite at 0."""

    @override
    @staticmethod
    def forward(ctx: Any, chord: Tensor, value: _Elementwise, slope: _Elementwise) -> Tensor:
        ctx.save_for_backward(chord)
        ctx.slope = slope
        return value(chord)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:  # pyright: ignore[reportIncompatibleMethodOverride]
        (chord,) = ctx.saved_tensors
        return grad * ctx.slope(chord), None, None


def _hyperbolic_value(z: Tensor) -> Tensor:
    return z.sqrt().asinh_().square_().mul_(4)


def _hyperbolic_slope(z: Tensor) -> Tensor:
    s = z.sqrt()
    return 4 * _ratio(s.asinh(), s) / (1 + z).sqrt()


def _spherical_value(z: Tensor) -> Tensor:
    return _half_root(z).asin_().square_().mul_(4)


def _spherical_slope(z: Tensor) -> Tensor:
    s = _half_root(z)
    return _ratio(s.asin(), s) / (1 - z / 4).clamp(min=_ANTIPODE).sqrt()


def _half_root(z: Tensor) -> Tensor:
    return z.sqrt().div_(2).clamp_(max=1)


def _ratio(angle: Tensor, s: Tensor) -> Tensor:
    """Divide arcsine or area hyperbolic sine of s by s; both are s itself near zero."""
    return torch.where(s > 0, angle / s, 1.0)


# What is left of 1 - s² where the slope is cut off: at the antipode its share along the sphere
# then still has three digits in float32.
_ANTIPODE = 1e-6
