"""Many lines of the store as few: one for each cell, over its seeds."""

import statistics
from collections.abc import Iterable
from dataclasses import dataclass
from typing import final

from bpgnn.experiments.store import Line


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
    """

    command: str
    num_seeds: int
    num_failed: int
    mean: float | None
    deviation: float | None
    cpu_seconds: float | None
    error: str | None


def cells(lines: Iterable[Line]) -> list[Cell]:
    """Group lines by their command without its seed, in the order of the first of each.

    Example:
        >>> lines = [
        ...     {"command": f"bpgnn train cora --seed {seed}", "test_accuracy": 0.9}
        ...     | {"cpu_seconds": 1.0}
        ...     for seed in (0, 1)
        ... ]
        >>> cells(lines)[0].mean
        90.0
    """
    groups: dict[str, list[Line]] = {}
    for line in lines:
        groups.setdefault(_without_seed(line["command"]), []).append(line)
    return [_cell(command, found) for command, found in groups.items()]


def _cell(command: str, lines: list[Line]) -> Cell:
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
    )


def _without_seed(command: str) -> str:
    words = command.split(" ")
    if "--seed" in words:
        place = words.index("--seed")
        del words[place : place + 2]
    return " ".join(words)
