"""The paper's table of data sets, which no run is needed for."""

from bpgnn.experiments.execute import Job
from bpgnn.experiments.experiment import Experiment


def grid(_: range) -> list[Job]:
    """List nothing: sizes are those of the catalogue, which every loading is checked against."""
    return []


DATA = Experiment("datasets", "What are the data?", 1, grid)

PRINTED: dict[str, tuple[str, str, str, str, str]] = {
    "cora": ("2708", "5278", "1433", "7", "3.9"),
    "citeseer": ("3327", "4552", "3703", "6", "2.7"),
    "pubmed": ("19717", "44324", "500", "3", "4.5"),
    "photo": ("7650", "119081", "745", "8", "31.1"),
}
"""What the paper prints: nodes, edges, features, classes and mean degree."""
