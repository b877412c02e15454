"""Whether a training fits into memory, asked before it begins."""

from pathlib import Path

import psutil
import torch

from bpgnn.data.dataset import Dataset
from bpgnn.errors import NotEnoughMemoryError
from bpgnn.method import MethodSettings, Problem, Sizes, sizes_of
from bpgnn.methods.registry import METHODS, settings_of


def free_memory(device: torch.device) -> int:
    """Count the bytes that are free on a device, or within the limits set to this process."""
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    free = psutil.virtual_memory().available
    within = free_in_container()
    return free if within is None else min(free, within)


def free_in_container(root: Path = Path("/sys/fs/cgroup")) -> int | None:
    """Count the bytes that a container's limit leaves, or None where none is set.

    Files that it has read count as free, for it gives them up when asked.

    Args:
        root: Where the system tells of limits, in the form of today or the one before.
    """
    for folder, limit, used, cached in (
        (root, "memory.max", "memory.current", ("inactive_file", "active_file")),
        (
            root / "memory",
            "memory.limit_in_bytes",
            "memory.usage_in_bytes",
            ("total_inactive_file", "total_active_file"),
        ),
    ):
        most, now = (_figure(folder / name) for name in (limit, used))
        if most is not None and now is not None:
            return most - now + _sum_of(folder / "memory.stat", cached)
    return None


def check_memory(name: str, settings: MethodSettings, problem: Problem) -> None:
    """Refuse a training that will not fit, with the figures."""
    method = METHODS[name]
    needed = method.memory(settings, sizes_of(problem))
    free = free_memory(problem.labels.device)
    if needed > free:
        raise NotEnoughMemoryError(
            f"{name} needs about {in_words(needed)} for {problem.num_nodes:,} nodes, but "
            f"{in_words(max(free, 0))} are free. {method.instead}"
        )


def memory_of_methods(dataset: Dataset, preset: str = "tuned") -> dict[str, int]:
    """Estimate the bytes that each method's training holds beyond the data.

    Args:
        dataset: The data; no split is needed.
        preset: Whose settings are meant.

    Returns:
        Bytes by name of method, in the order of the methods.

    Example:
        >>> from bpgnn.data.synthetic import block_model
        >>> needed = memory_of_methods(block_model(100))
        >>> needed["mlp"] < needed["lds"]
        True
    """
    features = dataset.features
    sparse = features.layout == torch.sparse_csr
    sizes = Sizes(
        num_nodes=dataset.num_nodes,
        num_edges=0 if dataset.graph is None else dataset.graph.num_edges,
        num_features=dataset.num_features,
        num_values=(features.values() if sparse else features).numel(),
        num_classes=dataset.num_classes,
    )
    return {
        name: method.memory(settings_of(name, preset, dataset.name), sizes)
        for name, method in METHODS.items()
    }


def in_words(count: int) -> str:
    """Write a number of bytes.

    Example:
        >>> in_words(1_550_000_000)
        '1.6 GB'
    """
    return f"{count / 1e9:,.1f} GB" if count >= 1e9 else f"{max(count // 1_000_000, 1):,} MB"


def _sum_of(path: Path, names: tuple[str, ...]) -> int:
    """Add up some of the figures of a file, as far as they are there."""
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return 0
    counts = dict(line.split(" ", 1) for line in lines if " " in line)
    return sum(int(counts.get(name, 0)) for name in names)


def _figure(path: Path) -> int | None:
    """Read a figure, where there is one: no limit is told in words."""
    try:
        text = path.read_text().strip()
    except OSError:
        return None
    return int(text) if text.isdigit() else None
