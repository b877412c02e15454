"""The paper's figure of added and deleted edges."""

from typing import Literal, get_args

from bpgnn.experiments.experiment import Experiment
from bpgnn.experiments.run import Run, over_seeds
from bpgnn.methods.registry import METHODS

SYSTEMS = {
    **{name: (name, "tuned") for name in ("bpgnn", "gcn", "ddgm-e", "gat", "idgl", "slaps")},
    "gcn, the paper's settings": ("gcn", "paper"),
}
"""Method and preset of each line: the paper's GCN is one that nobody tuned, so both are drawn.

The paper shows BPGNN, GCN and dDGM-E; the others are ours.
"""

SHARES = (0.0, 0.25, 0.5, 0.75)


Change = Literal["added", "deleted"]


def cell(name: str, dataset: str, change: Change, share: float, seeds: range) -> list[Run]:
    """List the runs of one point of the figure, with the settings of the clean graph.

    A method that ignores the graph is run on the clean one alone: all others would give the same.
    """
    method, preset = SYSTEMS[name]
    if METHODS[method].graph_use == "ignored":
        share = 0.0
    added, dropped = (share, 0.0) if change == "added" else (0.0, share)
    return over_seeds(
        dataset, seeds, method=method, preset=preset, add_edges=added, drop_edges=dropped
    )


def grid(seeds: range) -> list[Run]:
    """List noisy, thinned and clean graphs."""
    return [
        run
        for name in SYSTEMS
        for dataset in ("cora", "citeseer")
        for change in get_args(Change)
        for share in SHARES
        for run in cell(name, dataset, change, share, seeds)
    ]


ROBUSTNESS = Experiment(
    "robustness", "What do added and deleted edges do to the accuracy?", 5, grid
)
