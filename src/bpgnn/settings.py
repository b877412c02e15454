"""Settings that check themselves and can be changed by text."""

import math
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, Self

import numpy as np

from bpgnn.errors import InputError, nearest


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Check the type of every field; what builds on this checks ranges."""

    def __post_init__(self) -> None:
        """Refuse values of a wrong type and words that are no choice."""
        hints = typing.get_type_hints(type(self))
        for item in fields(self):
            _check(item.name, getattr(self, item.name), hints[item.name])

    def refuse_unless(self, wanted: str, good: Callable[[Any], bool], *names: str) -> None:
        """Refuse settings that are not as wanted; one that is None is left alone."""
        for name in names:
            value = getattr(self, name)
            if value is not None and not good(value):
                raise InputError(f"`{name}` must be {wanted}, but got {value}.")

    def refuse_unless_counts(self, *names: str) -> None:
        """Refuse numbers of things below one."""
        self.refuse_unless("1 or more", lambda number: number >= 1, *names)

    def refuse_unless_rates(self, *names: str) -> None:
        """Refuse shares to drop that are negative or leave nothing."""
        self.refuse_unless("from 0 to below 1", lambda rate: 0 <= rate < 1, *names)

    def changed(self, changes: Mapping[str, object]) -> Self:
        """Return the settings with some of them changed; text is read as the field's type.

        Example:
            >>> @dataclass(frozen=True, kw_only=True)
            ... class Walk(Settings):
            ...     max_steps: int = 9
            >>> Walk().changed({"max_steps": "5"}).max_steps
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
