"""The one record of a run, and the plan that makes it again."""

import hashlib
import importlib.metadata
import platform
import resource
import sys
from dataclasses import asdict, dataclass
from typing import Any, final

import torch

from bpgnn import __version__
from bpgnn.data.dataset import Dataset


@final
@dataclass(frozen=True)
class LatentSummary:
    """Compare the latent graph with the observed one.

    Args:
        kept: Observed pairs that are in a sampled graph.
        added: Sampled pairs that were not observed.
        dropped: Observed pairs in none of the sampled graphs.
        observed_homophily: Share of observed edges whose ends have the same label.
        latent_homophily: The same share of latent edges, each counted by its weight.
    """

    kept: int
    added: int
    dropped: int
    observed_homophily: float | None
    latent_homophily: float | None


@final
@dataclass(frozen=True)
class RunRecord:
    """Say what was run and what came out; accuracies are shares from 0 to 1."""

    method: str
    dataset: str
    split: str
    preset: str
    seed: int
    add_edges: float
    drop_edges: float
    test_accuracy: float
    validation_accuracy: float
    validation_loss: float
    test_macro_f1: float
    test_balanced_accuracy: float
    steps: int
    best_step: int
    latent_graph: LatentSummary | None
    cpu_seconds: float
    wall_seconds: float
    peak_memory_mb: float
    sampler: str | None
    device: str
    threads: int
    versions: dict[str, str]
    settings: dict[str, Any]

    def to_json(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return asdict(self)


def versions() -> dict[str, str]:
    """List the versions that a result depends on."""
    names = ("torch", "numpy", "scipy", "scikit-learn", "torch-geometric")
    found = {name: importlib.metadata.version(name) for name in names}
    return {"bpgnn": __version__, "python": platform.python_version(), **found}


def peak_memory_mb() -> float:
    """Measure the most memory that this process has held."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1024 * 1024 if sys.platform == "darwin" else 1024), 1)


def fingerprint(dataset: Dataset) -> str:
    """Hash all that a result depends on, so that a run is not resumed on other data."""
    features, graph = dataset.features, dataset.graph
    sparse = features.layout == torch.sparse_csr
    kind = (dataset.feature_kind, dataset.num_classes, tuple(features.shape), sparse, graph is None)
    digest = hashlib.sha256(repr(kind).encode())
    split = dataset.chosen_split()
    parts = [dataset.labels, split.train, split.validation, split.test]
    parts += [features.crow_indices(), features.col_indices()] if sparse else []
    parts += [features.values() if sparse else features]
    if graph is not None:
        parts += [graph.edge_index, graph.weights]
    for part in parts:
        # Indices may be stored in 32 or 64 bits; what they say is the same.
        whole = part if part.is_floating_point() else part.long()
        digest.update(whole.contiguous().cpu().numpy().tobytes())
    return digest.hexdigest()
