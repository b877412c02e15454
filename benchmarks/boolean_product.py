"""Which library should multiply two binary graphs: scipy or GraphBLAS?

Prints one table; each cell is CPU seconds / wall seconds / peak MB above the start. Every variant
begins with CSR arrays and ends with sorted CSR arrays, all in one process, and all must give the
same graph. scipy multiplies on one thread; GraphBLAS is told how many to use.
"""

import ctypes
import gc
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import graphblas
import numpy as np
import scipy.sparse
from numpy.typing import NDArray

Arrays = tuple[NDArray[np.integer], NDArray[np.integer]]
"""Row pointer and sorted columns."""

REPEATS = 3


class Case(NamedTuple):
    """Name a random graph to square."""

    name: str
    num_nodes: int
    num_edges: int
    hubs: float
    """How strongly edges prefer few nodes: 0 is not at all."""


CASES = [
    Case("degree 5", 2_000, 10_000, 0.0),
    Case("degree 5", 20_000, 100_000, 0.0),
    Case("degree 5", 200_000, 1_000_000, 0.0),
    Case("degree 20", 5_000, 100_000, 0.0),
    Case("degree 20", 50_000, 1_000_000, 0.0),
    Case("degree 100", 1_000, 100_000, 0.0),
    Case("degree 100", 10_000, 1_000_000, 0.0),
    Case("hubs", 20_000, 100_000, 0.6),
    Case("hubs", 200_000, 1_000_000, 0.6),
]


def random_graph(case: Case) -> scipy.sparse.csr_array:
    """Draw a graph whose edges end at node r with probability proportional to r^-hubs."""
    generator = np.random.default_rng(0)
    weight = np.arange(1, case.num_nodes + 1, dtype=float) ** -case.hubs
    ends = generator.choice(case.num_nodes, size=(2, case.num_edges), p=weight / weight.sum())
    shape = (case.num_nodes, case.num_nodes)
    graph = scipy.sparse.csr_array((np.ones(case.num_edges, bool), tuple(ends)), shape=shape)
    graph.sum_duplicates()
    return graph


def scipy_product(graph: scipy.sparse.csr_array, dtype: type) -> Arrays:
    """Square with scipy, counting (or for bool: or-ing) witnesses of the given type."""
    matrix = scipy.sparse.csr_array(
        (np.ones(graph.nnz, dtype), graph.indices, graph.indptr), shape=graph.shape
    )
    product = matrix @ matrix
    product.sort_indices()
    return product.indptr, product.indices


def graphblas_product(graph: scipy.sparse.csr_array, threads: int) -> Arrays:
    """Square over the semiring any_pair: the first witness found ends the search."""
    graphblas.ss.config["nthreads"] = threads
    rows, columns = graph.shape
    matrix = graphblas.Matrix.from_csr(graph.indptr, graph.indices, True, nrows=rows, ncols=columns)
    product = matrix.mxm(matrix, graphblas.semiring.any_pair[bool]).new()
    parts = product.ss.export("csr", sort=True, give_ownership=True)
    return parts["indptr"], parts["col_indices"]


VARIANTS: dict[str, Callable[[scipy.sparse.csr_array], Arrays]] = {
    "scipy int32": lambda graph: scipy_product(graph, np.int32),
    "scipy float32": lambda graph: scipy_product(graph, np.float32),
    "scipy bool": lambda graph: scipy_product(graph, np.bool_),
    "graphblas, 1 thread": lambda graph: graphblas_product(graph, 1),
    "graphblas, 2 threads": lambda graph: graphblas_product(graph, 2),
}


def resident(field: str) -> float:
    """Read a line of the kernel's account of this process, in MB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) / 1024
    return float("nan")


def measure(
    function: Callable[[scipy.sparse.csr_array], Arrays], graph: scipy.sparse.csr_array
) -> tuple[Arrays, float, float, float]:
    """Return the result, the best CPU and wall seconds, and the first run's peak memory in MB."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew from here
    before = resident("VmRSS")
    cpu, wall, peak, result = [], [], 0.0, None
    for repeat in range(REPEATS):
        result = None
        start = time.process_time(), time.perf_counter()
        result = function(graph)
        cpu.append(time.process_time() - start[0])
        wall.append(time.perf_counter() - start[1])
        if repeat == 0:
            peak = resident("VmHWM") - before
    return result, min(cpu), min(wall), peak


def main() -> None:
    """Print the table."""
    for variant in VARIANTS.values():  # loading a library is not multiplying
        variant(random_graph(Case("warm-up", 100, 1_000, 0.0)))
    head = ["graph", "N", "edges", "entries of A ⋄ A", *VARIANTS]
    print("|", " | ".join(head), "|")
    print("|---" * len(head), "|", sep="")
    for case in CASES:
        graph = random_graph(case)
        cells, expected = [], None
        for variant in VARIANTS.values():
            result, cpu, wall, peak = measure(variant, graph)
            expected = expected or result
            for one, other in zip(result, expected, strict=True):
                np.testing.assert_array_equal(one, other)
            cells.append(f"{cpu:.3f} / {wall:.3f} / {peak:.0f}")
        counts = [f"{n:,}" for n in (case.num_nodes, graph.nnz, len(expected[1]))]
        print("|", " | ".join([case.name, *counts, *cells]), "|", flush=True)


if __name__ == "__main__":
    main()
