"""The main table over random splits."""

from bpgnn.experiments.paper.splits import SPLITS, cell
from bpgnn.experiments.paper.systems import DATASETS, SYSTEMS
from bpgnn.report.section import Section
from bpgnn.report.source import NAMES, Source
from bpgnn.report.table import ReportTable


def section(source: Source) -> Section:
    """Show every system, each seed with a split of its own."""
    seeds = source.seeds(SPLITS)
    rows = source.rows(SYSTEMS, [(name,) for name in DATASETS], cell, seeds)
    table = ReportTable("Test accuracy.", ("method", *NAMES.values()), rows)
    columns = {NAMES[name]: (name,) for name in DATASETS}
    remarks = source.against_others(SYSTEMS, columns, cell, seeds)
    return Section("splits", SPLITS.question, (table.with_best_marked(),), remarks=remarks)
