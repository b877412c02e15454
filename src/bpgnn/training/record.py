"""The one record of a run, and the plan that makes it again."""

import hashlib
import importlib.metadata
import os
import platform
import re
import resource
import sys
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
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
        recovery: Where edges were added: the chance that the messages of a true edge count for
            more than those of an added one, a draw counting half (the area under the ROC
            curve).
        test_pairs: By the name of edge probabilities: for each tenth of the interval from 0 to
            1 the pairs of test nodes whose probability lies there, and those among them that
            have the same label.
    """

    kept: int
    added: int
    dropped: int
    observed_homophily: float | None
    latent_homophily: float | None
    recovery: float | None = None
    test_pairs: dict[str, list[tuple[int, int]]] = field(default_factory=dict)


@final
@dataclass(frozen=True)
class RunRecord:
    """Say what was run and what came out; accuracies are shares from 0 to 1.

    They are None where the split has no nodes to validate or test with.
    """

    method: str
    dataset: str
    split: str
    preset: str
    seed: int
    add_edges: float
    drop_edges: float
    labels_per_class: int | None
    test_accuracy: float | None
    validation_accuracy: float | None
    validation_loss: float | None
    test_macro_f1: float | None
    test_balanced_accuracy: float | None
    steps: int
    best_step: int
    latent_graph: LatentSummary | None
    cpu_seconds: float
    wall_seconds: float
    peak_memory_mb: float
    sampler: str | None
    device: str
    threads: int
    machine: str
    versions: dict[str, str | None]
    settings: dict[str, Any]

    def to_json(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "RunRecord":
        """Read such values back; what is missing or does not belong is a TypeError."""
        latent = values.get("latent_graph")
        summary = None if latent is None else LatentSummary(**latent)
        return cls(**{**values, "latent_graph": summary})


def versions() -> dict[str, str | None]:
    """List the versions that a result depends on.

    `code` is a hash of the package's source; `constraints` one of the file of pinned versions,
    where the package is used from its repository.
    """
    names = ("torch", "numpy", "scipy", "scikit-learn", "torch-geometric")
    found = {name: importlib.metadata.version(name) for name in names}
    own = {"bpgnn": __version__, "code": _code_hash(), "constraints": _constraints_hash()}
    return {**own, "python": platform.python_version(), **found}


def machine() -> str:
    """Describe the processor, not whose it is."""
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        text = ""
    name = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    return f"{name[1] if name else platform.machine()}, {os.cpu_count()} cores"


def peak_memory_mb() -> float:
    """Measure the most memory that this process has held, or held since that was forgotten."""
    try:
        status = Path("/proc/self/status").read_text()
        return round(int(status.split("VmHWM:")[1].split()[0]) / 1024, 1)
    except (OSError, IndexError):
        pass
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1024 * 1024 if sys.platform == "darwin" else 1024), 1)


def forget_peak_memory() -> None:
    """Begin to measure anew, where the system can: a process may have several runs."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


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


@cache
def _code_hash() -> str:
    package = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        digest.update(path.relative_to(package).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


@cache
def _constraints_hash() -> str | None:
    path = Path(__file__).parents[3] / "constraints.txt"
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12] if path.exists() else None
