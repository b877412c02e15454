"""A table as a value, before it is HTML or Markdown."""

import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

from bpgnn.experiments.run import Run
from bpgnn.experiments.store import Line


@final
@dataclass(frozen=True)
class Entry:
    """Hold one cell: what we measured, what the paper prints, and how to measure it again.

    Args:
        mean: Our mean in percent, or None.
        deviation: Standard deviation over seeds in percent, or None.
        num_seeds: Seeds measured.
        num_wanted: Seeds asked for.
        printed: What the paper prints, as it prints it.
        failed: The seeds that have no figure because they failed, such as `2 OOM`.
        note: What is said in place of a figure, such as `OOM`.
        detail: The sentences behind these.
        command: What makes the first of the runs again.
        origin: Which seeds there are, and the hashes of the code that they were made with.
        best: Whether it is the highest of its column.
    """

    mean: float | None = None
    deviation: float | None = None
    num_seeds: int = 0
    num_wanted: int = 0
    printed: str | None = None
    failed: str | None = None
    note: str | None = None
    detail: str | None = None
    command: str | None = None
    origin: str | None = None
    best: bool = False

    @property
    def text(self) -> str:
        """Write the measured part; fewer seeds than asked for are said, and so are more.

        Example:
            >>> Entry(87.1, 0.33, 3, 10).text
            '87.10 ± 0.33 (3 of 10 seeds)'
        """
        if self.mean is None:
            return self.note or "not run"
        spread = "" if self.deviation is None else f" ± {self.deviation:.2f}"
        failed = "" if self.failed is None else f", {self.failed}"
        if self.is_lacking:
            seeds = f" ({self.num_seeds} of {self.num_wanted} seeds{failed})"
        else:
            seeds = f" ({self.num_seeds} seeds)" if self.num_seeds > self.num_wanted else ""
        return f"{self.mean:.2f}{spread}{seeds}"

    @property
    def is_lacking(self) -> bool:
        """Tell whether it has fewer seeds than it should."""
        return self.num_seeds < self.num_wanted

    @property
    def difference(self) -> float | None:
        """Return ours less the paper's, where both are figures."""
        if self.mean is None or self.printed is None or not self.printed[0].isdigit():
            return None
        return self.mean - float(self.printed.split()[0])


@final
@dataclass(frozen=True)
class ReportTable:
    """Hold a table: a head, and rows that begin with their name.

    Args:
        caption: What it shows, and under which settings.
        head: Names of the columns, the first being that of the rows.
        rows: A name and its entries, one for each further column.
    """

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Entry, ...]], ...]

    @property
    def heading(self) -> str:
        """Write the caption, and how many seeds are behind an entry that does not say.

        Example:
            >>> ReportTable("Cora", ("", "0%"), (("gcn", (Entry(89.1, 0.3, 5, 5),)),)).heading
            'Cora. Means of 5 seeds, where nothing else is said.'
        """
        wanted = {entry.num_wanted for _, entries in self.rows for entry in entries} - {0, 1}
        if not wanted:
            return self.caption
        number = " or ".join(map(str, sorted(wanted)))
        return f"{self.caption.rstrip('.')}. Means of {number} seeds, where nothing else is said."

    @property
    def notes(self) -> list[str]:
        """Say what is behind every note: where, the note, and its sentence."""
        return [
            f"{name}, {column}: {entry.note}. {entry.detail}"
            for name, entries in self.rows
            for column, entry in zip(self.head[1:], entries, strict=True)
            if entry.detail is not None
        ]

    def with_best_marked(self) -> "ReportTable":
        """Mark the highest entry of each column that has several."""
        marked = [list(entries) for _, entries in self.rows]
        for column in range(len(self.head) - 1):
            means = [entries[column].mean for entries in marked]
            known = [mean for mean in means if mean is not None]
            for entries, mean in zip(marked, means, strict=True):
                if len(known) > 1 and mean is not None and mean == max(known):
                    entries[column] = replace(entries[column], best=True)
        names = [name for name, _ in self.rows]
        rows = tuple((name, tuple(row)) for name, row in zip(names, marked, strict=True))
        return replace(self, rows=rows)


def entry(
    runs: Sequence[Run],
    found: Sequence[Line],
    printed: str | None = None,
    *,
    key: str = "",
    num_wanted: int | None = None,
) -> Entry:
    """Sum up the runs of a cell.

    Args:
        runs: One a seed.
        found: The lines of those that were made; see :func:`lines_of`.
        printed: What the paper prints there.
        key: A figure of the latent graph to be shown; the test accuracy if left out.
        num_wanted: How many of the runs there should be; all if left out.
    """
    good = [value for line in found if (value := _value(line, key)) is not None]
    # The first sentence of each kind.
    sentences: dict[str, str] = {}
    failed = Counter[str]()
    for line in found:
        if "error" in line:
            kind, words = failure_of(line)
            failed[kind] += 1
            sentences.setdefault(kind, words)
    note, detail = " and ".join(failed), " ".join(sentences.values())
    if found and not good and not failed:
        note, detail = "–", "Its record has no such figure."
    return Entry(
        mean=statistics.mean(good) if good else None,
        deviation=statistics.stdev(good) if len(good) > 1 else None,
        num_seeds=len(good),
        num_wanted=len(runs) if num_wanted is None else num_wanted,
        failed=", ".join(f"{number} {kind}" for kind, number in failed.items()) or None,
        printed=printed,
        note=note or None,
        detail=detail or None,
        command=runs[0].command if runs else None,
        origin=origin_of(found),
    )


def failure_of(line: Line) -> tuple[str, str]:
    """Say in a word how a run failed, and the sentence behind it.

    Example:
        >>> failure_of({"error": {"kind": "memory", "words": "It would take 90 GB."}})
        ('OOM', 'It would take 90 GB.')
    """
    error = line["error"]
    # What fails within torch may fill several lines.
    return _NOTES.get(error["kind"], "failed"), " ".join(error["words"].split())


def origin_of(found: Sequence[Line]) -> str | None:
    """Say which seeds there are, where there are any, and with which code they were made.

    Example:
        >>> origin_of([{"seed": seed, "versions": {"code": "8b1f"}} for seed in (0, 1, 4)])
        'seeds 0, 1, 4; code 8b1f'
    """
    if not found:
        return None
    seeds = sorted(line["seed"] for line in found if "seed" in line)
    several = "seeds" if len(seeds) > 1 else "seed"
    which = f"{several} {', '.join(map(str, seeds))}; " if seeds else ""
    return f"{which}code {', '.join(dict.fromkeys(map(code_of, found)))}"


def code_of(line: Line) -> str:
    """Return the hash of the code that a line was made with."""
    return line.get("versions", {}).get("code", "not known")


def lines_of(runs: Sequence[Run], lines: dict[str, Line]) -> list[Line]:
    """Return the lines of runs that were made with the settings they have now."""
    known = [(run, lines[run.command]) for run in runs if run.command in lines]
    return [line for run, line in known if run.agrees(line)]


_NOTES = {"memory": "OOM", "killed": "killed", "time": "OOT", "refused": "refused"}


def _value(line: Line, key: str) -> float | None:
    """Read a figure in percent."""
    if "error" in line:
        return None
    value = line["test_accuracy"] if not key else (line.get("latent_graph") or {}).get(key)
    return None if value is None else 100 * value
