"""Labels kept aside to say when to stop."""

from typing import Literal

import numpy as np
import torch
from torch import Tensor

from bpgnn.data.dataset import Split
from bpgnn.errors import InputError
from bpgnn.randomness import numpy_generator_for

_STREAM = 0xA51DE
# With fewer labels, what a fifth of them says about when to stop is worth less than they are.
_ENOUGH, _SHARE = 500, 0.2


def hold_out(labels: Tensor, share: float | Literal["auto"], seed: int) -> Split:  # (N,)
    """Choose the labelled nodes to train with and those to stop by; there is no test.

    Args:
        labels: Class numbers, -1 where missing.
        share: Share of the labels to keep aside; `auto` for a fifth of 500 or more.
        seed: Which of them; every class keeps at least one to train with.

    Returns:
        The split.

    Example:
        >>> parts = hold_out(torch.arange(10) % 2, 0.2, seed=0)
        >>> int(parts.train.sum()), int(parts.validation.sum())
        (8, 2)
    """
    known = np.flatnonzero(labels.numpy() >= 0)
    if share == "auto":
        share = _SHARE if len(known) >= _ENOUGH else 0.0
    if not isinstance(share, int | float) or not 0 <= share < 1:
        raise InputError(
            f"`validation_share` must be 'auto' or a share from 0 up to 1, but got {share!r}."
        )
    order = numpy_generator_for(seed, _STREAM).permutation(known)
    _, first = np.unique(labels.numpy()[order], return_index=True)
    free = np.delete(order, first)
    aside = np.zeros(len(labels), bool)
    aside[free[: round(share * len(known))]] = True
    train = np.zeros(len(labels), bool)
    train[known] = True
    nothing = torch.zeros(len(labels), dtype=torch.bool)
    return Split("own", torch.from_numpy(train & ~aside), torch.from_numpy(aside), nothing)
