"""The id that somebody may have meant."""

import difflib
import heapq
import re
from collections.abc import Collection
from itertools import takewhile

# Ids that begin and end most like a wrong one; to compare it with all would take seconds.
_COMPARED = 300
_WHOLE = re.compile(r"0*([0-9]+)(\.0+)?")


def plain(text: str) -> str:
    """Write a whole number without zeros before it or a point after it; other text as it is.

    Example:
        >>> plain("007"), plain("12.0"), plain("C07")
        ('7', '12', 'C07')
    """
    found = _WHOLE.fullmatch(text)
    return text if found is None else found[1]


def nearest_id(word: str, ids: Collection[str]) -> str | None:
    """Find the id most like a wrong one, or None where none is much like it.

    Example:
        >>> nearest_id("7", ["117", "007"]), nearest_id("c-10", ["C-10", "c-11"])
        ('007', 'C-10')
    """
    bare = plain(word).casefold()
    for own in ids:
        if plain(own).casefold() == bare:
            return own

    def likeness(own: str) -> int:
        return _num_shared(own, word) + _num_shared(own[::-1], word[::-1])

    near = heapq.nlargest(_COMPARED, ids, key=likeness)
    return next(iter(difflib.get_close_matches(word, near, n=1, cutoff=0.5)), None)


def _num_shared(one: str, other: str) -> int:
    """Count the letters with which two words begin alike."""
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
