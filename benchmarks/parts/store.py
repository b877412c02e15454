"""Finished cells of a benchmark, one JSON line each, and how they are printed."""

import json
import math
from pathlib import Path


def read_lines(path: Path) -> list[dict]:
    """Read the finished cells; a torn last line does not count."""
    found = []
    for line in path.read_text().splitlines() if path.exists() else []:
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return found


def append_line(path: Path, record: dict) -> None:
    """Append a finished cell, whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.write(json.dumps(record) + "\n")


def print_table(head: list[str], rows: list[list[str]]) -> None:
    """Print a table in Markdown."""
    print("|", " | ".join(head), "|")
    print("|---" * len(head), "|", sep="")
    for row in rows:
        print("|", " | ".join(row), "|")


def short(value: float) -> str:
    """Write a positive number with two digits or all whole ones, without exponents.

    So 0.0123 becomes 0.012, 3.14 becomes 3.1, and 12345.6 becomes 12,346; nan is a dash.
    """
    if math.isnan(value):
        return "–"
    if value <= 0:
        return "0"
    places = max(0, 1 - math.floor(math.log10(value)))
    return f"{value:,.{min(places, 4)}f}"
