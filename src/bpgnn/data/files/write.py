"""Tables written for people and other programs."""

import csv
import io
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from bpgnn.errors import InputError

# What a spreadsheet takes for the beginning of a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def write_table(path: str | os.PathLike[str], columns: Mapping[str, Any]) -> None:
    """Write columns of equal length as CSV or Parquet, whole or not at all.

    In CSV a text that a spreadsheet would take for a formula gets an apostrophe before it.

    Args:
        path: Ends in `.csv` or `.parquet`.
        columns: Cells by column name, each of shape (N,).

    Raises:
        InputError: If the ending is another, or the place cannot be written to.
    """
    path = Path(path)
    if path.suffix.lower() == ".csv":
        write_whole(path, _as_csv(columns))
    elif path.suffix.lower() == ".parquet":
        write_whole(path, _as_parquet(columns))
    else:
        raise InputError(f"{path} must end in .csv or .parquet.")


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


def _as_csv(columns: Mapping[str, Any]) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([safe_cell(name) for name in columns])
    lists = [np.asarray(cells).tolist() for cells in columns.values()]
    for row in zip(*lists, strict=True):
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
