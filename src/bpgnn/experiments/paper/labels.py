"""Accuracy against the number of labels."""

from bpgnn.experiments.experiment import Experiment
from bpgnn.experiments.run import Run, over_seeds

METHODS = ("bpgnn", "gcn", "gat", "ddgm-e", "mlp")

COUNTS = (5, 10, 20, 50, 100)
"""Training labels of each class."""


def cell(method: str, dataset: str, count: int, seeds: range) -> list[Run]:
    """List the runs of one point of the figure."""
    return over_seeds(dataset, seeds, method=method, labels_per_class=count)


def grid(seeds: range) -> list[Run]:
    """List every method with few labels and with more."""
    return [
        run
        for dataset in ("cora", "citeseer")
        for method in METHODS
        for count in COUNTS
        for run in cell(method, dataset, count, seeds)
    ]


LABELS = Experiment("labels", "How many labels does each method need?", 5, grid)
