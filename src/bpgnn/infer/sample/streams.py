"""Random streams for compiled code: one for each row, independent of threads."""

import math
from typing import Any

import numba

Bits = Any  # 64 of them, unsigned: numba's type has no name for a type checker

_GOLDEN = numba.uint64(0x9E3779B97F4A7C15)
_FIRST = numba.uint64(0xBF58476D1CE4E5B9)
_SECOND = numba.uint64(0x94D049BB133111EB)


@numba.njit(inline="always")
def mixed(value: Bits) -> Bits:
    """Scramble 64 bits (the finaliser of splitmix64)."""
    value = numba.uint64(value)
    value = (value ^ (value >> numba.uint64(30))) * _FIRST
    value = (value ^ (value >> numba.uint64(27))) * _SECOND
    return value ^ (value >> numba.uint64(31))


@numba.njit(inline="always")
def stream_of(seed: int, row: int) -> Bits:
    """Begin the stream of a row; any row's can be begun without the others."""
    return mixed(numba.uint64(seed) + mixed(numba.uint64(row) + _GOLDEN))


@numba.njit(inline="always")
def advanced(state: Bits) -> Bits:
    """Step a stream; its new number is `mixed` of the new state."""
    return numba.uint64(state) + _GOLDEN


@numba.njit(inline="always")
def uniform(state: Bits) -> float:
    """Turn a state into a number between 0 and 1, with 53 bits, neither end included."""
    return (float(mixed(state) >> numba.uint64(11)) + 0.5) * (1.0 / 9007199254740992.0)


@numba.njit(inline="always")
def exponential(state: Bits) -> float:
    """Turn a state into a standard exponential variate."""
    return -math.log1p(-uniform(state))
