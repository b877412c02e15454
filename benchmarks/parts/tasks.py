"""One draw of a graph by each sampler, ready to be measured."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from parts.inputs import Inputs
from torch import Tensor

from bpgnn.infer.boolean import BooleanProduct
from bpgnn.infer.geometry import Euclidean
from bpgnn.infer.probabilities import KernelProbabilities
from bpgnn.infer.sample.choose import SAMPLERS, choose_sampler
from bpgnn.infer.witness import equal_votes, witness_graph
from bpgnn.matrix import csr_matrix
from bpgnn.randomness import generator_for

ANY = "any"
"""The temperature of a sampler that knows none."""


@dataclass(frozen=True)
class Cell:
    """Name one measurement: a sampler on points of some size, at some temperature."""

    sampler: str
    num_nodes: int
    dim: int
    k: int
    temperature: str


Task = Callable[[], object]


def task_for(cell: Cell, inputs: Inputs) -> Task:
    """Prepare a cell's draw; calling the result draws once."""
    return TASKS[cell.sampler](cell, inputs)


def auto_choice(cell: Cell) -> str | None:
    """Name the sampler that `auto` takes in a cell's place."""
    anything = KernelProbabilities(torch.zeros(1, 1), torch.tensor(1.0), Euclidean())
    return None if cell.temperature == ANY else choose_sampler("auto", anything).name


def dense_pass(
    points: Tensor,  # (N, D)
    votes: Tensor,  # (N, N), sparse
    sharpness: float,
    k: int,
    generator: torch.Generator,
) -> Tensor:  # (N, K)
    """Draw as the authors' layer does: distances, P, A·P, noise and top-k, each N by N.

    As well as plain torch allows: float32, one matrix product for the exponents, buffers that
    are used again, clocks in place of Gumbel noise. P is cut off at e^-80, as theirs is at
    1e-24, which spares the processor numbers below the normal range and lets far points tie.
    """
    squares = points.square().sum(1, keepdim=True)
    ones = torch.ones_like(squares)
    left = torch.cat([2 * sharpness * points, -sharpness * squares, -sharpness * ones], 1)
    right = torch.cat([points, ones, squares], 1)
    kernel = (left @ right.t()).clamp_(-80, 0).exp_()
    rates = votes @ kernel
    # Measured: torch's own exponential variates take four times as long.
    times = kernel.uniform_(generator=generator).log_().neg_().div_(rates)
    return times.fill_diagonal_(torch.inf).topk(k, dim=1, largest=False).indices


def _dense(cell: Cell, inputs: Inputs) -> Task:
    witnesses = witness_graph(inputs.graph, self_loops=True)
    weight = equal_votes(witnesses).log_weight.exp().float()
    shape = (witnesses.num_nodes, witnesses.num_nodes)
    votes = csr_matrix(witnesses.row_pointer, witnesses.sources, weight, shape)
    sharpness = inputs.sharpness[cell.temperature]
    return lambda: dense_pass(inputs.points, votes, sharpness, cell.k, generator_for(0))


def _library(cell: Cell, inputs: Inputs) -> Task:
    witnesses = witness_graph(inputs.graph, self_loops=True)
    votes = equal_votes(witnesses)
    sharpness = torch.tensor(inputs.sharpness[cell.temperature])

    def task() -> None:
        # Sampler and product are new each time, so that nothing found about V is kept.
        kernel = KernelProbabilities(inputs.points, sharpness, Euclidean())
        product = BooleanProduct(witnesses, votes, kernel)
        SAMPLERS[cell.sampler]().sample(product, cell.k, generator=generator_for(0))

    return task


def _keops(cell: Cell, inputs: Inputs) -> Task:
    # Optional, slow to load, and it speaks when it is.
    from pykeops.torch import LazyTensor

    def task() -> None:
        one, other = LazyTensor(inputs.points[:, None]), LazyTensor(inputs.points[None])
        ((one - other) ** 2).sum(-1).argKmin(cell.k, dim=1)

    return task


TASKS: dict[str, Callable[[Cell, Inputs], Task]] = {
    "dense": _dense,
    "blocked": _library,
    "lazy": _library,
    "keops": _keops,
}
