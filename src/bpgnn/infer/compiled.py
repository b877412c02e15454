"""How compiled functions are compiled."""

from collections.abc import Callable
from typing import Any

import numba


def lean(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function that makes no arrays of its own, without counting references.

    Passing a tuple of arrays from function to function otherwise counts each array up and
    down again: half of the time of a sample, measured.
    """
    compiler: Any = numba.njit
    return compiler(cache=True, _nrt=False)(function)


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a small function into its callers.

    Tuples of arrays are passed as a hundred numbers, which cost more than a short function
    itself does.
    """
    compiler: Any = numba.njit
    return compiler(cache=True, _nrt=False, forceinline=True)(function)
