"""The one place where names become experiments."""

from bpgnn.experiments.experiment import Experiment
from bpgnn.experiments.paper.ablation import ABLATION
from bpgnn.experiments.paper.aggregation import AGGREGATION
from bpgnn.experiments.paper.datasets import DATA
from bpgnn.experiments.paper.homophily import HOMOPHILY
from bpgnn.experiments.paper.labels import LABELS
from bpgnn.experiments.paper.layers import LAYERS
from bpgnn.experiments.paper.no_graph import NO_GRAPH
from bpgnn.experiments.paper.recovery import RECOVERY
from bpgnn.experiments.paper.residual import RESIDUAL
from bpgnn.experiments.paper.results import RESULTS
from bpgnn.experiments.paper.robustness import ROBUSTNESS
from bpgnn.experiments.paper.speed import SPEED
from bpgnn.experiments.paper.splits import SPLITS

EXPERIMENTS: dict[str, Experiment] = {
    "datasets": DATA,
    "results": RESULTS,
    "robustness": ROBUSTNESS,
    "homophily": HOMOPHILY,
    "layers": LAYERS,
    "aggregation": AGGREGATION,
    "speed": SPEED,
    "residual": RESIDUAL,
    "recovery": RECOVERY,
    "ablation": ABLATION,
    "labels": LABELS,
    "no-graph": NO_GRAPH,
    "splits": SPLITS,
}
