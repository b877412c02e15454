"""Tables in Parquet files."""

import os
from pathlib import Path
from typing import Any

import numpy as np

from bpgnn.data.files.table import FileTable, refuse_names
from bpgnn.errors import InputError


def read_parquet(path: str | os.PathLike[str]) -> FileTable:
    """Read a Parquet file; numbers stay numbers, and rows are counted from 1.

    Args:
        path: The file.

    Returns:
        Cells by column.

    Raises:
        InputError: If pyarrow is not installed, or the file is missing or damaged.
    """
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError as error:
        raise InputError(
            f"{path}: a Parquet file needs pyarrow. Install it with: pip install bpgnn[parquet]"
        ) from error
    if not Path(path).is_file():
        raise InputError(f"There is no file {path}. Check the path.")
    try:
        table = parquet.ParquetFile(path).read()
        refuse_names(str(path), table.column_names, "first row")
        columns = {name: _cells(table.column(name)) for name in table.column_names}
    except (pa.ArrowException, OSError) as error:
        words = str(error).splitlines()[0]
        raise InputError(
            f"{path} is damaged or no Parquet file ({words}). Write it again."
        ) from error
    return FileTable(str(path), columns, range(1, table.num_rows + 1), row_word="row")


def _cells(column: Any) -> np.ndarray:  # (N,)
    from pyarrow import types

    kind = column.type
    if types.is_integer(kind) or types.is_floating(kind):
        return column.to_numpy()
    if types.is_decimal(kind):
        return column.cast("float64").to_numpy()
    cells = np.empty(len(column), dtype=object)
    cells[:] = column.to_pylist()
    return cells
