"""The Boolean product beside the sum and beside P alone."""

from bpgnn.experiments.paper.residual import CASES, RESIDUAL, RESIDUALS, WITNESSES, cell
from bpgnn.report.difference import difference_of, in_points, verdict
from bpgnn.report.section import Section
from bpgnn.report.source import Source, graph_in_words
from bpgnn.report.table import Entry, ReportTable


def section(source: Source) -> Section:
    """Show each on clean and on noisy graphs."""
    seeds = source.seeds(RESIDUAL)
    rows = tuple(
        (RESIDUALS[name], entries) for name, entries in source.rows(RESIDUALS, CASES, cell, seeds)
    )
    heads = [graph_in_words(*case) for case in CASES]
    table = ReportTable("What the latent graph is drawn from.", ("drawn from", *heads), rows)
    remarks = [words for other in ("sum", "none") if (words := _against(source, other))]
    remarks += _best_witnesses(dict(rows), heads)
    marked = table.with_best_marked()
    return Section("residual", RESIDUAL.question, (marked,), remarks=tuple(remarks))


def _best_witnesses(rows: dict[str, tuple[Entry, ...]], heads: list[str]) -> list[str]:
    """Name the form of witness with the highest mean, where several were run."""
    parts = []
    for place, head in enumerate(heads):
        forms = {RESIDUALS[one]: rows[RESIDUALS[one]][place] for one in WITNESSES}
        known = {name: one.mean for name, one in forms.items() if one.mean is not None}
        if len(known) > 1:
            best = max(known, key=lambda name: known[name])
            parts.append(f"{head}: {best}, {forms[best].text}")
    return [f"The form of witness with the highest mean: {'; '.join(parts)}."] if parts else []


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
        f"The Boolean product against {RESIDUALS[other]} on the same seeds, in points: "
        f"{'; '.join(parts)}."
    )
