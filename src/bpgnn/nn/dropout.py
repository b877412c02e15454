"""Dropout whose noise comes from a generator."""

import torch
from torch import Tensor

from bpgnn.nn.sparse import Features, SparseMatrix


def dropout(
    features: Features, rate: float, *, training: bool, generator: torch.Generator
) -> Features:
    """Zero entries with probability `rate` and scale up the rest; of sparse ones, the stored.

    Example:
        >>> dropout(torch.ones(2), 0.5, training=False, generator=torch.Generator())
        tensor([1., 1.])
    """
    if not training or rate == 0.0:
        return features
    if isinstance(features, SparseMatrix):
        return features.with_value(_dropped(features.value, rate, generator))
    return _dropped(features, rate, generator)


def _dropped(values: Tensor, rate: float, generator: torch.Generator) -> Tensor:
    draws = torch.rand(values.shape, generator=generator, device=generator.device)
    return values * (draws >= rate).to(values) / (1 - rate)
