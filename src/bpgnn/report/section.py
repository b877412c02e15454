"""A section of the report: what was asked, and the tables and figures that answer."""

from dataclasses import dataclass
from typing import final

from bpgnn.report.table import ReportTable


@final
@dataclass(frozen=True)
class Figure:
    """Hold a drawing.

    Args:
        name: Of its files.
        caption: What it shows, for those who do not see it as well.
        svg: The drawing for a page.
        png: The same in pixels.
    """

    name: str
    caption: str
    svg: str
    png: bytes


@final
@dataclass(frozen=True)
class Section:
    """Hold what one experiment has come to.

    Args:
        name: Of the experiment.
        question: What it asks.
        tables: Of figures.
        figures: Drawings.
        remarks: Sentences that follow from the figures.
        drawn: The commands behind the drawings, where no table has them, by what they are of,
            with their origin.
    """

    name: str
    question: str
    tables: tuple[ReportTable, ...] = ()
    figures: tuple[Figure, ...] = ()
    remarks: tuple[str, ...] = ()
    drawn: tuple[tuple[str, str, str | None], ...] = ()

    @property
    def commands(self) -> list[tuple[str, str, str | None]]:
        """List every entry's place, the command that makes its first run again, and its origin."""
        return [*self.drawn] + [
            (f"{name}, {column}", entry.command, entry.origin)
            for table in self.tables
            for name, entries in table.rows
            for column, entry in zip(table.head[1:], entries, strict=True)
            if entry.command is not None
        ]
