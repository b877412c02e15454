"""The main table over random splits: one split of 500 test nodes says little."""

from bpgnn.experiments.execute import Job
from bpgnn.experiments.experiment import Experiment
from bpgnn.experiments.paper.systems import DATASETS, SYSTEMS
from bpgnn.experiments.run import Run, over_seeds


def cell(method: str, dataset: str, seeds: range) -> list[Run]:
    """List the runs of one entry of the table, each seed with a split of its own."""
    return over_seeds(dataset, seeds, method=method, split="random")


def grid(seeds: range) -> list[Run]:
    """List every system on every data set."""
    return [run for one in SYSTEMS for name in DATASETS for run in cell(one, name, seeds)]


def is_quick(job: Job) -> bool:
    """Leave the large data out of a fast pass: it has them in the main table."""
    return isinstance(job, Run) and job.dataset in ("cora", "citeseer")


SPLITS = Experiment("splits", "Do the differences hold over random splits?", 10, grid, is_quick)
