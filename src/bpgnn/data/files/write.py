"""Tables written for people and other programs."""

import csv
import io
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from bpgnn.data.files.refuse import listed
from bpgnn.errors import InputError

# What a spreadsheet takes for the beginning of a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def write_table(path: str | os.PathLike[str], columns: Mapping[str, Any]) -> tuple[str, ...]:
    """Write columns of equal length as CSV or Parquet, whole or not at all.

    In CSV a text that a spreadsheet would take for a formula gets an apostrophe before it.

    Args:
        path: Ends in `.csv` or `.parquet`.
        columns: Cells by column name, each of shape (N,).

    Returns:
        A note where cells got an apostrophe, else nothing.

    Raises:
        InputError: If the ending is another, or the place cannot be written to.
    """
    path = Path(path)
    if path.suffix.lower() == ".parquet":
        write_whole(path, _as_parquet(columns))
        return ()
    if path.suffix.lower() != ".csv":
        raise InputError(f"{path} must end in .csv or .parquet.")
    lists = [np.asarray(cells).tolist() for cells in columns.values()]
    write_whole(path, _as_csv(list(columns), lists))
    changed = [cell for cells in (columns, *lists) for cell in cells if safe_cell(cell) is not cell]
    note = (
        f"{path} has an apostrophe before texts that a spreadsheet would take for a formula, such "
        f"as {listed(changed[:1])}. Parquet holds them as they are."
    )
    return (note,) if changed else ()


def write_whole(path: Path, content: bytes) -> None:
    """Write a file under a temporary name, and rename it."""
    aside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        aside.write_bytes(content)
        aside.replace(path)
    except OSError as error:
        raise InputError(f"Cannot write {path}: {error.strerror}. Choose another place.") from None
    finally:
        if aside.parent.is_dir():
            aside.unlink(missing_ok=True)


def safe_cell(cell: object) -> object:
    """Return a cell that no spreadsheet takes for a formula.

    Example:
        >>> safe_cell("=1+1"), safe_cell("-3"), safe_cell("Bern")
        ("'=1+1", '-3', 'Bern')
    """
    if isinstance(cell, str) and cell.startswith(_FORMULA) and not _is_number(cell):
        return f"'{cell}"
    return cell


def _as_csv(names: list[str], columns: list[list[object]]) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([safe_cell(name) for name in names])
    for row in zip(*columns, strict=True):
        writer.writerow([_shown(cell) for cell in row])
    return text.getvalue().encode(errors="replace")


def _shown(cell: object) -> object:
    return f"{cell:.6g}" if isinstance(cell, float) else safe_cell(cell)


def _as_parquet(columns: Mapping[str, Any]) -> bytes:
    try:
        import pyarrow as pa
        import pyarrow.parquet
    except ImportError:
        raise InputError(
            "A Parquet file needs pyarrow. Install it with: pip install bpgnn[parquet]"
        ) from None
    sink = io.BytesIO()
    table = pa.table({name: pa.array(np.asarray(cells)) for name, cells in columns.items()})
    pyarrow.parquet.write_table(table, sink)
    return sink.getvalue()


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
