"""Tensors and plain values in one file that runs no code when it is read."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

# What stands in the place of the file's SHA-256 while that is computed.
_NO_DIGEST = "0" * 64

_DAMAGE = (
    SafetensorError,
    ArithmeticError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
    AttributeError,
)


def pack(tensors: Mapping[str, Tensor], values: Mapping[str, Any]) -> bytes:
    """Write tensors by name, and values that JSON can hold, as safetensors with a checksum.

    The same content gives the same bytes.

    Example:
        >>> import torch
        >>> tensors, values = unpack(pack({"half": torch.tensor([0.5])}, {"name": "one"}))
        >>> tensors["half"].item(), values
        (0.5, {'name': 'one'})
    """
    flat = {name: value.detach().cpu().contiguous() for name, value in tensors.items()}
    # One entry only: safetensors has no fixed order for several.
    words = json.dumps({"sha256": _NO_DIGEST, **values})
    content = save(_unshared(flat), metadata={"bpgnn": words})
    return content.replace(_NO_DIGEST.encode(), _digest(content).encode(), 1)


def unpack(content: bytes) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read what was packed; whatever is damaged is a ValueError that says how."""
    try:
        length = int.from_bytes(content[:8], "little")
        values = json.loads(json.loads(content[8 : 8 + length])["__metadata__"]["bpgnn"])
        known = values.pop("sha256").encode()
        if _digest(content.replace(known, _NO_DIGEST.encode(), 1)).encode() != known:
            raise ValueError("its checksum is wrong")
        return load(content), values
    except _DAMAGE as error:
        raise ValueError(str(error) or type(error).__name__) from None


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _unshared(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """Copy tensors that share memory: safetensors stores each once only."""
    seen: set[int] = set()
    separate = {}
    for name, value in tensors.items():
        shared = value.data_ptr() in seen and value.numel() > 0
        seen.add(value.data_ptr())
        separate[name] = value.clone() if shared else value
    return separate
