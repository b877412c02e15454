"""The paper's figure of labels by edge probability."""

from bpgnn.experiments.experiment import Experiment
from bpgnn.experiments.paper.systems import TRACKS
from bpgnn.experiments.run import Run, over_seeds


def cell(track: str, dataset: str, seeds: range) -> list[Run]:
    """List the runs of one panel of the figure."""
    return over_seeds(dataset, seeds, preset=track)


def grid(seeds: range) -> list[Run]:
    """List BPGNN on Cora and CiteSeer; the record of a run counts the pairs of test nodes."""
    return [
        run
        for track in TRACKS
        for dataset in ("cora", "citeseer")
        for run in cell(track, dataset, seeds)
    ]


HOMOPHILY = Experiment(
    "homophily",
    "Do two nodes share a label more often the more probable their edge is?",
    10,
    grid,
    needs="test_pairs",
)
