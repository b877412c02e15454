"""What can go wrong, by name."""

import difflib
import re
from collections.abc import Iterable
from typing import final


class BPGNNError(Exception):
    """Stand for every failure that this library explains in a sentence."""


@final
class InputError(BPGNNError, ValueError):
    """Say that what the caller handed in cannot be used, and what would be."""


@final
class DataUnavailableError(BPGNNError):
    """Say that a data set is neither on this machine nor to be had from the network."""


@final
class RunFolderError(BPGNNError):
    """Say that a run folder is damaged, foreign or cannot be written."""


@final
class NotEnoughMemoryError(BPGNNError):
    """Say that a method would need more memory than there is, and how much."""


@final
class StoreError(BPGNNError):
    """Say that the store of results is damaged, foreign, or in use by another process."""


@final
class RepairWarning(UserWarning):
    """Say that an input was repaired, and how."""


def nearest(word: str, known: Iterable[object]) -> str:
    """Suggest the known word nearest to a misspelt one, as the end of a sentence.

    Example:
        >>> nearest("coar", ["cora", "photo"])
        ' Did you mean cora? Known: cora, photo.'
    """
    words = [str(name) for name in known]
    close = difflib.get_close_matches(word.lower(), words, n=1, cutoff=0.5)
    hint = f" Did you mean {close[0]}?" if close else ""
    return f"{hint} Known: {', '.join(words)}."


def is_out_of_memory(error: BaseException) -> bool:
    """Tell whether something failed for want of memory; torch says so in words only.

    Example:
        >>> is_out_of_memory(RuntimeError("DefaultCPUAllocator: can't allocate memory"))
        True
    """
    words = re.search("alloc.* memory|bad_alloc|out of memory", str(error))
    return isinstance(error, MemoryError) or words is not None
