"""Exact sampling on a processor without forming a single row of the product."""

import math
from pathlib import Path
from typing import cast, final

import numpy as np
import torch
from typing_extensions import override

from bpgnn.errors import InputError
from bpgnn.infer.boolean import LOG_TINY, BooleanProduct
from bpgnn.infer.probabilities import EdgeProbabilities, KernelProbabilities, Symmetrised
from bpgnn.infer.residual import GraphSum
from bpgnn.infer.sample.blocked import redraw
from bpgnn.infer.sample.cells import build_cells
from bpgnn.infer.sample.frontier import SCAN_ALL, Effort, grow_frontiers
from bpgnn.infer.sample.race import Clocks, Known, race_rows, running_sums
from bpgnn.infer.sample.sampler import Noise, Sample, Sampler, check_sample_size
from bpgnn.infer.space import space_of

# Measured (docs/sampling.md): leaves of 4, and frontiers of 64 points and 128 cells.
_LEAF_SIZE = 4
_MAX_POINTS, _MAX_CELLS = 64, 128
# With as few coordinates as this in all, a pass over every point costs less than a tree; with
# many dimensions, in which boxes say little, up to as many nodes.
_SCAN_UP_TO = 50_000
_MANY_DIMENSIONS, _SCAN_NODES = 8, 10_000


@final
class LazySampler(Sampler):
    """Draw as a race of clocks in which only what can win is looked at.

    The rates of a row of A ⋄ P are sums over its witnesses k, and rates of clocks add: node
    i's clocks are those of all its pairs (k, j). Of each row of P the heaviest points are
    known exactly; they have clocks of their own. All others are in cells, which together are
    one stream of proposals at rates above theirs, each accepted with its true share: exact,
    whatever the bounds. What is known of a row of P serves all nodes that have it as a
    witness, and every sample.

    It takes the plain, gated, mixed and symmetric product, the sum A + α·P and P itself, in
    any metric, on a CPU. It does not take the authors' reversed noise and floor.

    Args:
        leaf_size: At most as many points in a cell that is not split.
        effort: How far frontiers are grown, or None for what was measured to be quick.
    """

    name = "lazy"

    def __init__(self, leaf_size: int = _LEAF_SIZE, effort: Effort | None = None) -> None:
        """Keep the numbers."""
        self.leaf_size = leaf_size
        self.effort = effort

    @override
    @torch.no_grad()
    def sample(
        self,
        probabilities: EdgeProbabilities,
        k: int,
        *,
        generator: torch.Generator,
        num_samples: int = 1,
        self_pairs: bool = False,
        noise: Noise = "plus",
    ) -> Sample:
        check_sample_size(k, probabilities.num_nodes, self_pairs=self_pairs)
        if noise == "minus" or not takes(probabilities):
            raise InputError(
                "The sampler `lazy` draws from products without reversed noise or floor, on a "
                "CPU. Take `sampler=blocked` or `sampler=auto`."
            )
        order, known = self.known(probabilities, k)
        clocks = clocks_of(probabilities, order, self_pairs=self_pairs)
        seeds = torch.randint(2**62, (num_samples,), generator=generator).tolist()
        races = [race_rows(known, clocks, k=k, seed=seed) for seed in seeds]
        log_times = np.stack([race.log_times for race in races])
        # Both halves of the symmetric product ring at their whole rates: twice their mean.
        sample = Sample(
            torch.from_numpy(order[np.stack([race.winners for race in races])]),
            torch.from_numpy(-log_times - (math.log(2) if clocks.across else 0.0)),
        )
        if clocks.across and len(clocks.alone) > 0:
            # Nodes without witnesses are few, and their rates so small that bounds on others'
            # would not help.
            rows = torch.from_numpy(order[clocks.alone])
            return redraw(sample, probabilities, rows, 64, k, generator, self_pairs=self_pairs)
        return sample

    @torch.no_grad()
    def known(self, probabilities: EdgeProbabilities, k: int) -> tuple[np.ndarray, Known]:
        """Sort the points into cells and grow every row's frontier; all samples share this.

        Returns:
            The order of the nodes in the cells, and what is known of P.
        """
        kernel = _kernel_of(probabilities)
        cloud = kernel.metric.cloud(kernel.latent)
        scales = cloud.scales.double() * kernel.sharpness.double()
        space = space_of(cloud.places, cloud.factors, scales, cloud.kinds, cloud.widths)
        order, space, cells = build_cells(space, self.leaf_size)
        effort = self.effort or _effort_for(space.places.shape[0], space.places.shape[1], k)
        return order, Known(space, cells, grow_frontiers(space, cells, k, effort))


