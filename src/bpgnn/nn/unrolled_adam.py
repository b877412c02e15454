"""A step of Adam that can be differentiated through."""

from dataclasses import dataclass
from typing import final

import torch
from torch import Tensor

_MEAN_DECAY, _SQUARE_DECAY, _FLOOR = 0.9, 0.999, 1e-8


@final
@dataclass(frozen=True, eq=False)
class AdamState:
    """Hold what Adam knows between two steps, for some weights.

    Args:
        weights: The weights.
        means: The running mean of each weight's gradient.
        squares: The running mean of its square.
        count: Steps done.
    """

    weights: tuple[Tensor, ...]
    means: tuple[Tensor, ...]
    squares: tuple[Tensor, ...]
    count: int

    @classmethod
    def fresh(cls, weights: tuple[Tensor, ...]) -> "AdamState":
        """Begin at some weights."""
        zeros = tuple(torch.zeros_like(weight) for weight in weights)
        return cls(weights, zeros, zeros, 0)

    def detached(self) -> "AdamState":
        """Cut all off from what it came from."""
        return AdamState(
            tuple(one.detach() for one in self.weights),
            tuple(one.detach() for one in self.means),
            tuple(one.detach() for one in self.squares),
            self.count,
        )


def adam_step(state: AdamState, gradients: tuple[Tensor, ...], rate: Tensor | float) -> AdamState:
    r"""Move weights against their gradients, as a differentiable function of all that comes in.

    .. math::
        m &\gets \beta_1 m + (1 - \beta_1) g, \qquad v \gets \beta_2 v + (1 - \beta_2) g^2 \\
        w &\gets w - \eta \, \frac{m / (1 - \beta_1^t)}{\sqrt{v / (1 - \beta_2^t)} + \epsilon}

    "Adam: a method for stochastic optimization", Kingma and Ba, 2015, with its constants
    0.9, 0.999 and 1e-8.

    Args:
        state: Weights, moments and count before the step.
        gradients: A gradient for each weight.
        rate: The step size, a number or a tensor that has a gradient.

    Returns:
        The same after the step.

    Example:
        >>> start = AdamState.fresh((torch.zeros(1),))
        >>> adam_step(start, (torch.tensor([3.0]),), 0.1).weights[0]
        tensor([-0.1000])
    """
    count = state.count + 1
    moved = [
        _moved(*one, rate, count)
        for one in zip(state.weights, gradients, state.means, state.squares, strict=True)
    ]
    weights, means, squares = zip(*moved, strict=True)
    return AdamState(weights, means, squares, count)


def _moved(
    weight: Tensor,
    gradient: Tensor,
    mean: Tensor,
    square: Tensor,
    rate: Tensor | float,
    count: int,
) -> tuple[Tensor, Tensor, Tensor]:
    mean = _MEAN_DECAY * mean + (1 - _MEAN_DECAY) * gradient
    square = _SQUARE_DECAY * square + (1 - _SQUARE_DECAY) * gradient * gradient
    unbiased = square / (1 - _SQUARE_DECAY**count)
    # The root of zero has no finite slope, and a weight that never had a gradient needs none.
    moving = unbiased > 0
    root = torch.where(moving, torch.where(moving, unbiased, 1.0).sqrt(), 0.0)
    step = mean / (1 - _MEAN_DECAY**count) / (root + _FLOOR)
    return weight - rate * step, mean, square
