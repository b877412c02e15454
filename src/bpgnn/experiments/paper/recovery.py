"""Whether learned weights tell true edges from added ones."""

from bpgnn.experiments.experiment import Experiment
from bpgnn.experiments.paper.systems import SYSTEMS
from bpgnn.experiments.run import Run, over_seeds
from bpgnn.methods.registry import METHODS

INFERRING = tuple(name for name in SYSTEMS if METHODS[name].infers_graph)


DATASETS = ("cora", "blocks", "faint_blocks")


def cell(method: str, dataset: str, seeds: range) -> list[Run]:
    """List the runs of one entry of the table."""
    return over_seeds(dataset, seeds, method=method, add_edges=0.75)


def grid(seeds: range) -> list[Run]:
    """List all that infer a graph on noisy graphs; the record of a run has the area."""
    return [
        run for dataset in DATASETS for method in INFERRING for run in cell(method, dataset, seeds)
    ]


RECOVERY = Experiment(
    "recovery",
    "Do the weights of messages tell true edges from added ones?",
    5,
    grid,
    needs="recovery",
)
