"""The whole state of a training, in one file that runs no code when it is read."""

from dataclasses import dataclass, field
from typing import final

import torch
from torch import Tensor

from bpgnn.errors import RunFolderError
from bpgnn.packed import pack, unpack


@final
@dataclass
class TrainingState:
    """Hold all that the next step depends on, and what was spent so far.

    Args:
        step: Steps done.
        best_loss: The lowest validation loss so far.
        best_accuracy: The highest validation accuracy so far.
        best_step: The step whose weights are kept.
        stale: Evaluations without progress.
        weights: The method's parameters and buffers.
        best_weights: The same, at the best step.
        optimizer: The optimiser's state, a dictionary of tensors a parameter.
        generator: The state of the training's generator.
        cpu_seconds: Processor time spent by earlier processes.
        wall_seconds: Clock time spent by earlier processes.
        peak_memory_mb: The most memory that earlier processes held.
    """

    step: int = 0
    best_loss: float = float("inf")
    best_accuracy: float = float("-inf")
    best_step: int = 0
    stale: int = 0
    weights: dict[str, Tensor] = field(default_factory=dict)
    best_weights: dict[str, Tensor] = field(default_factory=dict)
    optimizer: dict[int, dict[str, Tensor]] = field(default_factory=dict)
    generator: Tensor | None = None
    cpu_seconds: float = 0.0
    wall_seconds: float = 0.0
    peak_memory_mb: float = 0.0


_NUMBERS = (
    *("step", "best_loss", "best_accuracy", "best_step", "stale"),
    *("cpu_seconds", "wall_seconds", "peak_memory_mb"),
)


def to_bytes(state: TrainingState) -> bytes:
    """Write a state as safetensors."""
    tensors = {f"weights/{name}": value for name, value in state.weights.items()}
    tensors |= {f"best/{name}": value for name, value in state.best_weights.items()}
    for index, parts in state.optimizer.items():
        tensors |= {f"optimizer/{index}/{name}": value for name, value in parts.items()}
    if state.generator is not None:
        tensors["generator"] = state.generator
    return pack(tensors, {name: getattr(state, name) for name in _NUMBERS})


def from_bytes(content: bytes, where: str) -> TrainingState:
    """Read a state; `where` names it in the error for a damaged one."""
    try:
        tensors, numbers = unpack(content)
        state = TrainingState(**{name: numbers[name] for name in _NUMBERS})
        for name, value in tensors.items():
            _place(state, name, value)
    except (LookupError, TypeError, ValueError) as error:
        raise RunFolderError(
            f"The checkpoint {where} is damaged or not one of bpgnn's ({error}). "
            "Train again with another --out."
        ) from None
    return state


def optimizer_tensors(optimizer: torch.optim.Optimizer) -> dict[int, dict[str, Tensor]]:
    """Take an optimiser's state apart."""
    return {
        index: {name: torch.as_tensor(value) for name, value in parts.items()}
        for index, parts in optimizer.state_dict()["state"].items()
    }


def restore_optimizer(
    optimizer: torch.optim.Optimizer, parts: dict[int, dict[str, Tensor]]
) -> None:
    """Put a state back into an optimiser with the same parameters."""
    whole = optimizer.state_dict()
    whole["state"] = parts
    optimizer.load_state_dict(whole)


def _place(state: TrainingState, name: str, value: Tensor) -> None:
    if name == "generator":
        state.generator = value
        return
    kind, rest = name.split("/", 1)
    if kind == "optimizer":
        index, part = rest.split("/", 1)
        state.optimizer.setdefault(int(index), {})[part] = value
    else:
        {"weights": state.weights, "best": state.best_weights}[kind][rest] = value
