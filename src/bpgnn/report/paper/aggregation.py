"""The paper's table of aggregation functions."""

from bpgnn.experiments.paper.aggregation import AGGREGATION, DATASETS, PRINTED, cell
from bpgnn.report.paper.printed import rows_beside
from bpgnn.report.section import Section
from bpgnn.report.source import NAMES, Source
from bpgnn.report.table import ReportTable


def section(source: Source) -> Section:
    """Put functions beside what the paper prints."""
    seeds = source.seeds(AGGREGATION)
    rows = rows_beside(
        source, PRINTED, DATASETS, lambda function, name: cell(function, name, seeds)
    )
    head = ("aggregation", *(NAMES[dataset] for dataset in DATASETS))
    table = ReportTable("The tuned model.", head, rows).with_best_marked()
    columns = {NAMES[dataset]: (dataset,) for dataset in DATASETS}
    remarks = source.against_others(PRINTED, columns, cell, seeds, ours="gcn")
    return Section("aggregation", AGGREGATION.question, (table,), remarks=remarks)
