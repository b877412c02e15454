"""Cells of the store, drawn at random and made again: can its figures be believed?"""

import hashlib
import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import final

from bpgnn.errors import InputError
from bpgnn.experiments.execute import Job, distinct
from bpgnn.experiments.run import Run
from bpgnn.experiments.store import Line
from bpgnn.experiments.summary import without_seed

STANDARD_ERRORS = 3
"""How far apart a cell may be from itself, in standard errors of the difference."""

# Fewer seeds do not tell how much a figure varies.
_FEWEST = 3

Cell = tuple[Run, ...]
"""Runs that differ by their seed alone."""


@final
@dataclass(frozen=True)
class Recheck:
    """Set runs that were made again beside those of the store.

    Args:
        pairs: For each seed that was made again its test accuracy in the store, and that of
            now, in percent.
        deviation: The standard deviation over all seeds of the cell in the store, in percent.
        failures: What the runs said that came to no figure.

    Example:
        >>> Recheck(pairs=((88.0, 88.2), (90.0, 89.6)), deviation=1.0).agrees
        True
    """

    pairs: tuple[tuple[float, float], ...]
    deviation: float
    failures: tuple[str, ...] = ()

    @property
    def stored(self) -> float:
        """Return the mean of these seeds in the store."""
        return statistics.mean(then for then, _ in self.pairs)

    @property
    def again(self) -> float:
        """Return their mean of now."""
        return statistics.mean(now for _, now in self.pairs)

    @property
    def num_same(self) -> int:
        """Count the seeds that came to the very same figure."""
        return sum(then == now for then, now in self.pairs)

    @property
    def allowed(self) -> float:
        r"""Return how far apart the two means may be, :math:`3 s \sqrt{2 / m}` for m seeds.

        The spread s is the store's alone: runs that went wrong must not widen it. Another
        machine rounds otherwise, and after some hundred steps that is another draw: the same
        seed is then a sample of its own.
        """
        return STANDARD_ERRORS * self.deviation * math.sqrt(2 / len(self.pairs))

    @property
    def agrees(self) -> bool:
        """Tell whether all runs came to figures, and these are as near as they should be."""
        return (
            not self.failures and bool(self.pairs) and abs(self.again - self.stored) <= self.allowed
        )


def drawn_cells(
    jobs: Iterable[Job],
    lines: Mapping[str, Line],
    number: int,
    *,
    draw: int,
    longest: float | None = None,
) -> list[Cell]:
    """Draw cells with three seeds or more, every one as likely as any other.

    A store that grows changes a draw only by what is new in it.

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
        if isinstance(job, Run) and line is not None and "error" not in line and job.agrees(line):
            groups.setdefault(without_seed(job.command), []).append(job)
    known = {
        command: tuple(runs)
        for command, runs in groups.items()
        if len(runs) >= _FEWEST
        and (longest is None or max(lines[run.command]["cpu_seconds"] for run in runs) <= longest)
    }
    if len(known) < number:
        short = "" if longest is None else f" and no run of more than {longest:g} CPU-seconds"
        raise InputError(
            f"Of cells with {_FEWEST} seeds or more{short} the store has {len(known)}, and "
            f"{number} were asked for. Name other experiments, or make more runs with: "
            "bpgnn reproduce"
        )
    order = sorted(known, key=lambda command: _rank(draw, command))
    return [known[command] for command in order[:number]]


def compared(
    cell: Cell, again: Sequence[Run], lines: Mapping[str, Line], made: Mapping[str, Line]
) -> Recheck:
    """Set those runs of a cell that were made again beside what the store has.

    Args:
        cell: All runs of the cell in the store.
        again: Those that were to be made again.
        lines: The store, by command.
        made: What was made now, by command.
    """
    pairs, failures = [], []
    for run in again:
        now = made.get(run.command)
        if now is None or "error" in now:
            failures.append("It was not made." if now is None else now["error"]["words"])
        else:
            pairs.append((_percent(lines[run.command]), _percent(now)))
    deviation = statistics.stdev(_percent(lines[run.command]) for run in cell)
    return Recheck(tuple(pairs), deviation, tuple(failures))


def _percent(line: Line) -> float:
    return 100 * line["test_accuracy"]


def _rank(draw: int, command: str) -> bytes:
    return hashlib.sha256(f"{draw} {command}".encode()).digest()
