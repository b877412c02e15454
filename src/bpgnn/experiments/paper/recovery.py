"""Whether learned weights tell true edges from added ones."""

from bpgnn.experiments.experiment import Experiment
from bpgnn.experiments.paper.systems import SYSTEMS
from bpgnn.experiments.run import Run, over_seeds
from bpgnn.methods.registry import METHODS

INFERRING = tuple(name for name in SYSTEMS if METHODS[name].infers_graph)


def cell(method: str, seeds: range) -> list[Run]:
    """List the runs of one method."""
    return over_seeds("cora", seeds, method=method, add_edges=0.75)


def grid(seeds: range) -> list[Run]:
    """List all that infer a graph on noisy Cora; the record of a run has the area."""
    return [run for method in INFERRING for run in cell(method, seeds)]


RECOVERY = Experiment(
    "recovery", "Do the weights of the latent graph tell true edges from added ones?", 5, grid
)
