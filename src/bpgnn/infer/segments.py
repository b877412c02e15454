"""Sums and soft maxima over runs of a vector."""

import torch
from torch import Tensor


def log_sum_exp_by(values: Tensor, segment: Tensor, num_segments: int) -> Tensor:  # (M,) -> (S,)
    r"""Compute :math:`\log \sum \exp` over the values of each segment, -inf for an empty one.

    Args:
        values: Logarithms, shape (M,).
        segment: The segment of each value, shape (M,).
        num_segments: Number of segments S.

    Returns:
        One logarithm a segment, shape (S,).

    Example:
        >>> log_sum_exp_by(torch.zeros(3), torch.tensor([0, 0, 1]), 2)
        tensor([0.6931, 0.0000])
    """
    floor = torch.full((num_segments,), -torch.inf, dtype=values.dtype, device=values.device)
    largest = floor.scatter_reduce(0, segment, values.detach(), "amax")
    # An empty segment, or one of impossible entries only, must give -inf and not NaN.
    shift = largest.masked_fill(largest == -torch.inf, 0.0)
    total = torch.zeros_like(floor).index_add(0, segment, (values - shift[segment]).exp())
    return total.log() + shift


def expand_runs(start: Tensor, length: Tensor) -> tuple[Tensor, Tensor]:  # (R,) -> (M,), (M,)
    """List the positions start, start + 1, … of every run, and the run each belongs to.

    Example:
        >>> expand_runs(torch.tensor([5, 9]), torch.tensor([2, 1]))
        (tensor([5, 6, 9]), tensor([0, 0, 1]))
    """
    run = torch.repeat_interleave(torch.arange(len(length), device=length.device), length)
    before = length.cumsum(0) - length
    within = torch.arange(run.numel(), device=length.device) - before[run]
    return start[run] + within, run
