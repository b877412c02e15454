"""What all commands say, and in which way."""

import sys
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


@contextmanager
def stoppable(console: Console, words: str) -> Iterator[None]:
    """Say how to go on when Ctrl-C is pressed."""
    try:
        yield
    except KeyboardInterrupt:
        say(console, f"Stopped. {words}")
        sys.exit(130)
