"""Whether a training fits into memory, asked before it begins."""

from pathlib import Path

import psutil
import torch

from bpgnn.errors import NotEnoughMemoryError
from bpgnn.method import MethodSettings, Problem, sizes_of
from bpgnn.methods.registry import METHODS


def free_memory(device: torch.device) -> int:
    """Count the bytes that are free on a device, or within the limits set to this process."""
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    free = psutil.virtual_memory().available
    limit, used = (_control_group(name) for name in ("memory.max", "memory.current"))
    return free if limit is None or used is None else min(free, limit - used)


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


def in_words(count: int) -> str:
    """Write a number of bytes.

    Example:
        >>> in_words(1_550_000_000)
        '1.6 GB'
    """
    return f"{count / 1e9:,.1f} GB" if count >= 1e9 else f"{max(count // 1_000_000, 1):,} MB"


def _control_group(name: str) -> int | None:
    """Read a figure that a container's limits are made of, where there are any."""
    try:
        text = Path("/sys/fs/cgroup", name).read_text().strip()
    except OSError:
        return None
    return int(text) if text.isdigit() else None
