"""Tables of comma-separated values."""

import csv
import io
import os
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

import numpy as np

from bpgnn.data.files.cells import is_missing, is_number, texts_of
from bpgnn.data.files.names import END_NAMES, ID_NAMES, LABEL_NAMES
from bpgnn.data.files.table import FileTable, refuse_names
from bpgnn.errors import InputError

_DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
# Rows that are looked at to find the delimiter, and whether there is a header.
_FIRST = 200
_USUAL_NAMES = frozenset(
    [*ID_NAMES, *LABEL_NAMES, "weight", *(name for pair in END_NAMES for name in pair)]
)
_IN_UTF8 = "Save it as UTF-8 (in a spreadsheet: 'CSV UTF-8')."

FirstRow = Callable[[Sequence[str]], bool]


def read_csv(path: str | os.PathLike[str], *, is_data: FirstRow | None = None) -> FileTable:
    """Read a CSV file in UTF-8, with commas, semicolons, tabs or bars between cells.

    The first row names the columns, unless it looks just like the others: some column holds
    numbers from the first row on, no column begins with text and goes on with numbers, and no
    cell of the row is a usual name such as `id` that its column has once only. Columns without
    names are called `column 1`, `column 2` and so on, and so is a first column whose name alone
    is missing; an empty column without a name is left out. Spaces around cells are dropped, and so
    are empty rows.

    Args:
        path: The file.
        is_data: Tells of a first row that it is data, whatever it looks like.

    Returns:
        Text by column, with the line of every row.

    Raises:
        InputError: If the file is missing, in another encoding, or its rows differ in length.
    """
    text = _text_of(Path(path))
    delimiter = _delimiter(text)
    lines, rows = _rows_of(str(path), text, delimiter)
    if not rows:
        raise InputError(f"{path} is empty. Write a first line with the columns' names.")
    first = [texts_of(row) for row in rows[:_FIRST]]
    if _has_header(first) and not (is_data is not None and is_data(first[0])):
        names, rows = _without_empty(texts_of(rows.pop(0)), rows)
        refuse_names(str(path), names, f"line {lines.pop(0)}")
    else:
        names = [f"column {position}" for position in range(1, len(rows[0]) + 1)]
    _refuse_ragged(str(path), names, rows, lines, delimiter)
    cells = zip(*rows, strict=True) if rows else ([] for _ in names)
    columns = {
        name: np.array(texts_of(column), dtype=object)
        for name, column in zip(names, cells, strict=True)
    }
    return FileTable(str(path), columns, lines)


def _without_empty(names: list[str], rows: list[list[str]]) -> tuple[list[str], list[list[str]]]:
    """Take columns without a name away if nothing is in them; call a first one by its place."""
    if all(names) or any(len(row) != len(names) for row in rows):
        return names, rows
    if not names[0] and any(row[0].strip() for row in rows) and "column 1" not in names:
        names = ["column 1", *names[1:]]
    kept = [
        place
        for place, name in enumerate(names)
        if name or not rows or any(row[place].strip() for row in rows)
    ]
    return [names[place] for place in kept], [[row[place] for place in kept] for row in rows]


def _text_of(path: Path) -> str:
    try:
        content = path.read_bytes()
    except FileNotFoundError as error:
        raise InputError(f"There is no file {path}. Check the path.") from error
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror or error}).") from error
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise InputError(f"{path} is in UTF-16. {_IN_UTF8}")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}, line {line}: this is not UTF-8. {_IN_UTF8}") from error
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise InputError(f"{path}, line {line}: this is no text file. {_IN_UTF8}")
    return text


def _delimiter(text: str) -> str:
    """Choose what parts the first rows into cells: into equally many, and many of them."""

    def quality(delimiter: str) -> tuple[bool, int]:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        widths = []
        try:
            for row in reader:
                if row:
                    widths.append(len(row))
                if len(widths) == 20:
                    break
        except csv.Error:
            return False, 0
        first = widths[0] if widths else 0
        return first > 1 and len(set(widths)) == 1, first

    return max(_DELIMITERS, key=quality)


def _rows_of(path: str, text: str, delimiter: str) -> tuple[list[int], list[list[str]]]:
    """Read rows with the lines that they begin on; a cell in quotes may go over several."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    lines, rows, begun = [], [], 1
    try:
        for row in reader:
            # Ended by the first cell that is not empty, mostly the first of all.
            if any(map(str.strip, row)):
                lines.append(begun)
                rows.append(row)
            begun = reader.line_num + 1
    except csv.Error as error:
        raise InputError(
            f"{path}, line {begun}: the row cannot be read ({error}). Look for a quotation mark "
            "that is not closed; one within a quoted cell is written twice."
        ) from error
    return lines, rows


def _has_header(rows: Sequence[Sequence[str]]) -> bool:
    first, others = rows[0], rows[1:]
    continues = False
    for position, cell in enumerate(first):
        rest = [row[position] for row in others if position < len(row)]
        if cell.casefold() in _USUAL_NAMES and cell not in rest:
            return True
        numeric = all(is_number(text) for text in rest if not is_missing(text))
        if numeric and rest and not is_number(cell) and not is_missing(cell):
            return True
        continues |= numeric and is_number(cell)
    return not continues


def _refuse_ragged(
    path: str,
    names: Collection[str],
    rows: Sequence[Sequence[str]],
    lines: Sequence[int],
    delimiter: str,
) -> None:
    if set(map(len, rows)) <= {len(names)}:
        return
    for line, row in zip(lines, rows, strict=True):
        if len(row) != len(names):
            raise InputError(
                f"{path}, line {line}: the row has {len(row)} cells, but there are {len(names)} "
                f"columns. Complete it, or put a cell that holds a {_DELIMITERS[delimiter]} into "
                'quotes ("…").'
            )
