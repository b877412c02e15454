"""Why a column or a cell is of no use as a feature, and what to do about it."""

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from bpgnn.data.files.cells import has_decimal_comma, is_number, missing_rows
from bpgnn.errors import InputError

Where = Callable[[str, int], str]
"""Says where the cell of a column and a row stands."""

MOST_CATEGORIES = 1000
# Text with more different values than this, and in more than half of the rows, is an id.
_MANY_VALUES = 200
# A column of so many numbers, of so many values, is one of numbers with slips in it.
_MOSTLY_NUMBERS, _FEW_NUMBERS = 0.9, 20


def refuse_missing(name: str, texts: Sequence[str], where: Where, how_to_drop: str) -> None:
    """Refuse text cells that say nothing."""
    rows = missing_rows(texts)
    if rows:
        _refuse_empty(name, rows[0], len(rows), len(texts), where, how_to_drop)


def _refuse_empty(
    name: str, row: int, count: int, num_rows: int, where: Where, how_to_drop: str
) -> None:
    raise InputError(
        f"{where(name, row)}: the value is missing ({count:,} of {num_rows:,} in this column). "
        f"Fill it in, for instance with the column's mean or the word unknown, or {how_to_drop}."
    )


def refuse_bad_numbers(name: str, values: np.ndarray, where: Where, how_to_drop: str) -> None:
    """Refuse numbers that are missing, infinite or too large."""
    missing = np.flatnonzero(np.isnan(values))
    if missing.size:
        _refuse_empty(name, int(missing[0]), missing.size, values.size, where, how_to_drop)
    large = np.flatnonzero(np.abs(values) > np.finfo(np.float32).max)
    if large.size:
        row = int(large[0])
        raise InputError(
            f"{where(name, row)}: {values[row]:g} is infinite or too large for a feature. "
            f"Correct it, or {how_to_drop}."
        )


def refuse_slips(name: str, texts: Sequence[str], where: Where, how_to_drop: str) -> None:
    """Refuse text among numbers, where it can only be a slip or a foreign way to write them."""
    count = Counter(texts)
    others = {text for text in count if not is_number(text)}
    if not others:
        return
    row = next(row for row, text in enumerate(texts) if text in others)
    if all(map(has_decimal_comma, others)):
        raise InputError(
            f"{where(name, row)}: {texts[row]!r} has a comma in a number. Write a point (1.5) "
            f"and nothing between thousands (1000), or {how_to_drop}."
        )
    numbers = len(texts) - sum(count[text] for text in others)
    if numbers >= _MOSTLY_NUMBERS * len(texts) and len(count) > _FEW_NUMBERS:
        raise InputError(
            f"{where(name, row)}: {shown(texts[row])} is not a number, but {numbers:,} of the "
            f"{len(texts):,} cells in this column are. Correct it, or {how_to_drop}."
        )


def refuse_ids(
    name: str, categories: Sequence[str], num_rows: int, where: Where, how_to_drop: str
) -> None:
    """Refuse text of too many values to be a category."""
    count = len(categories)
    if count > _MANY_VALUES and count > num_rows / 2:
        raise InputError(
            f"{where(name, 0)} and below looks like an id, a date or free text: {count:,} "
            f"different values in {num_rows:,} rows, such as {shown(categories[0])}. As a "
            f"feature it would say nothing; {how_to_drop}."
        )
    if count > MOST_CATEGORIES:
        raise InputError(
            f"{where(name, 0)} and below has {count:,} different values, more than the "
            f"{MOST_CATEGORIES:,} that a category may have. Merge the rare ones into one, or "
            f"{how_to_drop}."
        )


def shown(text: str) -> str:
    """Quote a text, cut where it is long.

    Example:
        >>> shown("Bern")
        "'Bern'"
    """
    return repr(text if len(text) <= 40 else text[:39] + "…")


def listed(words: Sequence[str]) -> str:
    """List words, the first few where there are many.

    Example:
        >>> listed(["a", "b"])
        "'a', 'b'"
    """
    first = ", ".join(shown(word) for word in words[:5])
    return first if len(words) <= 5 else f"{first} and {len(words) - 5:,} more"
