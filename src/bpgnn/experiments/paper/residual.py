"""The paper's claim, which it never tests: that the Boolean product is the right residual."""

from bpgnn.experiments.experiment import Experiment
from bpgnn.experiments.run import Run, over_seeds

RESIDUALS = {
    "boolean": "A ⋄ P",
    "equal": "A ⋄ P, equal votes",
    "mixed": "A ⋄ P, gated and mixed votes",
    "sum": "A + α·P",
    "none": "P alone",
}
"""What the latent graph is drawn from: the product as tuned, with other witnesses, or none."""

WITNESSES = ("boolean", "equal", "mixed")
"""Those that are Boolean products."""

CASES = tuple(
    (dataset, share) for dataset in ("cora", "citeseer", "pubmed") for share in (0.75, 0.0)
)
"""Data sets, clean and with three edges added for every four."""


def cell(residual: str, dataset: str, share: float, seeds: range) -> list[Run]:
    """List the runs of one entry of the table."""
    setting = "witness" if residual in WITNESSES else "residual"
    changes = {} if residual == "boolean" else {setting: residual}
    return over_seeds(dataset, seeds, add_edges=share, changes=changes)


def grid(seeds: range) -> list[Run]:
    """List each residual on each graph."""
    return [run for case in CASES for one in RESIDUALS for run in cell(one, *case, seeds)]


RESIDUAL = Experiment(
    "residual", "Is the Boolean product ahead of the sum A + α·P, and of P alone?", 5, grid
)
