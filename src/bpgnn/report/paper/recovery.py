"""Whether learned weights tell true edges from added ones."""

from bpgnn.experiments.paper.recovery import INFERRING, RECOVERY, cell
from bpgnn.report.section import Section
from bpgnn.report.source import Source
from bpgnn.report.table import ReportTable

_CAPTION = "Area under the ROC curve in percent, Cora with 75 % random edges added; chance is 50."


def section(source: Source) -> Section:
    """Show the area of every method that infers a graph."""
    seeds = source.seeds(RECOVERY)
    rows = tuple(
        (method, (source.entry(cell(method, seeds), key="recovery"),)) for method in INFERRING
    )
    table = ReportTable(_CAPTION, ("method", "area"), rows).with_best_marked()
    return Section("recovery", RECOVERY.question, (table,))
