"""Products with a normalised adjacency matrix, which need not be written down."""

from collections.abc import Callable

from torch import Tensor

Propagation = Callable[[Tensor], Tensor]
"""A linear map of the states of all nodes, (N, D) -> (N, D)."""


def normalized(neighbours: Propagation, ones: Tensor) -> Propagation:  # (N, 1)
    r"""Normalise a sum over neighbours, with every node among its own.

    .. math:: x \mapsto \tilde D^{-1/2} (S + I) \tilde D^{-1/2} x, \qquad \tilde D = D + I

    Args:
        neighbours: The product with the adjacency matrix S.
        ones: A one for every node, shape (N, 1).

    Returns:
        The product with the normalised matrix, differentiable in what S is made of.

    Example:
        >>> import torch
        >>> normalized(lambda states: states.flip(0), torch.ones(2, 1))(torch.eye(2))
        tensor([[0.5000, 0.5000],
                [0.5000, 0.5000]])
    """
    scale = (neighbours(ones) + 1).rsqrt()

    def propagate(states: Tensor) -> Tensor:
        scaled = scale * states
        return scale * (neighbours(scaled) + scaled)

    return propagate
