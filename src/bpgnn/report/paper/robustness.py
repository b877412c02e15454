"""The paper's figure of added and deleted edges."""

from typing import get_args

from bpgnn.experiments.paper.robustness import ROBUSTNESS, SHARES, SYSTEMS, Change, cell
from bpgnn.report.draw import Panel, draw, line_of
from bpgnn.report.section import Section
from bpgnn.report.source import NAMES, Source
from bpgnn.report.table import ReportTable

_CAPTION = "Test accuracy where edges are added and deleted, mean and standard deviation."

_PAPERS = (
    "The paper's figure has a GCN with the settings of its comparison. It is the last line here, "
    "beside the GCN whose settings were searched."
)

_IGNORED = "SLAPS does not look at the graph: what it has on the clean one stands in every column."


def section(source: Source) -> Section:
    """Show accuracy against the share of edges."""
    tables = tuple(
        _table(source, dataset, change)
        for dataset in ("cora", "citeseer")
        for change in get_args(Change)
    )
    figure = draw("robustness", _CAPTION, [_panel(table) for table in tables])
    seeds, most = source.seeds(ROBUSTNESS), SHARES[-1]
    columns = {
        f"{NAMES[dataset]}, {100 * most:.0f} % {change}": (dataset, change, most)
        for dataset in ("cora", "citeseer")
        for change in get_args(Change)
    }
    remarks = source.against_others(SYSTEMS, columns, cell, seeds)
    remarks = (*remarks, _PAPERS, _IGNORED)
    return Section("robustness", ROBUSTNESS.question, tables, (figure,), remarks)


def _table(source: Source, dataset: str, change: Change) -> ReportTable:
    seeds = source.seeds(ROBUSTNESS)
    rows = source.rows(SYSTEMS, [(dataset, change, share) for share in SHARES], cell, seeds)
    caption = f"{NAMES[dataset]}, edges {change}"
    head = ("share of the edges", *(f"{share:.0%}" for share in SHARES))
    return ReportTable(caption, head, rows).with_best_marked()


def _panel(table: ReportTable) -> Panel:
    shares = [100 * share for share in SHARES]
    series = tuple(line_of(name, shares, entries) for name, entries in table.rows)
    return Panel(table.caption, "share of the edges, %", "test accuracy, %", series, x_ticks=shares)
