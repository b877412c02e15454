"""The paper's table of the number of Boolean layers."""

from bpgnn.experiments.experiment import Experiment
from bpgnn.experiments.run import Run, over_seeds

NUMBERS = (0, 1, 2, 3)

WIDTHS = (64, 64)
"""With the scores' own layer as many as there may be Boolean ones, for every number of these."""


DATASETS = ("cora", "citeseer", "pubmed")


def cell(number: int, dataset: str, seeds: range) -> list[Run]:
    """List the runs of one entry of the table."""
    changes = {"hidden": WIDTHS, "scores": "messages", "boolean_layers": number}
    return over_seeds(dataset, seeds, changes=changes)


def grid(seeds: range) -> list[Run]:
    """List the tuned model of three layers with some of them Boolean."""
    return [
        run for dataset in DATASETS for number in NUMBERS for run in cell(number, dataset, seeds)
    ]


LAYERS = Experiment("layers", "How many Boolean layers are best?", 5, grid)

PRINTED: dict[int, tuple[str, str, str]] = {
    0: ("78.74 ± 1.250", "67.74 ± 1.723", "83.60 ± 1.233"),
    1: ("86.36 ± 0.920", "75.92 ± 1.200", "88.40 ± 0.770"),
    2: ("87.10 ± 0.326", "76.34 ± 0.580", "87.12 ± 0.859"),
    3: ("86.82 ± 0.817", "75.54 ± 0.925", "86.72 ± 0.531"),
}
"""What the paper prints for Cora, CiteSeer and PubMed."""
