"""The paper's table of the number of Boolean layers."""

from bpgnn.experiments.paper.layers import DATASETS, LAYERS, PRINTED, cell
from bpgnn.report.paper.printed import rows_beside
from bpgnn.report.section import Section
from bpgnn.report.source import NAMES, Source
from bpgnn.report.table import ReportTable

_OURS = "one Boolean layer"
_NUMBERS = {"none": 0, _OURS: 1, "two": 2, "three": 3}


def section(source: Source) -> Section:
    """Put numbers of layers beside what the paper prints."""
    seeds = source.seeds(LAYERS)
    rows = rows_beside(source, PRINTED, DATASETS, lambda number, name: cell(number, name, seeds))
    head = ("Boolean layers", *(NAMES[dataset] for dataset in DATASETS))
    table = ReportTable("The tuned model with three layers in all.", head, rows)
    columns = {NAMES[dataset]: (dataset,) for dataset in DATASETS}
    remarks = source.against_others(
        _NUMBERS, columns, lambda words, *rest: cell(_NUMBERS[words], *rest), seeds, ours=_OURS
    )
    return Section("layers", LAYERS.question, (table.with_best_marked(),), remarks=remarks)
