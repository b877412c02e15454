"""Seeds as generators: no global random state is used or changed."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch.utils import deterministic as _deterministic

from bpgnn.errors import InputError

# A module whose one setting type checkers do not know.
deterministic: Any = _deterministic


def generator_for(seed: int, *stream: int, device: torch.device | str = "cpu") -> torch.Generator:
    """Make a generator for one purpose of a run.

    Different `stream` numbers give independent streams of the same seed, so that drawing
    more of one thing (a graph, say) does not change another (dropout).

    Example:
        >>> a, b = generator_for(0, 1), generator_for(0, 1)
        >>> bool(torch.rand(1, generator=a) == torch.rand(1, generator=b))
        True
    """
    state = np.random.SeedSequence((seed, *stream)).generate_state(1, np.uint64)[0]
    # A torch seed is a signed number of 64 bits.
    return torch.Generator(device).manual_seed(int(state >> np.uint64(1)))


@contextmanager
def seeded_globally(seed: int, *stream: int) -> Iterator[None]:
    """Give torch's own initialisers a seed, and put the global state back afterwards.

    Only for building modules: their initialisers take no generator.
    """
    with torch.random.fork_rng(devices=[]):
        torch.set_rng_state(generator_for(seed, *stream).get_state())
        yield


@contextmanager
def repeatable_sums(device: torch.device) -> Iterator[None]:
    """Let gradients add up in the same order each time, on several threads as well.

    torch adds what several entries send to one place as its threads come, and the last bits
    differ. Its other way costs nothing that could be measured on a processor; elsewhere it lacks
    some operations, and nothing is changed.
    """
    if device.type != "cpu" or torch.are_deterministic_algorithms_enabled():
        yield
        return
    filled = deterministic.fill_uninitialized_memory
    # By the way, new tensors would be filled with NaN.
    deterministic.fill_uninitialized_memory = False
    torch.use_deterministic_algorithms(True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(False)
        deterministic.fill_uninitialized_memory = filled


def numpy_generator_for(seed: int, *stream: int) -> np.random.Generator:
    """Make numpy's kind of generator for one purpose of a run.

    Example:
        >>> a, b = numpy_generator_for(0, 1), numpy_generator_for(0, 1)
        >>> bool(a.random() == b.random())
        True
    """
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InputError(f"`seed` must be a whole number from 0 up, but got {seed!r}.")
    return np.random.default_rng(np.random.SeedSequence((int(seed), *stream)))
