"""The paper's claim, which it never tests: that the Boolean product is the right residual."""

from bpgnn.experiments.experiment import Experiment
from bpgnn.experiments.run import Run, over_seeds

RESIDUALS = ("boolean", "sum", "none")
"""A ⋄ P, A + α·P, and P alone."""


def grid(seeds: range) -> list[Run]:
    """List each residual on clean graphs and with three edges added for every four."""
    return [
        run
        for dataset in ("cora", "citeseer", "pubmed")
        for share in (0.75, 0.0)
        for residual in RESIDUALS
        for run in over_seeds(
            dataset,
            seeds,
            add_edges=share,
            changes={} if residual == "boolean" else {"residual": residual},
        )
    ]


RESIDUAL = Experiment(
    "residual", "Is the Boolean product ahead of the sum A + α·P, and of P alone?", 5, grid
)
