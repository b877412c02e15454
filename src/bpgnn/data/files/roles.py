"""Which column names the nodes and which classifies them."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bpgnn.data.files.cells import in_order, is_missing, is_number, texts_of
from bpgnn.data.files.names import ID_NAMES, LABEL_NAMES
from bpgnn.data.files.refuse import shown
from bpgnn.data.files.table import FileTable
from bpgnn.errors import InputError, nearest

# More classes than this, and with fewer than two nodes each, are no classes.
_MANY_CLASSES = 20
_ENDS_IN_ID = re.compile(r"(?:^|[ _.-])[iI][dD]$|[a-z](?:ID|Id)$")


def named_column(table: FileTable, name: str, option: str) -> str:
    """Look up a column that somebody asked for.

    Example:
        >>> named_column(FileTable("t.csv", {"Key": np.array(["a"])}, [2]), "key", "--id-column")
        'Key'
    """
    found = table.find(name)
    if found is None:
        raise InputError(
            f"{table.path} has no {table.column_word} {name!r} ({option})."
            f"{nearest(name, table.columns)}"
        )
    return found


def find_id(table: FileTable, given: str | None, not_it: str | None = None) -> str | None:
    """Find the column of ids: the one given, one with a usual name, or one of distinct text.

    A usual name is `id` and the like, or one that ends so, as `customer_id` does, if all cells
    differ.

    Args:
        table: The nodes.
        given: Its name, where somebody said so.
        not_it: A column that has another part already.

    Example:
        >>> cells = {"age": np.array(["3", "4"]), "who": np.array(["Ann", "Bob"])}
        >>> find_id(FileTable("nodes.csv", cells, [2, 3]), None)
        'who'
    """
    if given is not None:
        return named_column(table, given, "--id-column")
    others = [name for name in table.columns if name != not_it]
    usual = [found for name in ID_NAMES if (found := table.find(name)) in others]
    for name in (*usual, *filter(is_id_name, others)):
        if _all_differ(texts_of(table.columns[name].tolist())):
            return name
    if usual:
        return usual[0]
    for name in others:
        cells = table.columns[name]
        if cells.dtype.kind in "OU" and _names_rows(texts_of(cells)):
            return name
    return None


def is_id_name(name: str) -> bool:
    """Tell whether a column's name says that it holds ids.

    Example:
        >>> [is_id_name(name) for name in ("Customer ID", "user_id", "userId", "paid")]
        [True, True, True, False]
    """
    return name.casefold() in ID_NAMES or _ENDS_IN_ID.search(name) is not None


def find_label(table: FileTable, given: str | None) -> str:
    """Find the column of classes: the one given, or one with a usual name.

    Example:
        >>> find_label(FileTable("nodes.csv", {"Class": np.array(["a"])}, [2]), None)
        'Class'
    """
    if given is not None:
        return named_column(table, given, "--label-column")
    for usual in LABEL_NAMES:
        found = table.find(usual)
        if found is not None:
            return found
    raise InputError(
        f"{table.path}: which {table.column_word} holds the classes? None is called "
        f"{', '.join(LABEL_NAMES)}. Name one of these with --label-column: "
        f"{_all_names(table)}."
    )


def refuse_no_id(table: FileTable) -> None:
    """Say how to name the column of ids where none was found and edges need one."""
    raise InputError(
        f"{table.path}: which {table.column_word} holds the ids that the edges join? None is "
        f"called {', '.join(ID_NAMES)}, or ends so, and none is text that differs in every row. "
        f"Name one of these with --id-column: {_all_names(table)}."
    )


def read_ids(table: FileTable, name: str) -> tuple[str, ...]:
    """Read the ids, each of which must be there and differ from all others.

    Example:
        >>> read_ids(FileTable("nodes.csv", {"id": np.array([7, 8])}, [2, 3]), "id")
        ('7', '8')
    """
    ids = texts_of(table.columns[name].tolist())
    first: dict[str, int] = {}
    for row, text in enumerate(ids):
        if not text or text == "nan":
            raise InputError(
                f"{table.where(name, row)}: the id is missing. Every node needs one of its own."
            )
        if first.setdefault(text, row) != row:
            raise InputError(
                f"{table.where(name, row)}: the id {shown(text)} was there before, in "
                f"{table.row_word} {table.rows[first[text]]}. Remove one of the two, or name "
                "another column with --id-column."
            )
    return tuple(ids)


def read_labels(path: str, name: str, cells: Any) -> tuple[Tensor, tuple[str, ...]]:  # (N,)
    """Number the classes, sorted by name; a node without one gets -1.

    Args:
        path: The file, for messages.
        name: The column.
        cells: Classes as text or numbers, empty or NA where unknown, shape (N,).

    Returns:
        Class numbers, shape (N,), and the classes' names.

    Example:
        >>> read_labels("nodes.csv", "label", ["b", "a", "", "b"])
        (tensor([ 1,  0, -1,  1]), ('a', 'b'))
    """
    texts = ["" if is_missing(text) else text for text in texts_of(cells)]
    classes = in_order(text for text in texts if text)
    num_labelled = sum(map(bool, texts))
    if len(classes) < 2:
        found = f"only {shown(classes[0])}" if classes else "no label at all"
        raise InputError(
            f"{path}, column {name!r}: there must be at least two classes, but there is {found}. "
            "Label some nodes of each, or name another column with --label-column."
        )
    if len(classes) > max(_MANY_CLASSES, num_labelled / 2):
        raise InputError(
            f"{path}, column {name!r}: {len(classes):,} classes among {num_labelled:,} labelled "
            f"nodes, such as {shown(classes[0])}, are too many to learn. Group the values, or "
            "name another column with --label-column."
        )
    number = {word: position for position, word in enumerate(classes)}
    codes = np.array([number.get(text, -1) for text in texts], dtype=np.int64)
    return torch.from_numpy(codes), classes


def _names_rows(texts: Sequence[str]) -> bool:
    return _all_differ(texts) and not all(is_number(text) for text in texts)


def _all_differ(texts: Sequence[str]) -> bool:
    distinct = set(texts)
    return len(distinct) == len(texts) and not any(is_missing(text) for text in distinct)


def _all_names(table: FileTable) -> str:
    return ", ".join(table.columns)
