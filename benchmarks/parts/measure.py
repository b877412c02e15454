"""How the benchmarks measure: a fresh process each, its CPU-seconds and its peak of memory."""

import ctypes
import gc
import multiprocessing
import os
import statistics
import threading
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any, NamedTuple

import torch

from bpgnn.training.record import peak_memory_mb, versions

_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")


class Cost(NamedTuple):
    """Say what a task costs."""

    seconds: float
    """CPU-seconds, the median of all runs."""
    megabytes: float
    """By how much memory peaked above the start in the first run."""
    runs: int


def cost_of(task: Callable[[], object], *, seconds: float) -> Cost:
    """Run a task once, and again while `seconds` hold another run."""
    first, megabytes = run_once(task)
    times = [first]
    while sum(times) + max(times) < seconds:
        times.append(cpu_seconds(task))
    return Cost(statistics.median(times), megabytes, len(times))


def run_once(task: Callable[[], object]) -> tuple[float, float]:
    """Return a task's CPU-seconds, and by how many MB memory peaked above the start."""
    before = forget_peak()
    seconds = cpu_seconds(task)
    return seconds, resident("VmHWM") - before


def cpu_seconds(task: Callable[[], object]) -> float:
    """Return a task's CPU-seconds, over all threads of the process."""
    start = time.process_time()
    task()
    return time.process_time() - start


def forget_peak() -> float:
    """Hand unused memory back and start the peak anew; return what is held, in MB."""
    gc.collect()
    if not _CLEAR.exists():  # elsewhere than on Linux the peak is that of the whole process
        return peak_memory_mb()
    ctypes.CDLL(None).malloc_trim(0)
    _CLEAR.write_text("5")
    return resident("VmRSS")


def resident(field: str) -> float:
    """Read a line of the kernel's account of this process, in MB."""
    if not _STATUS.exists():
        return peak_memory_mb()
    line = next(line for line in _STATUS.read_text().splitlines() if line.startswith(field))
    return int(line.split()[1]) / 1024


def free_megabytes() -> float:
    """Say how much memory may still be taken."""
    table = Path("/proc/meminfo")
    if not table.exists():
        return float("inf")
    line = next(line for line in table.read_text().splitlines() if line.startswith("MemAvailable"))
    return int(line.split()[1]) / 1024


def limit_cpu(seconds: float) -> None:
    """End this process once it has taken so many more CPU-seconds."""
    end = time.process_time() + seconds

    def watch() -> None:
        while time.process_time() < end:
            time.sleep(1)
        os._exit(1)

    # The system's own limit, RLIMIT_CPU, would make the CPU clock tick in steps of 4 ms.
    threading.Thread(target=watch, daemon=True).start()


def in_fresh_process(function: Callable[..., Any], *arguments: object, threads: int) -> Any | None:
    """Call a function in a process of its own; None when that process was ended."""
    # Read when torch and KeOps are loaded, so it must stand before the process begins.
    os.environ["OMP_NUM_THREADS"] = str(threads)
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, context, torch.set_num_threads, (threads,)) as pool:
        try:
            return pool.submit(function, *arguments).result()
        except BrokenProcessPool:
            return None


def circumstances() -> dict[str, object]:
    """Say on what a figure was measured."""
    return {"threads": torch.get_num_threads(), "machine": _processor(), "versions": versions()}


def _processor() -> str:
    table = Path("/proc/cpuinfo")
    lines = table.read_text().splitlines() if table.exists() else []
    names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    return f"{len(names)} × {names[0]}" if names else os.uname().machine
