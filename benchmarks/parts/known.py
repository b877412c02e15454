"""What a sampler's cells cost: measured, or guessed from smaller ones."""

import math
from dataclasses import fields, replace
from pathlib import Path
from typing import NamedTuple

from parts.store import read_lines
from parts.tasks import Cell


class Paid(NamedTuple):
    """Hold a cell's cost."""

    seconds: float
    megabytes: float
    measured: bool


class Growth(NamedTuple):
    """Say how a sampler's cost is thought to grow with N, and where it begins."""

    power: float | None
    """Of time; None: as between the last two sizes."""
    memory_power: float | None
    """Of memory; None: it follows no power, and is not guessed."""
    seconds: float
    """CPU-seconds over N^power (over N, where that is None), for a size without smaller ones."""
    megabytes: float
    """MB over N^memory_power, likewise."""

    def megabytes_from(self, megabytes: float, ratio: float) -> float:
        """Let memory grow as N does by a ratio."""
        return math.nan if self.memory_power is None else megabytes * ratio**self.memory_power


GROWTH = {
    "dense": Growth(2, 2, 3e-8, 8e-6),
    "blocked": Growth(2, None, 3e-8, math.nan),
    "lazy": Growth(None, 1, 1e-4, 2e-3),
    "keops": Growth(2, 1, 2e-9, 1e-4),
}


class Known:
    """Know the measured cells of a file, and guess the others from them.

    Args:
        path: A file of results; of two lines for one cell the later counts.
    """

    def __init__(self, path: Path) -> None:
        """Read the file, if it is there."""
        self.measured: dict[Cell, Paid] = {}
        self.ended: set[Cell] = set()
        """Cells whose process was ended: too long, or out of memory."""
        self.auto: dict[Cell, str] = {}
        """The sampler that `auto` takes in a cell's place."""
        for line in read_lines(path):
            self._add(line)

    def _add(self, line: dict) -> None:
        cell = Cell(**{item.name: line[item.name] for item in fields(Cell)})
        self.measured.pop(cell, None)
        self.ended.discard(cell)
        if line["seconds"] is None:
            self.ended.add(cell)
            return
        self.measured[cell] = Paid(line["seconds"], line["megabytes"], measured=True)
        self.auto[replace(cell, sampler="auto")] = line["auto"] or "–"

    def __contains__(self, cell: Cell) -> bool:
        return cell in self.measured or cell in self.ended

    def cost(self, cell: Cell) -> Paid | None:
        """Look a cell up or extrapolate it; None where there is nothing to go by."""
        if cell in self.measured:
            return self.measured[cell]
        if cell in self.ended or self._has_ended_below(cell):
            return None
        below = self._below(cell)
        return self._extrapolated(cell, below) if below else None

    def expected(self, cell: Cell) -> Paid:
        """Guess a cell's cost before it is measured, if need be without any evidence."""
        if self._has_ended_below(cell):
            return Paid(math.inf, math.inf, measured=False)
        if below := self._below(cell):
            return self._extrapolated(cell, below)
        growth, size = GROWTH[cell.sampler], float(cell.num_nodes)
        seconds = growth.seconds * size ** (growth.power or 1)
        return Paid(seconds, growth.megabytes_from(growth.megabytes, size), measured=False)

    def _below(self, cell: Cell) -> list[Cell]:
        """List the measured cells that differ by a smaller N alone, the largest last."""
        below = [other for other in self.measured if _is_smaller(other, cell)]
        return sorted(below, key=lambda other: other.num_nodes)

    def _has_ended_below(self, cell: Cell) -> bool:
        return any(_is_smaller(other, cell) for other in self.ended)

    def _extrapolated(self, cell: Cell, below: list[Cell]) -> Paid:
        last, growth = below[-1], GROWTH[cell.sampler]
        ratio = cell.num_nodes / last.num_nodes
        power = growth.power or self._measured_power(below)
        paid = self.measured[last]
        megabytes = growth.megabytes_from(paid.megabytes, ratio)
        return Paid(paid.seconds * ratio**power, megabytes, measured=False)

    def _measured_power(self, below: list[Cell]) -> float:
        """Take the growth between the last two sizes; at least linear, at most quadratic."""
        if len(below) == 1:
            return 1.0
        one, other = below[-2:]
        times = self.measured[other].seconds / self.measured[one].seconds
        return min(2.0, max(1.0, math.log(times) / math.log(other.num_nodes / one.num_nodes)))


def _is_smaller(one: Cell, other: Cell) -> bool:
    return one.num_nodes < other.num_nodes and replace(one, num_nodes=other.num_nodes) == other
