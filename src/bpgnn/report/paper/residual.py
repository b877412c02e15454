"""The Boolean product beside the sum and beside P alone."""

from bpgnn.experiments.paper.residual import CASES, RESIDUAL, RESIDUALS, cell
from bpgnn.report.difference import difference_of, in_points, verdict
from bpgnn.report.section import Section
from bpgnn.report.source import Source, graph_in_words
from bpgnn.report.table import ReportTable


def section(source: Source) -> Section:
    """Show each on clean and on noisy graphs."""
    seeds = source.seeds(RESIDUAL)
    rows = tuple(
        (RESIDUALS[name], entries) for name, entries in source.rows(RESIDUALS, CASES, cell, seeds)
    )
    heads = [graph_in_words(*case) for case in CASES]
    table = ReportTable("What the latent graph is drawn from.", ("drawn from", *heads), rows)
    remarks = tuple(words for other in ("sum", "none") if (words := _against(source, other)))
    return Section("residual", RESIDUAL.question, (table.with_best_marked(),), remarks=remarks)


def _against(source: Source, other: str) -> str | None:
    """Say plainly whether the Boolean product is ahead of another residual."""
    seeds = source.seeds(RESIDUAL)
    parts = []
    for case in CASES:
        ours, theirs = (source.found(cell(one, *case, seeds)) for one in ("boolean", other))
        gap = difference_of(ours, theirs)
        if gap is not None:
            parts.append(f"{graph_in_words(*case)} {verdict(gap)}, {in_points(gap)}")
    if not parts:
        return None
    return (
        f"The Boolean product against {RESIDUALS[other]}, in points on the same seeds with a "
        f"bootstrap interval: {'; '.join(parts)}."
    )
