"""The paper's table of aggregation functions."""

from bpgnn.experiments.experiment import Experiment
from bpgnn.experiments.run import Run, over_seeds

FUNCTIONS = ("gcn", "gat", "edgeconv")


DATASETS = ("cora", "citeseer", "pubmed")


def cell(function: str, dataset: str, seeds: range) -> list[Run]:
    """List the runs of one entry of the table."""
    changes = {} if function == "gcn" else {"aggregation": function}
    return over_seeds(dataset, seeds, changes=changes)


def grid(seeds: range) -> list[Run]:
    """List the tuned model with each function."""
    return [run for name in DATASETS for one in FUNCTIONS for run in cell(one, name, seeds)]


AGGREGATION = Experiment("aggregation", "Which aggregation function is best?", 5, grid)

PRINTED: dict[str, tuple[str, str, str]] = {
    "gcn": ("87.10 ± 0.326", "76.34 ± 0.580", "88.40 ± 0.770"),
    "gat": ("87.30 ± 1.020", "76.22 ± 1.130", "88.20 ± 0.704"),
    "edgeconv": ("55.70 ± 5.100", "52.44 ± 2.890", "86.08 ± 0.900"),
}
"""What the paper prints for Cora, CiteSeer and PubMed."""
