"""What a report is made from."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, final

from bpgnn import __version__
from bpgnn.experiments.experiment import Experiment, quickened
from bpgnn.experiments.run import Run
from bpgnn.experiments.store import Line
from bpgnn.experiments.timing import Timing
from bpgnn.report.difference import against_others
from bpgnn.report.table import Entry, code_of, entry, lines_of

NAMES = {"cora": "Cora", "citeseer": "CiteSeer", "pubmed": "PubMed", "photo": "Photo"}
"""Data sets as the paper spells them."""


def graph_in_words(dataset: str, added: float) -> str:
    """Name a data set and what was done to its graph.

    Example:
        >>> graph_in_words("cora", 0.75), graph_in_words("photo", 0.0)
        ('Cora, 75 % added', 'Photo')
    """
    return f"{NAMES[dataset]}, {100 * added:.0f} % added" if added else NAMES[dataset]


@final
@dataclass(frozen=True)
class Source:
    """Read runs back from the store.

    Args:
        lines: The store, by command.
        num_seeds: Seeds that each cell should have; by experiment if None. Those that are there
            beyond it count as well.
        fast: Whether to report the runs of few steps.
        used: The commands of the lines that were asked for so far.
    """

    lines: dict[str, Line]
    num_seeds: int | None = None
    fast: bool = False
    used: set[str] = field(default_factory=set)

    def seeds(self, experiment: Experiment) -> range:
        """Return the seeds that a cell may have."""
        return range(max(experiment.num_seeds, self.num_seeds or 0))

    def entry(self, runs: list[Run], printed: str | None = None, *, key: str = "") -> Entry:
        """Sum up the runs of a cell."""
        wanted = len(runs) if self.num_seeds is None else min(self.num_seeds, len(runs))
        return entry(self._made(runs), self._asked(runs), printed, key=key, num_wanted=wanted)

    def rows(
        self,
        names: Iterable[str],
        columns: Sequence[tuple[Any, ...]],
        cell: Callable[..., list[Run]],
        seeds: range,
        *,
        key: str = "",
    ) -> tuple[tuple[str, tuple[Entry, ...]], ...]:
        """Sum up a table: the entry of a name and a column is that of `cell(name, *column, seeds)`.

        Args:
            names: Of the rows.
            columns: What `cell` takes beside the name, for each column.
            cell: Lists the runs of an entry.
            seeds: That each entry should have.
            key: See :func:`~bpgnn.report.table.entry`.
        """
        return tuple(
            (name, tuple(self.entry(cell(name, *column, seeds), key=key) for column in columns))
            for name in names
        )

    def found(self, runs: list[Run]) -> list[Line]:
        """Return the lines of those runs that have a result."""
        return [line for line in self._asked(runs) if "error" not in line]

    def command(self, runs: list[Run]) -> str:
        """Return the command of the first of some runs."""
        return self._made(runs)[0].command

    def against_others(
        self,
        names: Iterable[str],
        columns: Mapping[str, tuple[Any, ...]],
        cell: Callable[..., list[Run]],
        seeds: range,
        *,
        ours: str = "bpgnn",
    ) -> tuple[str, ...]:
        """Compare a row with the others in every column, in a sentence each.

        An entry that is the same runs as ours is nothing to compare with.

        Args:
            names: Of the rows.
            columns: What `cell` takes beside the name, by what the sentence calls the column.
            cell: Lists the runs of an entry.
            seeds: That each entry should have.
            ours: The row that others are compared with.
        """
        names = list(names)
        sentences: list[str] = []
        for about, column in columns.items():
            runs = {name: cell(name, *column, seeds) for name in names}
            apart = {name for name in names if name == ours or runs[name] != runs[ours]}
            found = {name: self.found(runs[name]) for name in names if name in apart}
            sentences += against_others(found, about, ours=ours)
        return tuple(sentences)

    def timing(self, job: Timing) -> Line | None:
        """Return the line of a timing, of one that failed as well."""
        line = self.lines.get(job.command)
        if line is not None:
            self.used.add(job.command)
        return line

    def provenance(self, store: str) -> str:
        """Say which code and machines the lines of that store came from, as far as used."""
        lines = [self.lines[command] for command in sorted(self.used)]
        code = Counter(map(code_of, lines))
        machines = Counter(line.get("machine", "not known") for line in lines)
        return (
            f"By bpgnn {__version__} from {store}: "
            f"{len(lines)} of {len(self.lines)} runs. Code (a hash of its source: runs): "
            f"{_counted(code)}. Machines: {_counted(machines)}."
        )

    def _asked(self, runs: list[Run]) -> list[Line]:
        found = lines_of(self._made(runs), self.lines)
        self.used.update(line["command"] for line in found)
        return found

    def _made(self, runs: list[Run]) -> list[Run]:
        return [quickened(run) for run in runs] if self.fast else runs


def _counted(found: Counter[str]) -> str:
    return ", ".join(f"{name}: {number}" for name, number in found.most_common()) or "none"
