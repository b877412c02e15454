"""Cells of the store, drawn at random and made again: can its figures be believed?"""

import math
import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import final

from bpgnn.errors import InputError
from bpgnn.experiments.execute import Job, distinct
from bpgnn.experiments.run import Run
from bpgnn.experiments.store import Line
from bpgnn.experiments.summary import without_seed
from bpgnn.randomness import numpy_generator_for

_STREAM = 0x2EC4

STANDARD_ERRORS = 3
"""How far apart two means of the same cell may be, in standard errors of their difference."""


@final
@dataclass(frozen=True)
class Recheck:
    """Set a cell that was made again beside what the store has.

    Args:
        command: What makes the first of its runs.
        stored: Test accuracies of the store in percent, one a seed, two or more.
        again: Those of now, one or more.

    Example:
        >>> Recheck("bpgnn train cora", stored=(88.0, 90.0, 89.0), again=(90.0,)).agrees
        True
    """

    command: str
    stored: tuple[float, ...]
    again: tuple[float, ...]

    @property
    def difference(self) -> float:
        """Return the mean of now less that of the store, in points."""
        return statistics.mean(self.again) - statistics.mean(self.stored)

    @property
    def standard_error(self) -> float:
        """Return the standard error of the difference, by the spread within both together."""
        within = [value - statistics.mean(own) for own in self._both for value in own]
        freedom = len(within) - len(self._both)
        spread = math.sqrt(sum(value**2 for value in within) / freedom)
        return spread * math.sqrt(sum(1 / len(own) for own in self._both))

    @property
    def agrees(self) -> bool:
        """Tell whether the two are no more than three standard errors apart."""
        # Means of the same figures may differ by rounding.
        return abs(self.difference) <= STANDARD_ERRORS * self.standard_error + 1e-9

    @property
    def _both(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        return self.stored, self.again


Cell = tuple[Run, ...]
"""Runs that differ by their seed alone."""


def drawn_cells(
    jobs: Iterable[Job],
    lines: Mapping[str, Line],
    number: int,
    *,
    draw: int,
    longest: float | None = None,
) -> list[Cell]:
    """Draw cells with two seeds or more, every one as likely as any other.

    Args:
        jobs: All runs that may be asked for; timings are no cells.
        lines: The store, by command.
        number: How many to draw.
        draw: Where the randomness comes from.
        longest: Leave out cells of which a run took more processor seconds.

    Returns:
        The runs of each that the store has with the settings of now.
    """
    groups: dict[str, list[Run]] = {}
    for job in distinct(jobs):
        line = lines.get(job.command)
        if not isinstance(job, Run) or line is None or "error" in line or not job.agrees(line):
            continue
        groups.setdefault(without_seed(job.command), []).append(job)
    known = [
        tuple(runs)
        for runs in groups.values()
        if len(runs) > 1
        and (longest is None or max(lines[run.command]["cpu_seconds"] for run in runs) <= longest)
    ]
    if len(known) < number:
        are = "is 1 such cell" if len(known) == 1 else f"are {len(known)} such cells"
        raise InputError(
            f"There {are} with two seeds or more in the store, fewer than the {number} asked for. "
            "Ask for fewer with --cells, or allow longer runs."
        )
    order = numpy_generator_for(draw, _STREAM).permutation(len(known))
    return [known[place] for place in order[:number]]


def compared(cell: Cell, lines: Mapping[str, Line], again: Mapping[str, Line]) -> Recheck | None:
    """Set what was made now beside what the store has; None where nothing came of it."""
    commands = [run.command for run in cell]
    stored, anew = (
        tuple(
            100 * found[command]["test_accuracy"]
            for command in commands
            if command in found and "error" not in found[command]
        )
        for found in (lines, again)
    )
    return Recheck(commands[0], stored, anew) if anew else None
