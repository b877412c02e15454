"""What a method is: settings, a forward pass, losses, a citation."""

import math
import types
import typing
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Generic, Literal, Self, TypeVar, final

import numpy as np
import torch
from torch import Tensor, nn
from typing_extensions import override

from bpgnn.errors import InputError, nearest
from bpgnn.graph import Graph
from bpgnn.nn.sparse import Features


@dataclass(frozen=True, kw_only=True)
class MethodSettings:
    """Settle what every method has: how it is trained and tested.

    Args:
        learning_rate: Adam's step size.
        weight_decay: L2 penalty on weights and biases.
        max_steps: Most training steps, each over the whole graph.
        patience: Steps without a better validation loss before training stops.
        evaluate_every: Steps between two evaluations.
        num_samples: Sampled graphs over which a prediction is averaged.
        test_weights: Test the weights of the `best` validation loss or the `last`.
        class_weight: `none`, or `balanced` to give every class the same say in the loss.
        feature_scaling: `auto` (rows of counts are divided by their sum, columns of tables
            standardised), `rows`, `columns` or `none`.
    """

    learning_rate: float = 0.01
    weight_decay: float = 5e-4
    max_steps: int = 1000
    patience: int = 150
    evaluate_every: int = 10
    num_samples: int = 10
    test_weights: Literal["best", "last"] = "best"
    class_weight: Literal["none", "balanced"] = "none"
    feature_scaling: Literal["auto", "rows", "columns", "none"] = "auto"

    def __post_init__(self) -> None:
        """Refuse values of a wrong type, words that are no choice, numbers out of range."""
        hints = typing.get_type_hints(type(self))
        for item in fields(self):
            _check(item.name, getattr(self, item.name), hints[item.name])
        positive = ("learning_rate", "max_steps", "evaluate_every", "num_samples", "patience")
        self.refuse_unless("above 0", lambda value: value > 0, *positive)
        self.refuse_unless("at least 0", lambda value: value >= 0, "weight_decay")

    def refuse_unless(self, wanted: str, good: Callable[[Any], bool], *names: str) -> None:
        """Refuse settings that are not as wanted; one that is None is left alone."""
        for name in names:
            value = getattr(self, name)
            if value is not None and not good(value):
                raise InputError(f"`{name}` must be {wanted}, but got {value}.")

    def changed(self, changes: Mapping[str, object]) -> Self:
        """Return the settings with some of them changed; text is read as the field's type.

        Example:
            >>> MethodSettings().changed({"max_steps": "5"}).max_steps
            5
        """
        hints = typing.get_type_hints(type(self))
        known = [item.name for item in fields(self)]
        parsed = {}
        for name, value in changes.items():
            if name not in known:
                raise InputError(_choice_sentence("setting", name, known))
            parsed[name] = _read(value, hints[name])
        return replace(self, **parsed)


@final
@dataclass(frozen=True, eq=False)
class Problem:
    """Hold what a method sees of a data set, ready for arithmetic.

    Args:
        features: Scaled features, shape (N, F).
        labels: Class numbers; -1 where unknown or hidden from training, shape (N,).
        graph: The observed graph, or None.
        train: The training nodes, shape (M,).
        num_classes: Number of classes C.
        class_weight: What an error on each class costs, shape (C,), or None.
    """

    features: Features
    labels: Tensor
    graph: Graph | None
    train: Tensor
    num_classes: int
    class_weight: Tensor | None = None

    @property
    def num_nodes(self) -> int:
        """Count the nodes, N."""
        return self.features.size(0)

    @property
    def num_features(self) -> int:
        """Count the columns of the features, F."""
        return self.features.size(1)


@final
@dataclass(frozen=True, eq=False)
class Output:
    """Hold what a forward pass gives.

    Args:
        logits: Scores, one set for each sampled graph, shape (S, N, C).
        graphs: The last latent graph of each sample, with weights, or none.
        detail: What the method's own losses need.
    """

    logits: Tensor
    graphs: tuple[Graph, ...] = ()
    detail: Any = field(default=None)

    def probabilities(self) -> Tensor:  # (N, C)
        """Average the class probabilities over the sampled graphs."""
        return self.logits.softmax(-1).mean(0)


