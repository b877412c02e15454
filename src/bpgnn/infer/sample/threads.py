"""Rows shared among threads, for compiled code that lets go of the interpreter."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import torch


def in_threads(num_rows: int, work: Callable[[int, int], None]) -> None:
    """Call `work` for ranges of rows, on as many threads as torch may use.

    Numba's own threads keep a processor busy while they wait, which doubled the cost of a
    training step on one thread; these sleep.

    Example:
        >>> seen = []
        >>> in_threads(5, lambda begin, end: seen.extend(range(begin, end)))
        >>> sorted(seen)
        [0, 1, 2, 3, 4]
    """
    threads = torch.get_num_threads()
    if threads == 1:
        work(0, num_rows)
        return
    # More ranges than threads, since rows differ in cost.
    size = max(1, -(-num_rows // (8 * threads)))
    with ThreadPoolExecutor(threads) as pool:
        parts = [
            pool.submit(work, begin, min(begin + size, num_rows))
            for begin in range(0, num_rows, size)
        ]
    for part in parts:
        part.result()
