"""The parts of the tuned model, one by one."""

from bpgnn.experiments.paper.ablation import ABLATION, CASES, VARIANTS, cell
from bpgnn.report.section import Section
from bpgnn.report.source import Source, graph_in_words
from bpgnn.report.table import ReportTable


def section(source: Source) -> Section:
    """Show the tuned model and what one change does to it."""
    seeds = source.seeds(ABLATION)
    rows = source.rows(VARIANTS, CASES, cell, seeds)
    head = ("", *(graph_in_words(*case) for case in CASES))
    table = ReportTable("The tuned BPGNN, and with a part changed.", head, rows)
    columns = {graph_in_words(*case): case for case in CASES}
    remarks = source.against_others(VARIANTS, columns, cell, seeds, ours="as tuned")
    return Section("ablation", ABLATION.question, (table.with_best_marked(),), remarks=remarks)
