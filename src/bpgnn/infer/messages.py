"""The edges that were drawn, and what a message over each counts for."""

from collections.abc import Callable
from typing import Literal

import torch
from torch import Tensor

from bpgnn.infer.probabilities import EdgeProbabilities

MessageWeight = Literal["votes", "probability", "none"]


def drawn_edges(neighbours: Tensor) -> Tensor:  # (N, K) -> (2, N·K)
    """List the edge from each drawn neighbour to its node, node by node.

    Example:
        >>> drawn_edges(torch.tensor([[2, 1], [0, 2], [1, 0]]))
        tensor([[2, 1, 0, 2, 1, 0],
                [0, 0, 1, 1, 2, 2]])
    """
    targets = torch.arange(neighbours.size(0), device=neighbours.device)
    return torch.stack([neighbours.flatten(), targets.repeat_interleave(neighbours.size(1))])


def log_message_weight(
    probabilities: EdgeProbabilities,
    edges: Tensor,  # (2, M)
    log_prob: Callable[[], Tensor],  # (M,)
    weighting: MessageWeight,
) -> Tensor | None:  # (M,)
    """Return the logarithm of what each edge's message counts for, or None for one each.

    Args:
        probabilities: The matrix P~ that was drawn from.
        edges: The drawn edges, shape (2, M).
        log_prob: Gives the logarithms of P~ at them, shape (M,); asked only if they count.
        weighting: `probability`, its P~; `votes`, P~ times what the row was divided by, so
            that the plain sum over witnesses is left; `none`, one.

    Returns:
        Logarithms, shape (M,), or None.
    """
    if weighting == "none":
        return None
    if weighting == "votes":
        return log_prob() + probabilities.log_votes(edges[1])
    return log_prob()
