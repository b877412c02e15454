"""What all commands say, and in which way."""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console


def say(console: Console, line: str) -> None:
    """Print a line as it is: paths may hold brackets, and a pipe wants no wrapping."""
    console.print(line, markup=False, highlight=False, soft_wrap=True)


def say_notes(console: Console, notes: tuple[str, ...]) -> None:
    """Print what is worth knowing, a line each."""
    for note in notes:
        say(console, f"Note: {note}")


class _TerminatedError(KeyboardInterrupt):
    """Leave as by Ctrl-C: the system, or a queue of jobs, asked this process to end."""


@contextmanager
def stoppable(console: Console, words: str) -> Iterator[None]:
    """Say how to go on when Ctrl-C is pressed, or the process is asked to end."""
    try:
        with _terminating():
            yield
    except KeyboardInterrupt as error:
        say(console, f"Stopped. {words}")
        # What a shell says of a process that a signal ended.
        ending = signal.SIGTERM if isinstance(error, _TerminatedError) else signal.SIGINT
        sys.exit(128 + ending)


@contextmanager
def _terminating() -> Iterator[None]:
    """Turn the signal to end into an exception; elsewhere than in the main thread it cannot be."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(*_: object) -> None:
        raise _TerminatedError

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
