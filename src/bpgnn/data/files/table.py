"""A table from a file, which remembers where each row stood."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import final

import numpy as np

from bpgnn.errors import InputError


@final
@dataclass(frozen=True, eq=False)
class FileTable:
    """Hold columns by name, in the order of the file.

    Args:
        path: The file, as it was named by whoever asked.
        columns: Cells of each column, shape (N,): text, or numbers where the file has types.
        rows: What each row is called in messages: its line, its number or its node.
        row_word: What `rows` are: `line`, `row` or `node`.
        column_word: What columns are: `column` or `attribute`.

    Example:
        >>> table = FileTable("nodes.csv", {"age": np.array(["31"])}, rows=[2])
        >>> table.where("age", 0)
        "nodes.csv, line 2, column 'age'"
    """

    path: str
    columns: Mapping[str, np.ndarray]
    rows: Sequence[object] = field(repr=False)
    row_word: str = "line"
    column_word: str = "column"

    @property
    def num_rows(self) -> int:
        """Count the rows."""
        return len(self.rows)

    def where(self, column: str, row: int) -> str:
        """Say where a cell stands."""
        return f"{self.where_row(row)}, {self.column_word} {column!r}"

    def where_row(self, row: int) -> str:
        """Say where a row stands."""
        return f"{self.path}, {self.row_word} {self.rows[row]}"

    def find(self, name: str) -> str | None:
        """Find a column by name, in any case if there is none of that very name."""
        if name in self.columns:
            return name
        return next((own for own in self.columns if own.casefold() == name.casefold()), None)

    def without(self, names: Collection[str]) -> dict[str, np.ndarray]:
        """Return the columns but for some."""
        return {name: cells for name, cells in self.columns.items() if name not in names}


def refuse_names(path: str, names: Sequence[str], place: str) -> None:
    """Refuse columns that have no name, or the name of another.

    Example:
        >>> refuse_names("nodes.csv", ["id", "age"], "line 1")
    """
    seen: dict[str, int] = {}
    for position, name in enumerate(names, start=1):
        if not name:
            raise InputError(
                f"{path}, {place}: column {position} has no name. Write one there, `id` if it "
                "holds the nodes' ids."
            )
        if name in seen:
            raise InputError(
                f"{path}, {place}: columns {seen[name]} and {position} are both called {name!r}. "
                "Rename or remove one of them."
            )
        seen[name] = position
