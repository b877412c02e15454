"""Many lines of the store as few: one for each cell, over its seeds."""

import shlex
import statistics
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import final

from bpgnn.errors import InputError
from bpgnn.experiments.run import Run
from bpgnn.experiments.store import Line
from bpgnn.training.plan import Plan, changes_of


@final
@dataclass(frozen=True)
class Cell:
    """Hold what runs that differ by their seed alone have come to.

    Args:
        command: The command of its runs, but for the seed.
        num_seeds: Runs with a result.
        num_failed: Runs that ended in an error.
        mean: Mean test accuracy in percent, None where there is none, as for timings.
        deviation: Standard deviation over seeds in percent, None for fewer than two.
        cpu_seconds: Mean processor time of a run.
        error: What the first failure said.
        is_stale: Whether its runs had other settings than a run of that command has now.
    """

    command: str
    num_seeds: int
    num_failed: int
    mean: float | None
    deviation: float | None
    cpu_seconds: float | None
    error: str | None
    is_stale: bool = False


def cells(lines: Iterable[Line]) -> list[Cell]:
    """Group lines by their command without its seed, in the order of the first of each.

    Runs with settings of old are kept apart from those with the settings of now.

    Example:
        >>> lines = [
        ...     {"command": f"bpgnn train cora --seed {seed}", "test_accuracy": 0.9}
        ...     | {"cpu_seconds": 1.0}
        ...     for seed in (0, 1)
        ... ]
        >>> cells(lines)[0].mean
        90.0
    """
    groups: dict[tuple[str, bool], list[Line]] = {}
    for line in lines:
        key = without_seed(line["command"]), is_stale(line)
        groups.setdefault(key, []).append(line)
    return [_cell(*key, found) for key, found in groups.items()]


def is_stale(line: Line) -> bool:
    """Tell whether a line was made with other settings than its command has now."""
    if "settings" not in line:
        return False
    words = shlex.split(line["command"])
    pairs = [after for word, after in pairwise(words) if word == "--set"]
    plan = Plan(line["method"], line["preset"], line["seed"], changes_of(pairs) or None)
    try:
        return not Run(line["dataset"], plan).agrees(line)
    except InputError:
        return True


def has_words(line: Line, words: Iterable[str]) -> bool:
    """Tell whether a line is about all of some words: of its command, or what it is of.

    Example:
        >>> line = {"command": "bpgnn train cora --seed 0", "method": "bpgnn"}
        >>> has_words(line, ["cora", "bpgnn"]), has_words(line, ["gcn"])
        (True, False)
    """
    _, *known = line["command"].split()
    known += [line.get(name) for name in ("method", "dataset", "preset")]
    return all(word in known for word in words)


def _cell(command: str, is_stale: bool, lines: list[Line]) -> Cell:  # noqa: FBT001
    good = [line for line in lines if "error" not in line]
    scored = [line for line in good if "test_accuracy" in line]
    bad = [line["error"]["words"] for line in lines if "error" in line]
    seen = [100 * line["test_accuracy"] for line in scored]
    return Cell(
        command=command,
        num_seeds=len(good),
        num_failed=len(bad),
        mean=statistics.mean(seen) if seen else None,
        deviation=statistics.stdev(seen) if len(seen) > 1 else None,
        cpu_seconds=statistics.mean(line["cpu_seconds"] for line in good) if good else None,
        error=bad[0] if bad else None,
        is_stale=is_stale,
    )


def without_seed(command: str) -> str:
    """Leave the seed out of a command: runs for which this is the same are of one cell.

    Example:
        >>> without_seed("bpgnn train cora --seed 3 --threads 1")
        'bpgnn train cora --threads 1'
    """
    words = command.split(" ")
    if "--seed" in words:
        place = words.index("--seed")
        del words[place : place + 2]
    return " ".join(words)
