"""Arrays as people hand them in, made into tensors."""

import numpy as np
import torch
from torch import Tensor

from bpgnn.errors import InputError


def tensor_of(value: object, *, name: str) -> Tensor:
    """Return a tensor as it is and a numpy array as a tensor, and refuse all else.

    Args:
        value: The array. Whole numbers of any size become int64.
        name: What the caller's caller calls it.

    Example:
        >>> tensor_of(np.array([3, 4], dtype=np.uint16), name="labels")
        tensor([3, 4])
    """
    if isinstance(value, Tensor):
        return value
    wanted = f"`{name}` must be a tensor or a numpy array of numbers"
    if not isinstance(value, np.ndarray):
        raise InputError(
            f"{wanted}, but got {type(value).__name__}. Make one with `numpy.asarray`."
        )
    if value.dtype.kind not in "biuf":
        raise InputError(f"{wanted}, but its type is {value.dtype}. Number what is text.")
    kind = np.int64 if value.dtype.kind in "iu" else value.dtype.newbyteorder("=")
    # Through a copy: an array that may not be written to makes no tensor.
    return torch.from_numpy(np.array(value, dtype=kind, order="C"))
