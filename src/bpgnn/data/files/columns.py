"""What the columns of a feature table are, learned once and used for all later tables."""

import shlex
import warnings
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import repeat
from typing import Any, Literal, Self, final, get_args

import numpy as np
import torch
from torch import Tensor

from bpgnn.data.files.cells import in_order, is_number, missing_rows, numbers_of, texts_of
from bpgnn.data.files.refuse import (
    Where,
    listed,
    refuse_bad_numbers,
    refuse_ids,
    refuse_missing,
    refuse_slips,
    shown,
)
from bpgnn.errors import InputError, RepairWarning

ColumnKind = Literal["number", "category"]


@final
@dataclass(frozen=True)
class Column:
    """Describe one column.

    Args:
        name: Its name.
        kind: `number`, or `category` for text and truth values.
        categories: The values of a category, in order.
    """

    name: str
    kind: ColumnKind
    categories: tuple[str, ...] = ()

    @property
    def width(self) -> int:
        """Count the features that it becomes."""
        return 1 if self.kind == "number" else len(self.categories)


@final
@dataclass(frozen=True)
class Columns:
    """Describe a feature table: what to look for in another one, and how to encode it.

    Args:
        items: The columns, in order.
    """

    items: tuple[Column, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Name the columns."""
        return tuple(column.name for column in self.items)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Name the features: a number as its column, a category as `column=value`."""
        return tuple(
            column.name if column.kind == "number" else f"{column.name}={value}"
            for column in self.items
            for value in (column.categories or ("",))[: column.width]
        )

    @property
    def num_features(self) -> int:
        """Count the features, F."""
        return sum(column.width for column in self.items)

    def to_json(self) -> dict[str, Any]:
        """Write the description as plain values."""
        return {
            "columns": [
                {"name": item.name, "kind": item.kind, "categories": list(item.categories)}
                for item in self.items
            ]
        }

    @classmethod
    def from_json(cls, stored: object) -> Self:
        """Read what :meth:`to_json` wrote.

        Raises:
            InputError: If it is damaged.
        """
        try:
            items = tuple(_column_from(item) for item in stored["columns"])  # pyright: ignore[reportIndexIssue]
            if len({item.name for item in items}) < len(items) or not items:
                raise ValueError("names must be there, and differ")
        except (LookupError, TypeError, ValueError) as error:
            raise InputError(
                f"The description of the columns is damaged ({error}). Read the data again."
            ) from error
        return cls(items)


def learn_columns(
    table: Mapping[Any, Any], *, where: Where | None = None, how_to_drop: str = "drop the column"
) -> Columns:
    """Learn what the columns of a feature table are.

    A column whose cells are all numbers is one of numbers; any other, truth values among
    them, is a category. Text around which there are spaces is taken without them.

    Args:
        table: Cells by column name, each of shape (N,); a `dict(frame.items())` of pandas too.
        where: Says where a cell stands, for messages.
        how_to_drop: What messages advise for a column that cannot be used; NAME in it becomes
            the column's.

    Returns:
        The description, for :func:`encode`.

    Raises:
        InputError: If a cell is missing, or a column is of no use as a feature.

    Example:
        >>> columns = learn_columns({"age": ["31", "45"], "city": ["Bern", "Basel"]})
        >>> columns.feature_names
        ('age', 'city=Basel', 'city=Bern')
    """
    where = where or _where_in_memory
    if not table or len(next(iter(table.values()))) == 0:
        raise InputError("There are no features. Give every node at least one.")
    try:
        learned = [_learn(str(name), cells, where, how_to_drop) for name, cells in table.items()]
    except InputError as error:
        raise InputError(f"{error}{_also_missing(table)}") from error
    if len({item.name for item in learned}) < len(learned):
        raise InputError("Two columns have the same name. Rename one of them.")
    return Columns(tuple(learned))


def encode(
    columns: Columns, table: Mapping[Any, Any], *, where: Where | None = None
) -> Tensor:  # (N, F)
    """Turn a table into features: numbers as they are, a category as one 0/1 feature a value.

    Case counts only where values differ by nothing else: a spreadsheet's TRUE is True. A value
    that a category did not have when it was learned becomes zeros throughout, with a
    :class:`RepairWarning` that names it.

    Args:
        columns: What :func:`learn_columns` gave.
        table: Cells by column name, each of shape (N,). Further columns are left alone.
        where: Says where a cell stands, for messages.

    Returns:
        32-bit floats, shape (N, F).

    Raises:
        InputError: If a column or a cell is missing, or a number is none.

    Example:
        >>> columns = learn_columns({"age": [31, 45], "city": ["Bern", "Basel"]})
        >>> encode(columns, {"city": ["Bern"], "age": [20]})
        tensor([[20.,  0.,  1.]])
    """
    features, notes = encode_with_notes(columns, table, where=where)
    for note in notes:
        warnings.warn(note, RepairWarning, stacklevel=2)
    return features


def encode_with_notes(
    columns: Columns, table: Mapping[Any, Any], *, where: Where | None = None
) -> tuple[Tensor, tuple[str, ...]]:  # (N, F)
    """Do as :func:`encode`, and return what there is to warn of instead of warning.

    Example:
        >>> columns = learn_columns({"city": ["Bern", "Basel"]})
        >>> encode_with_notes(columns, {"city": ["Chur"]})[1]
        ("Column 'city' has values that were not there in training, taken as none: 'Chur'.",)
    """
    where = where or _where_in_memory
    named = {str(name): cells for name, cells in table.items()}
    if absent := [name for name in columns.names if name not in named]:
        raise InputError(
            f"The column {absent[0]!r} is missing; columns that were trained on: "
            f"{listed(columns.names)}. Add it."
        )
    num_rows = len(named[columns.names[0]])
    features = np.zeros((num_rows, columns.num_features), dtype=np.float32)
    notes, start = [], 0
    for column in columns.items:
        cells = named[column.name]
        if len(cells) != num_rows:
            raise InputError(
                f"The column {column.name!r} has {len(cells)} cells, but the first one has "
                f"{num_rows}. Give every column as many."
            )
        if column.kind == "number":
            features[:, start] = _numbers(column.name, cells, where)
        else:
            notes += _mark(features[:, start : start + column.width], column, cells, where)
        start += column.width
    return torch.from_numpy(features), tuple(notes)


def _learn(name: str, cells: Any, where: Where, how_to_drop: str) -> Column:
    array = np.asarray(cells)
    how_to_drop = how_to_drop.replace("NAME", shlex.quote(name))
    if array.dtype.kind in "iuf":
        refuse_bad_numbers(name, array.astype(np.float64), where, how_to_drop)
        return Column(name, "number")
    texts = _texts(array)
    refuse_missing(name, texts, where, how_to_drop)
    values = numbers_of(texts)
    if values is not None and len(texts):
        refuse_bad_numbers(name, values, where, how_to_drop)
        return Column(name, "number")
    refuse_slips(name, texts, where, how_to_drop)
    categories = in_order(texts)
    refuse_ids(name, categories, len(texts), where, how_to_drop)
    return Column(name, "category", categories)


def _also_missing(table: Mapping[Any, Any]) -> str:
    """Name all columns with gaps at once, so that nobody has to come back for each."""
    arrays = {str(name): np.asarray(cells) for name, cells in table.items()}
    gaps = [name for name, array in arrays.items() if missing_rows(_texts(array))]
    return f" Values are missing in all of: {listed(gaps)}." if len(gaps) > 1 else ""


def _numbers(name: str, cells: Any, where: Where) -> np.ndarray:  # (N,)
    array = np.asarray(cells)
    how = "drop that row"
    if array.dtype.kind in "iuf":
        values = array.astype(np.float64)
    else:
        texts = _texts(array)
        refuse_missing(name, texts, where, how)
        values = numbers_of(texts)
        if values is None:
            row = next(row for row, text in enumerate(texts) if not is_number(text))
            raise InputError(
                f"{where(name, row)}: {shown(texts[row])} is not a number, but in training the "
                "column held numbers only. Write a number there, such as 1.5."
            )
    refuse_bad_numbers(name, values, where, how)
    return values


def _mark(block: np.ndarray, column: Column, cells: Any, where: Where) -> list[str]:
    """Set a one for the category of each row; return what there is to note."""
    texts = _texts(np.asarray(cells))
    refuse_missing(column.name, texts, where, "drop that row")
    number = _with_other_cases(column.categories, texts)
    codes = np.fromiter(map(number.get, texts, repeat(-1)), dtype=np.int64, count=len(texts))
    known = np.flatnonzero(codes >= 0)
    block[known, codes[known]] = 1
    unseen = in_order(text for text in set(texts) if text not in number)
    if not unseen:
        return []
    known_as = "values that were not there in training, taken as none"
    return [f"Column {column.name!r} has {known_as}: {listed(unseen)}."]


def _with_other_cases(categories: tuple[str, ...], texts: list[str]) -> dict[str, int]:
    """Number categories, and words that are like just one of them but for case, as TRUE is True."""
    number = {value: position for position, value in enumerate(categories)}
    others = set(texts) - number.keys()
    alike = Counter(map(str.casefold, categories))
    folded = {value.casefold(): position for value, position in number.items()}
    single = {word: word.casefold() for word in others if alike[word.casefold()] == 1}
    return number | {word: folded[case] for word, case in single.items()}


def _column_from(stored: Any) -> Column:
    name, kind, categories = stored["name"], stored["kind"], tuple(stored["categories"])
    if not isinstance(name, str) or kind not in get_args(ColumnKind):
        raise ValueError(f"{name!r} is {kind!r}")
    if not all(isinstance(value, str) for value in categories):
        raise ValueError(f"the values of {name!r} are not text")
    if len(set(categories)) < len(categories) or bool(categories) != (kind == "category"):
        raise ValueError(f"the values of {name!r} do not fit")
    return Column(name, kind, categories)


def _texts(array: np.ndarray) -> list[str]:
    # Python's own values are quicker to read than numpy's, but a numpy date would lose its form.
    return texts_of(array.tolist() if array.dtype.kind in "bUO" else array)


def _where_in_memory(name: str, row: int) -> str:
    return f"Column {name!r}, row {row}"
