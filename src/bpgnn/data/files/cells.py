"""What one cell of a table says: text, a number, or nothing."""

import itertools
import re
from collections.abc import Iterable, Sequence

import numpy as np

from bpgnn.errors import InputError

# In every mixture of cases, so that a whole column is compared at once.
_MISSING = frozenset(
    "".join(letters)
    for word in ("", "na", "n/a", "nan", "null", "<na>", "nat")
    for letters in itertools.product(*zip(word, word.upper(), strict=True))
)
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")


def texts_of(values: Sequence[object] | np.ndarray) -> list[str]:
    """Write cells as text without spaces around it; a whole number has no point.

    Example:
        >>> texts_of([" Bern ", 3, 2.0, 2.5, True, None])
        ['Bern', '3', '2', '2.5', 'True', '']
    """
    try:
        return list(map(str.strip, values))  # pyright: ignore[reportArgumentType]
    except TypeError:
        return [_text(value) for value in values]


def _text(value: object) -> str:
    value = decoded(value)
    if value is None:
        return ""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value).strip()


def decoded(value: object) -> object:
    """Turn bytes, as numpy stores short text, into text; all else stays as it is.

    Example:
        >>> decoded(b"tea"), decoded(3)
        ('tea', 3)
    """
    if not isinstance(value, bytes):
        return value
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise InputError(
            f"Bytes must be text in UTF-8, but got {value!r}. Decode them first, say with "
            'value.decode("latin-1").'
        ) from None


def is_missing(text: str) -> bool:
    """Tell whether a cell says nothing: it is empty, NA, N/A, NaN or null, in any case.

    Example:
        >>> is_missing("NA"), is_missing("none")
        (True, False)
    """
    return text in _MISSING


def missing_rows(texts: Sequence[str]) -> list[int]:
    """List the rows whose cells say nothing.

    Example:
        >>> missing_rows(["a", "", "b", "NA"])
        [1, 3]
    """
    if _MISSING.isdisjoint(texts):
        return []
    return [row for row, text in enumerate(texts) if text in _MISSING]


def is_number(text: str) -> bool:
    """Tell whether a cell is a number such as 2, 1.5 or 1e3.

    Example:
        >>> is_number("1e3"), is_number("1,5"), is_number("1_000")
        (True, False, False)
    """
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text and not is_missing(text)


def has_decimal_comma(text: str) -> bool:
    """Tell whether a cell is a number to people who write a comma where we write a point.

    Example:
        >>> has_decimal_comma("1,5"), has_decimal_comma("1.5")
        (True, False)
    """
    return _DECIMAL_COMMA.fullmatch(text) is not None


def numbers_of(texts: Sequence[str]) -> np.ndarray | None:  # (N,)
    """Read cells as numbers, or return None where one of them is none.

    Example:
        >>> numbers_of(["1", "2.5"]).tolist(), numbers_of(["1", "two"])
        ([1.0, 2.5], None)
    """
    try:
        values = np.array(texts, dtype=object).astype(np.float64)
    except ValueError:
        return None
    # Python reads 1_000 as a number; in a table it is more likely a name.
    return None if "_" in "".join(texts) else values


def in_order(words: Iterable[str]) -> tuple[str, ...]:
    """Sort words once each, by value where all of them are numbers.

    Example:
        >>> in_order(["10", "9", "9"]), in_order(["b", "10", "9"])
        (('9', '10'), ('10', '9', 'b'))
    """
    unique = sorted(set(words))
    if all(is_number(word) for word in unique):
        unique.sort(key=float)
    return tuple(unique)
