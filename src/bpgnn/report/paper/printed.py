"""Rows of our figures beside those that the paper prints."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bpgnn.experiments.run import Run
from bpgnn.report.source import Source
from bpgnn.report.table import Entry


def rows_beside(
    source: Source,
    printed: Mapping[Any, Sequence[str]],
    datasets: Sequence[str],
    cell: Callable[[Any, str], list[Run]],
) -> tuple[tuple[str, tuple[Entry, ...]], ...]:
    """Make a row of each that the paper has one of.

    Args:
        source: The results.
        printed: What the paper prints for each data set, by what the row is about.
        datasets: The columns.
        cell: Lists the runs of a row and a data set.
    """
    return tuple(
        (
            str(about),
            tuple(
                source.entry(cell(about, dataset), words)
                for dataset, words in zip(datasets, figures, strict=True)
            ),
        )
        for about, figures in printed.items()
    )
