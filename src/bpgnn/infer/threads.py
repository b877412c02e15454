"""Rows shared among threads, for compiled code that lets go of the interpreter."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

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


def in_parts(bounds: list[int], work: Callable[[int, int, int], None]) -> None:
    """Call `work` with the number, begin and end of each part, on torch's number of threads.

    The parts are the same whatever the number of threads, for sums that must be as well.

    Example:
        >>> in_parts([0, 3], lambda part, begin, end: print(part, begin, end))
        0 0 3
    """
    parts = list(enumerate(pairwise(bounds)))
    if torch.get_num_threads() == 1 or len(parts) == 1:
        for part, (begin, end) in parts:
            work(part, begin, end)
        return
    with ThreadPoolExecutor(torch.get_num_threads()) as pool:
        running = [pool.submit(work, part, begin, end) for part, (begin, end) in parts]
    for part in running:
        part.result()
