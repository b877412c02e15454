"""Whether learned weights tell true edges from added ones."""

from bpgnn.experiments.paper.recovery import DATASETS, INFERRING, RECOVERY, cell
from bpgnn.report.section import Section
from bpgnn.report.source import Source
from bpgnn.report.table import ReportTable

_CAPTION = (
    "Area under the ROC curve in percent of what an edge's messages count for, three random edges "
    "added for every four; chance is 50. "
    "The block models have 2,000 nodes and 5,000 edges within four classes, whose features are "
    "clear or faint."
)

_REMARK = (
    "What messages count for in IDGL and IDGL-ANCH is mostly the observed graph, divided by "
    "degrees. On Cora true edges lead to nodes of high degree more often than random ones do, so "
    "that this alone puts them below chance."
)

_HEADS = {"cora": "Cora", "blocks": "blocks, clear", "faint_blocks": "blocks, faint"}


def section(source: Source) -> Section:
    """Show the area of every method that infers a graph."""
    seeds = source.seeds(RECOVERY)
    columns = [(name,) for name in DATASETS]
    rows = source.rows(INFERRING, columns, cell, seeds, key="recovery")
    head = ("method", *(_HEADS[name] for name in DATASETS))
    table = ReportTable(_CAPTION, head, rows).with_best_marked()
    return Section("recovery", RECOVERY.question, (table,), remarks=(_REMARK,))
