"""The front door for people's own data: a folder, a table, a GraphML file or arrays."""

import os
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

from bpgnn.data.files.arrays import read_own_arrays
from bpgnn.data.files.csv_table import FirstRow, read_csv
from bpgnn.data.files.graphml import read_graphml
from bpgnn.data.files.node_table import own_from_tables
from bpgnn.data.files.own import OwnData
from bpgnn.data.files.parquet_table import read_parquet
from bpgnn.data.files.refuse import listed
from bpgnn.data.files.table import FileTable
from bpgnn.errors import InputError

_TABLES = (".csv", ".tsv", ".parquet")
_WANTED = (
    "Wanted: a folder with nodes.csv or nodes.parquet and, if there is a graph, edges.csv or "
    "edges.parquet; a single table of nodes; a .graphml file; or an .npz file."
)


def read_own(
    path: str | os.PathLike[str],
    *,
    id_column: str | None = None,
    label_column: str | None = None,
    drop: Collection[str] = (),
    directed: bool = False,
) -> OwnData:
    r"""Read one's own data.

    Args:
        path: A folder with `nodes.csv` or `nodes.parquet` and perhaps `edges.csv` or
            `edges.parquet`, a single table of nodes, a `.graphml` file, or an `.npz` file.
        id_column: The column of ids. If left out: one called id, node, node_id or name, else
            the first one of text that differs in every row.
        label_column: The column of labels. If left out: one called label, class, target or y.
        drop: Columns to leave out.
        directed: Whether an edge without its twin is meant so; else it gets one.

    Returns:
        The data; what was repaired is among the `notes` of its data set.

    Raises:
        InputError: If something cannot be used, with file, line and what to do.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     text = "id,age,label\nann,31,yes\nbob,45,no\ncem,27,\n"
        ...     _ = Path(folder, "nodes.csv").write_text(text)
        ...     _ = Path(folder, "edges.csv").write_text("source,target\nann,bob\nbob,cem\n")
        ...     own = read_own(folder)
        >>> own.ids, own.dataset.labels.tolist(), own.dataset.num_pairs
        (('ann', 'bob', 'cem'), [1, 0, -1], 2)
    """
    place = Path(path)
    drop = (drop,) if isinstance(drop, str) else tuple(drop)
    chosen = {"id_column": id_column, "label_column": label_column, "drop": drop}
    if not place.exists():
        raise InputError(f"There is no file or folder {path}. {_WANTED}")
    if place.is_dir():
        nodes, edges = read_tables(place)
    elif place.suffix.lower() in _TABLES:
        nodes, edges = _read_table(place), None
    elif place.suffix.lower() in (".graphml", ".xml"):
        return read_graphml(place, directed=directed, **chosen)
    elif place.suffix.lower() == ".npz":
        if any(chosen.values()):
            raise InputError(f"{path} holds arrays, which have no columns to name or drop.")
        return read_own_arrays(place, directed=directed)
    else:
        raise InputError(f"{path} is of a kind that is not read here. {_WANTED}")
    name = place.resolve().name if place.is_dir() else place.stem
    own = own_from_tables(name, nodes, edges, directed=directed, **chosen)
    notes = unread_tables(place) + own.dataset.notes
    return replace(own, dataset=replace(own.dataset, notes=notes))


def unread_tables(place: Path) -> tuple[str, ...]:
    """Note tables that may hold edges and are not read: beside a file, or of another name.

    Args:
        place: A folder, or a table of nodes.
    """
    if place.is_dir():
        if _one_file(place, "edges") is not None:
            return ()
        others = [
            entry.name
            for entry in sorted(place.iterdir())
            if entry.suffix.lower() in (*_TABLES, ".txt") and entry.stem != "nodes"
        ]
        note = f"Not read in {place}: {listed(others)}. A table of edges must be called edges.csv."
        return (note,) if others else ()
    beside = [place.with_name("edges" + suffix) for suffix in _TABLES]
    found = [str(file) for file in beside if file.exists() and file.name != place.name]
    if not found:
        return ()
    how = f"call the table of nodes nodes{place.suffix} and name the folder instead"
    return (f"Not read: {found[0]}. For a graph, {how}.",)


def read_tables(folder: Path, known: Collection[str] = ()) -> tuple[FileTable, FileTable | None]:
    """Read the tables of nodes and edges in a folder.

    Args:
        folder: Where they are.
        known: Ids that edges may have beside those of the nodes.

    Returns:
        The nodes, and the edges or None.

    Raises:
        InputError: If there is no table of nodes, or there are two.
    """
    nodes_file, edges_file = _one_file(folder, "nodes"), _one_file(folder, "edges")
    if nodes_file is None:
        found = ", ".join(sorted(entry.name for entry in folder.iterdir())[:8]) or "nothing"
        raise InputError(f"{folder} has no nodes.csv. {_WANTED} Found: {found}.")
    nodes = _read_table(nodes_file)
    if edges_file is None:
        return nodes, None
    return nodes, _read_table(edges_file, _is_edge(nodes, frozenset(known)))


def _is_edge(nodes: FileTable, known: frozenset[str]) -> FirstRow:
    """Tell a first row of two cells in one column of the nodes from one that names columns."""
    columns = [cells for cells in nodes.columns.values() if cells.dtype.kind == "O"]

    def is_edge(row: Sequence[str]) -> bool:
        return any(
            sum(bool(cell) and (cell in known or bool((cells == cell).any())) for cell in row) > 1
            for cells in columns
        )

    return is_edge


def _one_file(folder: Path, stem: str) -> Path | None:
    found = [folder / (stem + suffix) for suffix in _TABLES if (folder / (stem + suffix)).exists()]
    if len(found) > 1:
        both = " and ".join(file.name for file in found)
        raise InputError(f"{folder} has both {both}. Remove one of them.")
    return found[0] if found else None


def _read_table(path: Path, is_data: FirstRow | None = None) -> FileTable:
    if path.suffix.lower() == ".parquet":
        return read_parquet(path)
    return read_csv(path, is_data=is_data)
