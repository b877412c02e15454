"""What can be read, but perhaps not as it was meant: a note each."""

import re
import shlex
from collections.abc import Collection, Iterable, Mapping

import numpy as np

from bpgnn.data.counted import counted
from bpgnn.data.files.cells import is_number, numbers_of, texts_of
from bpgnn.data.files.columns import Column
from bpgnn.data.files.refuse import listed, shown

# What people write where they do not know a class.
_NOT_KNOWN = frozenset(
    ["?", "-", "--", "-1", "none", "unknown", "unlabeled", "unlabelled", "undefined", "missing"]
)
_DATE = re.compile(r"\d{4}[-./]\d{1,2}[-./]\d{1,2}([ T].*)?|\d{1,2}[-./]\d{1,2}[-./]\d{2,4}( .*)?")
_AMOUNT = re.compile(r"[+-]?(?:[$€£¥] ?[\d.,' ]*\d|\d[\d.,' ]*[$€£¥%])")
_CODE = re.compile(r"0\d+")
# Text with more values than this, and in more than half of the rows, hardly comes again.
_MANY_VALUES = 20
# What pandas calls the numbers of rows that it writes, and what people do.
_OF_PANDAS, _OF_PEOPLE = ("unnamed: 0", "__index_level_0__"), ("index", "row", "column 1")


def class_doubts(counts: Mapping[str, int]) -> tuple[str, ...]:
    """Note classes that may mean that no class is known, or the same as another one.

    Args:
        counts: The number of nodes of each class.

    Example:
        >>> class_doubts({"loyal": 30, "?": 400})[0][:36]
        "The class '?' has 400 nodes. If that"
    """
    words = [word for word in counts if word.casefold() in _NOT_KNOWN]
    if counts.keys() in ({"-1", "1"}, {"-1", "+1"}):  # A usual way to write no and yes.
        words = []
    unknown = tuple(
        f"The class {shown(word)} has {counted(counts[word], 'node', 'nodes')}. If that means that "
        "the class is not known, leave the label empty."
        for word in words
    )
    return unknown + _spelling_doubts(counts)


def _spelling_doubts(classes: Iterable[str]) -> tuple[str, ...]:
    alike: dict[float | str, list[str]] = {}
    for word in classes:
        alike.setdefault(float(word) if is_number(word) else word.casefold(), []).append(word)
    return tuple(
        f"The classes {listed(words)} {_difference(meant)}. If they are one, write them alike."
        for meant, words in alike.items()
        if len(words) > 1
    )


def _difference(meant: float | str) -> str:
    return "differ only in case" if isinstance(meant, str) else "are the same number"


def column_doubts(columns: Collection[Column], table: Mapping[str, np.ndarray]) -> tuple[str, ...]:
    """Note columns that became something else than they may be: dates, amounts, codes.

    Args:
        columns: What was learned.
        table: The cells, each of shape (N,).

    Example:
        >>> cells = {"since": np.array(["2020-01-31", "2021-05-02"])}
        >>> column_doubts([Column("since", "category", ("2020-01-31", "2021-05-02"))], cells)[0]
        "The column 'since' holds dates, each a category of its own (2). Write a number ..."
    """
    found = [(column.name, _doubt(column, table[column.name])) for column in columns]
    return tuple(
        f"The column {name!r} {doubt}, or leave it out with --drop {shlex.quote(name)}."
        for name, doubt in found
        if doubt
    )


def _doubt(column: Column, cells: np.ndarray) -> str:
    if column.kind == "number":
        texts = texts_of(cells.tolist()) if cells.dtype.kind in "OU" else []
        code = next((text for text in texts if _CODE.fullmatch(text)), None)
        if code is None:
            return ""
        return (
            f"is read as numbers, though {shown(code)} looks like a code. For a category write a "
            "letter before it"
        )
    values, num_rows = column.categories, len(cells)
    own = f"each a category of its own ({len(values):,})"
    if all(map(_DATE.fullmatch, values)):
        return f"holds dates, {own}. Write a number instead, such as years or days"
    if all(map(_AMOUNT.fullmatch, values)):
        return f"holds amounts such as {shown(values[0])}, {own}. Write plain numbers instead"
    if len(values) > max(_MANY_VALUES, num_rows / 2):
        return (
            f"has {len(values):,} different values in {num_rows:,} rows, each a category of its "
            "own, which says little. Merge the rare ones"
        )
    return ""


def row_numbers(table: Mapping[str, np.ndarray]) -> list[str]:
    """Name the columns that only number the rows, as pandas writes them.

    Args:
        table: The cells, each of shape (N,).

    Example:
        >>> row_numbers({"Unnamed: 0": np.array(["0", "1"]), "age": np.array(["0", "1"])})
        ['Unnamed: 0']
    """
    return [name for name, cells in table.items() if _numbers_rows(name.casefold(), cells)]


def _numbers_rows(name: str, cells: np.ndarray) -> bool:
    if name not in (*_OF_PANDAS, *_OF_PEOPLE) or len(cells) == 0:
        return False
    values = numbers_of(texts_of(cells.tolist()))
    if values is None or np.isnan(values).any() or np.unique(values).size < values.size:
        return False
    # A frame of which rows were taken out has gaps.
    return name in _OF_PANDAS or bool((np.diff(values) == 1).all())
