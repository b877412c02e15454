"""Accuracy against the number of labels."""

from bpgnn.experiments.paper.labels import COUNTS, LABELS, METHODS, cell
from bpgnn.report.draw import Panel, draw, line_of
from bpgnn.report.section import Section
from bpgnn.report.source import NAMES, Source
from bpgnn.report.table import ReportTable

_CAPTION = "Test accuracy by training labels of each class, mean and standard deviation."


def section(source: Source) -> Section:
    """Show accuracy against labels per class."""
    tables = tuple(_table(source, dataset) for dataset in ("cora", "citeseer"))
    panels = [
        Panel(
            table.caption,
            "labels of each class",
            "test accuracy, %",
            tuple(line_of(name, COUNTS, entries) for name, entries in table.rows),
        )
        for table in tables
    ]
    columns = {
        f"{NAMES[dataset]}, {count} of each class": (dataset, count)
        for dataset in ("cora", "citeseer")
        for count in COUNTS
    }
    remarks = source.against_others(METHODS, columns, cell, source.seeds(LABELS))
    return Section("labels", LABELS.question, tables, (draw("labels", _CAPTION, panels),), remarks)


def _table(source: Source, dataset: str) -> ReportTable:
    seeds = source.seeds(LABELS)
    rows = source.rows(METHODS, [(dataset, count) for count in COUNTS], cell, seeds)
    head = ("labels of each class", *map(str, COUNTS))
    return ReportTable(NAMES[dataset], head, rows).with_best_marked()
