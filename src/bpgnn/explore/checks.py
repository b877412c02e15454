"""Whether arrays are what a scene needs, in a sentence each."""

from typing import Any

import numpy as np

from bpgnn.errors import InputError

# A mean of probabilities in single precision may come out a little above one.
_ROUNDING = 1e-5


def to_words(name: str, values: Any) -> np.ndarray:  # (M,)
    """Turn a list or an array of words into an array of strings.

    Example:
        >>> to_words("class_names", ["maths", "physics"]).tolist()
        ['maths', 'physics']
    """
    array = np.asarray(values, dtype=np.str_)
    if array.ndim != 1:
        raise InputError(f"`{name}` must be a list of words, but its shape is {array.shape}.")
    return array


def to_numbers(name: str, values: Any, dtype: type[np.int64] | type[np.float64]) -> np.ndarray:
    """Turn a list or an array of numbers into an array of the type, without loss.

    Example:
        >>> to_numbers("labels", [0, -1], np.int64).tolist()
        [0, -1]
    """
    array = np.asarray(values)
    wanted = "whole numbers" if dtype is np.int64 else "numbers"
    if array.dtype.kind not in ("iu" if dtype is np.int64 else "iuf") and array.size:
        raise InputError(f"`{name}` must hold {wanted}, but its type is {array.dtype}.")
    return array.astype(dtype)


def check_shape(name: str, array: np.ndarray, shape: tuple[int, ...]) -> None:
    """Refuse an array of another shape."""
    if array.shape != shape:
        raise InputError(f"`{name}` must have shape {shape}, but got {array.shape}.")


def check_numbers(name: str, array: np.ndarray, low: float = -np.inf) -> None:
    """Refuse numbers that are not finite or are too small."""
    if array.size and not (np.isfinite(array).all() and array.min() >= low):
        floor = "" if low == -np.inf else f" of at least {low}"
        raise InputError(f"`{name}` must hold finite numbers{floor}.")


def check_shares(name: str, array: np.ndarray) -> None:
    """Refuse numbers outside 0 to 1."""
    if array.size and not (array.min() >= 0 and array.max() <= 1 + _ROUNDING):
        raise InputError(
            f"`{name}` must hold numbers from 0 to 1, but it holds numbers from {array.min():.4g} "
            f"to {array.max():.4g}."
        )


def check_members(name: str, array: np.ndarray, low: int, end: int) -> None:
    """Refuse whole numbers below `low`, or from `end` on."""
    if array.size and not (array.min() >= low and array.max() < end):
        raise InputError(
            f"`{name}` must hold numbers from {low} to {end - 1}, but it holds numbers from "
            f"{array.min()} to {array.max()}."
        )


def check_pairs(pairs: np.ndarray, num_nodes: int) -> None:  # (2, E)
    """Refuse pairs of unknown nodes, of a node with itself, and pairs that come twice."""
    if pairs.ndim != 2 or pairs.shape[0] != 2:
        raise InputError(f"`pairs` must have shape (2, E), but got {pairs.shape}.")
    check_members("pairs", pairs, 0, num_nodes)
    if (pairs[0] == pairs[1]).any():
        raise InputError("`pairs` must join two different nodes. Leave out self-loops.")
    number = pairs.min(axis=0) * num_nodes + pairs.max(axis=0)
    twice = number.size - np.unique(number).size
    if twice:
        raise InputError(
            f"`pairs` must hold each pair once, in either order, but {twice} come again. Keep "
            "one direction of every edge."
        )


def check_witnesses(pointer: np.ndarray, nodes: np.ndarray, num_pairs: int, num_nodes: int) -> None:
    """Refuse a pointer that does not part the witnesses among the pairs."""
    check_shape("witness_pointer", pointer, (num_pairs + 1,))
    if nodes.ndim != 1:
        raise InputError(f"`witness_nodes` must be one list, but its shape is {nodes.shape}.")
    if pointer[0] != 0 or pointer[-1] != nodes.size or (np.diff(pointer) < 0).any():
        raise InputError(
            f"`witness_pointer` must rise from 0 to the number of witnesses, {nodes.size}, but it "
            f"goes from {pointer[0]} to {pointer[-1]}."
        )
    check_members("witness_nodes", nodes, 0, num_nodes)
