"""The Boolean product beside the sum and beside P alone."""

from bpgnn.experiments.paper.residual import CASES, RESIDUAL, RESIDUALS, cell
from bpgnn.report.section import Section
from bpgnn.report.source import NAMES, Source
from bpgnn.report.table import ReportTable


def section(source: Source) -> Section:
    """Show each on clean and on noisy graphs."""
    seeds = source.seeds(RESIDUAL)
    rows = tuple(
        (words, tuple(source.entry(cell(residual, *case, seeds)) for case in CASES))
        for residual, words in RESIDUALS.items()
    )
    heads = [f"{NAMES[name]}{', 75 % added' if share else ''}" for name, share in CASES]
    table = ReportTable("What the latent graph is drawn from.", ("drawn from", *heads), rows)
    return Section("residual", RESIDUAL.question, (table.with_best_marked(),))
