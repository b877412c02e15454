"""Data without a graph, and with one that is hidden."""

from bpgnn.experiments.experiment import Experiment
from bpgnn.experiments.run import Run, over_seeds

METHODS = ("bpgnn", "mlp", "knn-gcn", "slaps", "ddgm-e", "idgl")


CASES = (
    *(("digits", 0.0), ("wine", 0.0), ("breast_cancer", 0.0)),
    *(("cora", 1.0), ("citeseer", 1.0)),
)
"""Data sets, and the share of edges that is hidden."""


def cell(method: str, dataset: str, hidden: float, seeds: range) -> list[Run]:
    """List the runs of one entry of the table."""
    return over_seeds(dataset, seeds, method=method, drop_edges=hidden)


def grid(seeds: range) -> list[Run]:
    """List tables, and citation graphs all of whose edges are dropped."""
    return [run for case in CASES for method in METHODS for run in cell(method, *case, seeds)]


NO_GRAPH = Experiment("no-graph", "How accurate are they where there is no graph?", 3, grid)
