"""Data without a graph, and with one that is hidden."""

from bpgnn.experiments.paper.no_graph import CASES, METHODS, NO_GRAPH, cell
from bpgnn.report.section import Section
from bpgnn.report.source import NAMES, Source
from bpgnn.report.table import ReportTable


def section(source: Source) -> Section:
    """Show accuracies where there is no graph."""
    seeds = source.seeds(NO_GRAPH)
    rows = source.rows(METHODS, CASES, cell, seeds)
    columns = {
        f"{NAMES.get(name, name)}{', hidden' if hidden else ''}": (name, hidden)
        for name, hidden in CASES
    }
    table = ReportTable("Test accuracy.", ("method", *columns), rows).with_best_marked()
    remarks = source.against_others(METHODS, columns, cell, seeds)
    return Section("no-graph", NO_GRAPH.question, (table,), remarks=remarks)
