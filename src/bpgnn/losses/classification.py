"""The price of wrong labels."""

from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor

TaskLoss = Literal["cross_entropy", "binary"]


def classification_loss(
    logits: Tensor,  # (M, C)
    labels: Tensor,  # (M,)
    *,
    kind: TaskLoss = "cross_entropy",
    class_weight: Tensor | None = None,  # (C,)
) -> Tensor:
    """Compare scores with labels.

    Args:
        logits: Scores, shape (M, C).
        labels: Class numbers, shape (M,).
        kind: `cross_entropy`, or `binary` for one yes-or-no question a class, as dDGM's and
            BPGNN's authors have it.
        class_weight: What an error on each class costs, shape (C,), or None for one each.

    Returns:
        The mean loss.

    Example:
        >>> classification_loss(torch.zeros(1, 2), torch.tensor([1]))
        tensor(0.6931)
    """
    if kind == "cross_entropy":
        return F.cross_entropy(logits, labels, weight=class_weight)
    target = F.one_hot(labels, logits.size(1)).to(logits.dtype)
    weight = None if class_weight is None else class_weight[labels].unsqueeze(1)
    return F.binary_cross_entropy_with_logits(logits, target, weight=weight)


def balanced_weight(labels: Tensor, num_classes: int) -> Tensor:  # (M,) -> (C,)
    """Weigh classes so that each has the same say; a class without labels has weight zero.

    Example:
        >>> balanced_weight(torch.tensor([0, 0, 0, 1]), 2)
        tensor([0.6667, 2.0000])
    """
    count = torch.bincount(labels, minlength=num_classes).to(torch.get_default_dtype())
    seen = (count > 0).sum()
    return torch.where(count > 0, labels.numel() / (seen * count.clamp(min=1)), 0.0)
