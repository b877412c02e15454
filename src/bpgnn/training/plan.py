"""What to run, in values that can be written down."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import final

from bpgnn.errors import InputError
from bpgnn.method import MethodSettings
from bpgnn.methods.registry import settings_of


@final
@dataclass(frozen=True)
class Plan:
    """Say what to run, in values that can be written down.

    Args:
        method: A name among the methods.
        preset: A name among its presets.
        seed: Where all randomness comes from.
        changes: Settings that differ from the preset's.
        add_edges: Share of random edges that were added to the data.
        drop_edges: Share of edges that were dropped from the data.
        labels_per_class: Training labels of each class that were left; all if None.
        device: Where to compute.
    """

    method: str = "bpgnn"
    preset: str = "tuned"
    seed: int = 0
    changes: Mapping[str, object] | None = None
    add_edges: float = 0.0
    drop_edges: float = 0.0
    device: str = "cpu"
    labels_per_class: int | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be run under any method."""
        for name in ("method", "preset", "device"):
            if not isinstance(getattr(self, name), str):
                raise InputError(f"`{name}` must be text, but got {getattr(self, name)!r}.")
        _check_whole("seed", self.seed, 0)
        if self.labels_per_class is not None:
            _check_whole("labels_per_class", self.labels_per_class, 1)
        if self.changes is not None and not isinstance(self.changes, Mapping):
            raise InputError(
                f"`changes` must name settings and their values, but got {self.changes!r}."
            )
        if not _is_number(self.add_edges) or self.add_edges < 0:
            raise InputError(
                f"`add_edges` must be a finite number from 0 up, but got {self.add_edges!r}. "
                "0.25 adds a quarter of the present edges."
            )
        if not _is_number(self.drop_edges) or not 0 <= self.drop_edges <= 1:
            raise InputError(
                f"`drop_edges` must be between 0 and 1, but got {self.drop_edges!r}. "
                "0.25 removes a quarter of the edges."
            )

    def settings_for(self, dataset: str) -> MethodSettings:
        """Look the settings up."""
        preset = settings_of(self.method, self.preset, dataset)
        return preset.changed(self.changes or {})


def changes_of(words: Iterable[str]) -> dict[str, str]:
    """Read settings as the command line has them.

    Example:
        >>> changes_of(["k=5", "weight-decay = 0.1"])
        {'k': '5', 'weight_decay': '0.1'}
    """
    changes = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise InputError(f"--set takes NAME=VALUE, for instance k=5, but got {word!r}.")
        changes[name.strip().replace("-", "_")] = value.strip()
    return changes


def _check_whole(name: str, value: object, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InputError(f"`{name}` must be a whole number from {least} up, but got {value!r}.")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)
