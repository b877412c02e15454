"""The paper's figure of added and deleted edges."""

from bpgnn.experiments.experiment import Experiment
from bpgnn.experiments.run import Run, over_seeds

METHODS = ("bpgnn", "gcn", "ddgm-e", "gat", "idgl", "slaps")
"""The paper shows BPGNN, GCN and dDGM-E; the others are ours."""

SHARES = (0.25, 0.5, 0.75)


def grid(seeds: range) -> list[Run]:
    """List noisy and thinned graphs, each method with the settings of the clean graph."""
    return [
        run
        for method in METHODS
        for dataset in ("cora", "citeseer")
        for kind in ("add_edges", "drop_edges")
        for share in SHARES
        for run in over_seeds(dataset, seeds, method=method, **{kind: share})
    ]


ROBUSTNESS = Experiment(
    "robustness", "What do added and deleted edges do to the accuracy?", 5, grid
)
