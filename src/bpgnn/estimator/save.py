"""A fitted classifier as one file, which runs no code when it is read."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bpgnn.data.files.columns import Columns
from bpgnn.data.files.own import OwnData
from bpgnn.data.files.save import load_own, save_own
from bpgnn.data.files.write import write_whole
from bpgnn.errors import BPGNNError, InputError
from bpgnn.packed import pack, unpack
from bpgnn.training.fit import Fit
from bpgnn.training.open import restored
from bpgnn.training.record import RunRecord

_FORMAT = 1


def write_model(
    path: str | os.PathLike[str], fitted: Fit, columns: Columns | None, values: dict[str, Any]
) -> None:
    """Write a trained method with its data, whole or not at all.

    Args:
        path: The file.
        fitted: What the training gave.
        columns: What the columns of features were, or None.
        values: What else is to be kept, as far as JSON can hold it.
    """
    data = torch.frombuffer(
        bytearray(save_own(OwnData(fitted.dataset, columns))), dtype=torch.uint8
    )
    weights = {f"weights/{name}": value for name, value in fitted.method.state_dict().items()}
    kept = {**values, "format": _FORMAT, "record": fitted.record.to_json()}
    content = pack({"data": data, **weights}, kept)
    write_whole(Path(path), content)


def read_model(path: str | os.PathLike[str]) -> tuple[Fit, Columns | None, dict[str, Any]]:
    """Read what was written; predictions are those of the training's end."""
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"Cannot read {path}: {error.strerror}. Check the path.") from None
    try:
        tensors, values = unpack(content)
        if values["format"] != _FORMAT:
            raise ValueError("it was written by a newer version of bpgnn")
        own = load_own(tensors.pop("data").numpy().tobytes())
        weights: dict[str, Tensor] = {
            name.removeprefix("weights/"): value for name, value in tensors.items()
        }
        fitted = restored(own.dataset, weights, RunRecord.from_json(values["record"]))
    except (
        AttributeError,
        BPGNNError,
        LookupError,
        RuntimeError,
        TypeError,
        ValueError,
    ) as error:
        first = (str(error).splitlines() or [""])[0]
        raise InputError(
            f"{path} is damaged or not a model of bpgnn's ({first}). Save the model again."
        ) from None
    return fitted, own.columns, values


def classes_to_json(classes: np.ndarray) -> dict[str, Any]:  # (C,)
    """Write labels with their type."""
    return {"type": classes.dtype.str, "values": classes.tolist()}


def classes_from_json(stored: dict[str, Any], count: int) -> np.ndarray:  # (C,)
    """Read labels back; others than `count` of them are a ValueError."""
    kind = np.dtype(stored["type"])
    if kind.kind not in "biufU":
        raise InputError(f"Labels of type {stored['type']!r} are not read from a file.")
    classes = np.array(stored["values"], dtype=kind)
    if classes.shape != (count,):
        raise ValueError(f"it names {classes.size} classes, but there are {count}")
    return classes


def plain(parameters: dict[str, Any]) -> dict[str, Any]:
    """Leave out what JSON cannot hold, such as callbacks."""
    kept = {}
    for name, value in parameters.items():
        try:
            if isinstance(value, Mapping):
                # JSON would write the key True as "true", and has no words for numpy's keys.
                value = {str(key): one for key, one in value.items()}
            kept[name] = json.loads(json.dumps(value, default=_number))
        except (TypeError, ValueError):
            continue
    return {name: value for name, value in kept.items() if name != "callbacks"}


def _number(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} is not plain")