def takes(probabilities: EdgeProbabilities) -> bool:
    """Tell whether a matrix of probabilities can be drawn from lazily."""
    inner = probabilities.half if isinstance(probabilities, Symmetrised) else probabilities
    kinds = (KernelProbabilities, BooleanProduct)
    if inner is probabilities:
        kinds = (*kinds, GraphSum)
    plain = not isinstance(inner, BooleanProduct) or inner.row_floor is None
    return isinstance(inner, kinds) and plain and probabilities.device.type == "cpu"


def _kernel_of(probabilities: EdgeProbabilities) -> KernelProbabilities:
    if isinstance(probabilities, Symmetrised):
        return _kernel_of(probabilities.half)
    if isinstance(probabilities, KernelProbabilities):
        return probabilities
    return cast(BooleanProduct | GraphSum, probabilities).kernel  # `takes` has said so


def _effort_for(num_nodes: int, dim: int, k: int) -> Effort:
    """Balance what growing a frontier costs with what it saves, and with a pass over all."""
    scan = num_nodes * (dim + 16)
    many = dim >= _MANY_DIMENSIONS and num_nodes <= _SCAN_NODES
    if many or num_nodes * dim <= _SCAN_UP_TO:
        return Effort(max(_MAX_POINTS, 4 * k), _MAX_CELLS, SCAN_ALL, 0.0, 0.0)
    return Effort(
        max_points=max(_MAX_POINTS, 4 * k),
        max_cells=_MAX_CELLS,
        max_opened=max(64, min(512, scan // 1500)),
        tolerance=6.0,
        scan_ratio=100.0 + scan / (12 * dim * k),
    )


@torch.no_grad()
def clocks_of(probabilities: EdgeProbabilities, order: np.ndarray, *, self_pairs: bool) -> Clocks:
    """Take a matrix apart into the clocks of each row."""
    num_nodes = len(order)
    place = np.empty_like(order)
    place[order] = np.arange(num_nodes)
    none, nowhere = np.empty(0, np.int64), np.zeros(num_nodes + 1, np.int64)
    across = isinstance(probabilities, Symmetrised)
    inner = probabilities.half if isinstance(probabilities, Symmetrised) else probabilities
    # Its own row of P alone, with weight one, is what a node has where there is no product.
    pointer, witnesses, log_weights = np.arange(num_nodes + 1), place, np.zeros(num_nodes)
    edge_pointer, edges, edge_log_rates = nowhere, none, np.empty(0)
    alone = none
    if isinstance(inner, BooleanProduct):
        graph = inner.witnesses
        pointer, witnesses = graph.row_pointer.numpy(), place[graph.sources.numpy()]
        log_weights = inner.log_weight.double().numpy()
        alone = place[np.flatnonzero(np.diff(pointer) == 0)]
    elif isinstance(inner, GraphSum):
        graph = inner.observed
        log_weights = np.full(num_nodes, float(inner.log_scale))
        edge_pointer, edges = graph.row_pointer.numpy(), place[graph.sources.numpy()]
        edge_log_rates = graph.weights.double().log().numpy()
    clocks = Clocks(
        order=order,
        place=place,
        pointer=pointer,
        witnesses=witnesses,
        log_weights=log_weights,
        edge_pointer=edge_pointer,
        edges=edges,
        edge_log_rates=edge_log_rates,
        across=across,
        back_pointer=nowhere,
        back=none,
        back_log_weights=np.empty(0),
        back_weights=np.empty(0),
        back_totals=np.zeros(num_nodes + 1),
        alone=alone,
        log_alone=LOG_TINY if len(alone) > 0 else -np.inf,
        self_pairs=self_pairs,
    )
    return _with_the_way_back(clocks) if across else clocks


def _with_the_way_back(clocks: Clocks) -> Clocks:
    """Add, for every point, whom it is a witness of: the clocks of the transposed half."""
    num_nodes = len(clocks.place)
    rows = np.repeat(clocks.place, np.diff(clocks.pointer))
    order = np.argsort(clocks.witnesses, kind="stable")
    back_pointer = np.zeros(num_nodes + 1, np.int64)
    back_pointer[1:] = np.bincount(clocks.witnesses, minlength=num_nodes).cumsum()
    log_weights = clocks.log_weights[order]
    back_weights, back_totals = running_sums(np.exp(log_weights), back_pointer)
    return clocks._replace(
        back_pointer=back_pointer,
        back=rows[order],
        back_log_weights=log_weights,
        back_weights=back_weights,
        back_totals=back_totals,
    )


def is_compiled() -> bool:
    """Tell whether numba has compiled code of this sampler in its cache already."""
    # Numba keeps what it compiles of one file in one folder; with NUMBA_DISABLE_JIT, nothing.
    stats = getattr(running_sums, "stats", None)
    return stats is None or any(Path(stats.cache_path).glob("race._race-*.nbi"))
