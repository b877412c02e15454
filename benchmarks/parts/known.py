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

    power: float
    """Of time, in few dimensions."""
    memory_power: float | None
    """Of memory; None: it follows no power, and is not guessed."""
    seconds: float
    """CPU-seconds over N^power, for a size without smaller ones."""
    megabytes: float
    """MB over N^memory_power, likewise."""

    def megabytes_from(self, megabytes: float, ratio: float) -> float:
        """Let memory grow as N does by a ratio."""
        return math.nan if self.memory_power is None else megabytes * ratio**self.memory_power

    def power_for(self, cell: Cell) -> float:
        """Let time be quadratic in many dimensions, where a tree of cells is no help."""
        return 2.0 if cell.dim > _FEW_DIMENSIONS else self.power


_FEW_DIMENSIONS = 8

GROWTH = {
    "dense": Growth(2, 2, 3e-8, 8e-6),
    "blocked": Growth(2, None, 3e-8, math.nan),
    # Measured from 100 000 to 1 000 000 nodes in 4 dimensions: 1.1 to 1.2.
    "lazy": Growth(1.2, 1, 1e-5, 2e-3),
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
        seconds = growth.seconds * size**growth.power
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
        power, paid = growth.power_for(cell), self.measured[last]
        megabytes = growth.megabytes_from(paid.megabytes, ratio)
        return Paid(paid.seconds * ratio**power, megabytes, measured=False)


def _is_smaller(one: Cell, other: Cell) -> bool:
    return one.num_nodes < other.num_nodes and replace(one, num_nodes=other.num_nodes) == other
