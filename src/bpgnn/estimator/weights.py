"""What an error on each class costs, as people hand it in."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bpgnn.errors import InputError


def read_class_weight(class_weight: Any, classes: np.ndarray) -> Tensor | None:  # (C,) -> (C,)
    """Read weights by class; a class that is not named weighs one.

    Args:
        class_weight: None, `balanced`, or a weight by class. Names that are no classes are
            refused where a class has no weight, as in scikit-learn: one is meant by the other.
        classes: The labels, in order.

    Returns:
        A weight for each class, or None where the data settle it.

    Example:
        >>> read_class_weight({"tea": 2}, np.array(["milk", "tea"]))
        tensor([1., 2.])
    """
    if not isinstance(class_weight, Mapping):
        if class_weight is None or class_weight == "balanced":
            return None
        raise InputError(
            "`class_weight` must be None, 'balanced' or a weight by class, but got "
            f"{class_weight!r}."
        )
    place = {key: at for at, label in enumerate(classes.tolist()) for key in _keys(label)}
    strange = [name for name in class_weight if name not in place]
    named = {place[name] for name in class_weight if name in place}
    if strange and len(named) < len(classes):
        raise InputError(
            f"`class_weight` has a weight for {strange[0]!r}, which is no class; classes are "
            f"{', '.join(repr(label) for label in classes.tolist()[:10])}."
        )
    weights = torch.ones(len(classes))
    for name, number in place.items():
        if name in class_weight:
            weights[number] = _number(class_weight[name])
    wrong = ~(weights.isfinite() & (weights >= 0))
    if bool(wrong.any()):
        number = int(wrong.nonzero()[0])
        raise InputError(
            "`class_weight` must hold finite weights of 0 or more, but that of "
            f"{classes.tolist()[number]!r} is {float(weights[number])}."
        )
    if not bool(weights.any()):
        raise InputError("`class_weight` must not be 0 for all classes: there would be no loss.")
    return weights


def _keys(label: Any) -> set[Any]:
    """Say by what a class may be called: 1.0 also by 1 and, read from a file, by "1"."""
    whole = {str(int(label))} if isinstance(label, float) and label.is_integer() else set()
    return {label, str(label)} | whole


def _number(weight: Any) -> float:
    try:
        return float(weight)
    except (TypeError, ValueError):
        raise InputError(f"A weight of `class_weight` must be a number, not {weight!r}.") from None
