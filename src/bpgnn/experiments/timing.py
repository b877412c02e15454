"""How long the product A ⋄ P takes, and a sample of it, on a part of PubMed."""

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, final, get_args

import numpy as np
import torch
from torch import Tensor

from bpgnn.data.catalog import load
from bpgnn.graph import Graph
from bpgnn.infer.boolean import BooleanProduct
from bpgnn.infer.geometry import Euclidean
from bpgnn.infer.probabilities import KernelProbabilities
from bpgnn.infer.sample.blocked import BlockedSampler
from bpgnn.infer.sample.lazy import LazySampler
from bpgnn.infer.sample.sampler import Sampler
from bpgnn.infer.witness import equal_votes
from bpgnn.randomness import generator_for
from bpgnn.training.record import machine, versions

Way = Literal["matmul", "sparse", "blocked", "lazy"]
"""`torch.matmul`, `torch.sparse.mm`, and a graph sampled by each sampler."""

_STREAM, _K, _DIM = 0x7133, 5, 4

# Timed until this many seconds are spent, and at least twice; the median counts.
_SECONDS = 1.0


@final
@dataclass(frozen=True)
class Timing:
    """Say what to time; one of the points of the paper's last figure.

    Args:
        way: How the product is computed or sampled.
        num_nodes: So many nodes of PubMed, drawn at random.
        threads: Processor threads.

    Example:
        >>> Timing("sparse", 1000).command
        'bpgnn reproduce speed # sparse, 1,000 nodes'
    """

    way: Way
    num_nodes: int
    threads: int = 1
    dataset: ClassVar[str] = "pubmed"
    is_of_machine: ClassVar[bool] = True

    @property
    def kind(self) -> tuple[str | int, ...]:
        """Say which timings take about as long."""
        return "speed", self.way, self.num_nodes

    def agrees(self, line: Mapping[str, Any]) -> bool:
        """Tell whether a line of the store is of this timing, on a machine of this kind."""
        return line.get("machine") == machine()

    @property
    def facts(self) -> dict[str, object]:
        """Say what it is in a line that has no result."""
        return {"way": self.way, "num_nodes": self.num_nodes}

    @property
    def command(self) -> str:
        """Write the command that makes all timings again, and which this is."""
        return f"bpgnn reproduce speed # {self.way}, {self.num_nodes:,} nodes"


def timed(timing: Timing) -> dict[str, Any]:
    """Measure, and write the line for the store."""
    task = task_for(timing)
    task()
    spent: list[float] = []
    while len(spent) < 2 or sum(spent) < _SECONDS:
        begun = time.process_time()
        task()
        spent.append(time.process_time() - begun)
    return {
        "command": timing.command,
        **timing.facts,
        "cpu_seconds": statistics.median(spent),
        "quartiles": [float(share) for share in np.quantile(spent, [0.25, 0.75])],
        "threads": timing.threads,
        "machine": machine(),
        "versions": versions(),
    }


def task_for(timing: Timing) -> Callable[[], Any]:
    """Prepare what is timed."""
    graph, features = part_of_pubmed(timing.num_nodes)
    if timing.way in ("matmul", "sparse"):
        nearness = torch.exp(-torch.cdist(features, features).square())
        observed = torch.from_numpy(graph.to_scipy().toarray()).float()
        if timing.way == "matmul":
            return lambda: torch.matmul(observed, nearness)
        rows = observed.to_sparse_csr()
        return lambda: torch.sparse.mm(rows, nearness)
    samplers: dict[str, type[Sampler]] = {"blocked": BlockedSampler, "lazy": LazySampler}
    sampler, product = samplers[timing.way](), product_on(graph, features)
    generator = generator_for(0, _STREAM)
    return lambda: sampler.sample(product, _K, generator=generator, num_samples=1, self_pairs=False)


def part_of_pubmed(num_nodes: int) -> tuple[Graph, Tensor]:  # (n, F)
    """Draw nodes of PubMed, with the edges among them."""
    data = load(Timing.dataset)
    graph = data.graph or Graph.empty(data.num_nodes)
    chosen = torch.randperm(data.num_nodes, generator=generator_for(0, _STREAM))[:num_nodes]
    place = torch.full((data.num_nodes,), -1)
    place[chosen] = torch.arange(num_nodes)
    edges = place[graph.edge_index]
    features = data.features
    dense = features.to_dense() if features.layout == torch.sparse_csr else features
    return Graph.from_edge_index(edges[:, (edges >= 0).all(0)], num_nodes), dense[chosen]


def product_on(graph: Graph, features: Tensor) -> BooleanProduct:  # (n, F)
    """Join the graph with the nearness of features in four directions drawn at random."""
    directions = torch.randn(features.size(1), _DIM, generator=generator_for(1, _STREAM))
    latent = features @ directions
    latent = (latent - latent.mean(0)) / latent.std(0)
    kernel = KernelProbabilities(latent, torch.tensor(10.0), Euclidean())
    return BooleanProduct(graph, equal_votes(graph), kernel)


WAYS = get_args(Way)
