"""The parts of the tuned model, one by one."""

from bpgnn.experiments.paper.ablation import ABLATION, CASES, VARIANTS, cell
from bpgnn.report.section import Section
from bpgnn.report.source import Source, graph_in_words
from bpgnn.report.table import Entry, ReportTable

_TUNED = "as tuned"


def section(source: Source) -> Section:
    """Show the tuned model and what one change does to it."""
    seeds = source.seeds(ABLATION)
    rows = tuple(
        (name, tuple(_entry(source, name, *case, seeds) for case in CASES)) for name in VARIANTS
    )
    head = ("", *(graph_in_words(*case) for case in CASES))
    table = ReportTable("The tuned BPGNN, and with a part changed.", head, rows)
    columns = {graph_in_words(*case): case for case in CASES}
    remarks = source.against_others(VARIANTS, columns, cell, seeds, ours=_TUNED)
    return Section("ablation", ABLATION.question, (table.with_best_marked(),), remarks=remarks)


def _entry(source: Source, variant: str, dataset: str, share: float, seeds: range) -> Entry:
    runs = cell(variant, dataset, share, seeds)
    if variant != _TUNED and runs == cell(_TUNED, dataset, share, seeds):
        # The preset of this data set has it so: these are the same runs.
        return Entry(note=_TUNED)
    return source.entry(runs)
