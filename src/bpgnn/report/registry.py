"""The one place where names become sections of the report, in its order."""

from collections.abc import Callable

from bpgnn.report.paper import (
    ablation,
    aggregation,
    datasets,
    homophily,
    labels,
    layers,
    no_graph,
    recovery,
    residual,
    results,
    robustness,
    speed,
    splits,
)
from bpgnn.report.section import Section
from bpgnn.report.source import Source

SECTIONS: dict[str, Callable[[Source], Section]] = {
    "datasets": datasets.section,
    "results": results.section,
    "robustness": robustness.section,
    "homophily": homophily.section,
    "layers": layers.section,
    "aggregation": aggregation.section,
    "speed": speed.section,
    "residual": residual.section,
    "recovery": recovery.section,
    "ablation": ablation.section,
    "labels": labels.section,
    "no-graph": no_graph.section,
    "splits": splits.section,
}
