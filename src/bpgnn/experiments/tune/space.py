"""Where settings are looked for: the same room for every method that has the setting."""

from dataclasses import asdict, dataclass, fields
from typing import Any, final

from bpgnn.methods.registry import METHODS, settings_of
from bpgnn.settings import Settings


@final
@dataclass(frozen=True)
class Range:
    """Look between two numbers, by their logarithm."""

    low: float
    high: float


@final
@dataclass(frozen=True)
class Choice:
    """Look among some values, written as `--set` reads them."""

    values: tuple[str, ...]


_SHARES = Choice(("0.0", "0.1", "0.3", "0.5", "0.7", "0.8"))

ROOM: dict[str, Range | Choice] = {
    "learning_rate": Range(1e-3, 1e-1),
    "weight_decay": Range(1e-5, 1e-2),
    "dropout": _SHARES,
    "input_dropout": _SHARES,
    "embedding_dropout": _SHARES,
    "attention_dropout": _SHARES,
    "message_dropout": Choice(("0.0", "0.3", "0.6")),
    "adjacency_dropout": _SHARES,
    "later_dropout": _SHARES,
    "k": Choice(("4", "8", "16", "30")),
    "latent_dim": Choice(("4", "8", "16")),
    "temperature": Choice(("0.0", "1.0", "2.0")),
    "latent_loss_weight": Choice(("0.1", "0.3", "1.0")),
    "observed_messages": Choice(("false", "true")),
    "message_weight": Choice(("none", "probability", "votes")),
    "nearest_messages": Choice(("0", "5")),
    "own_states": Choice(("false", "true")),
    "witness": Choice(("equal", "gated", "mixed")),
    "graph_learning_rate": Range(1e-4, 1e-1),
    "denoising_weight": Choice(("1", "10", "100")),
    "observed_share": Choice(("0.6", "0.7", "0.8", "0.9")),
    "newest_share": Choice(("0.1", "0.3", "0.5")),
    "smoothness": Choice(("0.0", "0.1", "0.2", "0.5")),
    "sparsity": Choice(("0.0", "0.1", "0.3")),
    "num_perspectives": Choice(("4", "6")),
    "unrolled_steps": Choice(("5", "20")),
    "candidates_k": Choice(("10", "50", "200")),
}
"""By the name of a setting; widths are looked for by what they are, see `room_of`."""

_WIDTHS = {
    "one": Choice(("16", "32", "64", "128")),
    "several": Choice(("64", "128", "256", "64,64", "128,64", "128,128")),
}


_ONLY_WITH = {"witness": ("residual", "boolean")}
"""Settings that do something only where another one has a certain value."""


def room_of(settings: Settings) -> dict[str, Range | Choice]:
    """List where the settings of a method are looked for.

    Example:
        >>> from bpgnn.networks.layered import LayeredSettings
        >>> sorted(room_of(LayeredSettings()))
        ['dropout', 'hidden', 'input_dropout', 'learning_rate', 'weight_decay']
    """
    found: dict[str, Range | Choice] = {}
    for item in fields(settings):
        if item.name == "hidden":
            several = isinstance(settings.hidden, tuple)  # pyright: ignore[reportAttributeAccessIssue]
            found["hidden"] = _WIDTHS["several" if several else "one"]
        elif item.name in ROOM and _does_something(item.name, settings):
            found[item.name] = ROOM[item.name]
    return found


def _does_something(name: str, settings: Settings) -> bool:
    other, value = _ONLY_WITH.get(name, (name, None))
    return value is None or getattr(settings, other) == value


def starts_of(method: str, dataset: str, preset: Settings) -> dict[str, dict[str, object]]:
    """List what is tried before the search: the published settings, and the preset as it is.

    The published ones keep the preset's split, what it judges validation by, and where edges are
    learned from: losses could not be compared otherwise, and what is learned from validation nodes
    may not be chosen by them.

    Args:
        method: A name among the methods.
        dataset: A name among the data sets.
        preset: What changes are written down against.

    Returns:
        Changes by the name of the start.

    Example:
        >>> starts_of("gcn", "cora", settings_of("gcn", "tuned", "cora"))["published"]["hidden"]
        (16,)
    """
    known = METHODS[method].presets
    name = "published" if "published" in known else "paper"
    theirs, ours = asdict(settings_of(method, name, dataset)), asdict(preset)
    changes = {
        setting: value
        for setting, value in theirs.items()
        if value != ours[setting] and setting not in _KEPT
    }
    return {name: changes, "tuned": {}}


_KEPT = ("split", "stop_on", "outer_nodes")


def suggested(trial: Any, room: dict[str, Range | Choice]) -> dict[str, object]:
    """Ask a trial of the search for a value of every setting."""
    return {
        name: trial.suggest_float(name, where.low, where.high, log=True)
        if isinstance(where, Range)
        else trial.suggest_categorical(name, where.values)
        for name, where in room.items()
    }
