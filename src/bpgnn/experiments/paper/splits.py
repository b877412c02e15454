"""The main table over random splits: one split of 500 test nodes says little."""

from bpgnn.experiments.experiment import Experiment
from bpgnn.experiments.paper.systems import DATASETS, SYSTEMS
from bpgnn.experiments.run import Run, over_seeds


def grid(seeds: range) -> list[Run]:
    """List every system on every data set, each seed with a split of its own."""
    return [
        run
        for method in SYSTEMS
        for dataset in DATASETS
        for run in over_seeds(dataset, seeds, method=method, split="random")
    ]


SPLITS = Experiment("splits", "Do the differences hold over random splits?", 10, grid)