SettingsT = TypeVar("SettingsT", bound=MethodSettings)


class Method(nn.Module, ABC, Generic[SettingsT]):
    """Classify nodes; what a method needs beyond this it tells the one training loop."""

    citation: ClassVar[str]
    settings: SettingsT

    @classmethod
    @abstractmethod
    def preset(cls, name: str, dataset: str) -> SettingsT:
        """Return the settings of that name for a data set."""

    @classmethod
    @abstractmethod
    def build(cls, settings: SettingsT, problem: Problem) -> Self:
        """Make the method with fresh weights for a problem's size."""

    @abstractmethod
    @override
    def forward(
        self, problem: Problem, *, generator: torch.Generator, num_samples: int = 1
    ) -> Output:
        """Score every node's classes."""

    @abstractmethod
    def losses(self, output: Output, problem: Problem) -> dict[str, Tensor]:
        """Return the named terms whose sum is minimised."""

    def observe(self, output: Output, problem: Problem) -> None:
        """Update running means after a step; they are buffers, so that they are saved."""

    def parameter_groups(self) -> list[dict[str, Any]]:
        """Group parameters for the optimiser; scalars such as temperatures do not decay."""
        settings = self.settings
        shrinking = [p for p in self.parameters() if p.dim() > 0]
        others = [p for p in self.parameters() if p.dim() == 0]
        groups = [{"params": shrinking, "weight_decay": settings.weight_decay}]
        return groups + ([{"params": others, "weight_decay": 0.0}] if others else [])

    @property
    def sampler_name(self) -> str | None:
        """Name the sampler in use, or None for a method that samples no graph."""
        return None


def _choice_sentence(what: str, came: str, known: typing.Iterable[str]) -> str:
    if what == "setting":
        return f"There is no setting {came!r}.{nearest(came, known)}"
    return f"`{what}` cannot be {came!r}.{nearest(came, known)}"


_TRUTH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}

_KINDS = {int: "a whole number", float: "a finite number", bool: "true or false"}


def _read(value: object, hint: Any) -> object:
    """Read a setting from text where that is possible, or take it as it is."""
    if isinstance(value, list):
        return tuple(value)
    if isinstance(value, np.generic):
        return value.item()
    if not isinstance(value, str):
        return value
    if _is_optional(hint):
        if value.lower() in ("none", ""):
            return None
        hint = typing.get_args(hint)[0]
    try:
        if typing.get_origin(hint) is tuple:
            inner = typing.get_args(hint)[0]
            return tuple(inner(part) for part in value.strip("()[] ").split(",") if part.strip())
        if hint is bool:
            return _TRUTH.get(value.lower(), value)
        return hint(value) if hint in _KINDS else value
    except ValueError:
        return value


def _check(name: str, value: object, hint: Any) -> None:
    """Refuse a value that is not of the setting's type."""
    if typing.get_origin(hint) is Literal:
        if value not in typing.get_args(hint):
            raise InputError(_choice_sentence(name, str(value), typing.get_args(hint)))
    elif not _fits(value, hint):
        raise InputError(f"`{name}` must be {_kind(hint)}, but got {value!r}.")


def _fits(value: object, hint: Any) -> bool:
    if _is_optional(hint):
        return value is None or _fits(value, typing.get_args(hint)[0])
    if typing.get_origin(hint) is tuple:
        inner = typing.get_args(hint)[0]
        return isinstance(value, tuple) and all(_fits(part, inner) for part in value)
    if isinstance(value, bool) or hint is bool:
        return isinstance(value, bool) and hint is bool
    if hint is float:
        return isinstance(value, int | float) and math.isfinite(value)
    return isinstance(value, hint)


def _kind(hint: Any) -> str:
    if _is_optional(hint):
        return f"{_kind(typing.get_args(hint)[0])} or none"
    if typing.get_origin(hint) is tuple:
        return "whole numbers with commas between"
    return _KINDS.get(hint, "text")


def _is_optional(hint: Any) -> bool:
    return isinstance(hint, types.UnionType)
