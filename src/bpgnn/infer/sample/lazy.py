"""Exact sampling on a processor without forming a single row of the product."""

from pathlib import Path
from typing import final

import numpy as np
import torch
from torch import Tensor
from typing_extensions import override

from bpgnn.infer.boolean import LOG_TINY, BooleanProduct
from bpgnn.infer.geometry import Euclidean
from bpgnn.infer.probabilities import EdgeProbabilities, KernelProbabilities
from bpgnn.infer.sample.blocked import BlockedSampler
from bpgnn.infer.sample.heavy import find_heavy
from bpgnn.infer.sample.race import Votes, race_rows
from bpgnn.infer.sample.sampler import (
    Noise,
    Sample,
    Sampler,
    check_sample_size,
    exponential_noise,
)


@final
class LazySampler(Sampler):
    """Draw as a race of clocks in which only what can win is looked at.

    The rates of a row of A ⋄ P are sums over its witnesses k, and rates of clocks add: node
    i's clocks are those of all its pairs (k, j). Of each row of P the heaviest points are
    known exactly; they have clocks of their own. All others are one stream of proposals at a
    rate that is above theirs, each accepted with its true share: exact, whatever the bound.
    What is known of a row of P serves all nodes that have it as a witness, and every sample.

    For the Euclidean plain, gated and mixed product and for P itself, on a CPU; others are
    handed to `blocked`.

    Args:
        num_heavy: Heavy points a row, or None for a number that suits K.
    """

    name = "lazy"

    def __init__(self, num_heavy: int | None = None) -> None:
        """Keep the number of heavy points."""
        self.num_heavy = num_heavy

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
        rows = _rows_of(probabilities)
        if rows is None or noise == "minus":
            return BlockedSampler().sample(
                probabilities,
                k,
                generator=generator,
                num_samples=num_samples,
                self_pairs=self_pairs,
                noise=noise,
            )
        kernel, votes = rows
        points = kernel.latent.double().contiguous().numpy()
        sharpness = float(kernel.sharpness)
        # With K others among a row's heavy points the time to beat is finite at once.
        least = min(len(points), max(self.num_heavy or max(64, 4 * k), k + 1))
        heavy = find_heavy(points, sharpness, least, min(len(points), 3 * least))
        seeds = torch.randint(2**62, (num_samples,), generator=generator).tolist()
        races = [
            race_rows(points, sharpness, votes, heavy, k=k, seed=seed, self_pairs=self_pairs)
            for seed in seeds
        ]
        sample = Sample(
            torch.from_numpy(np.stack([race.neighbours for race in races])),
            torch.from_numpy(-np.stack([race.log_times for race in races])),
        )
        alone = (sample.neighbours[0, :, 0] < 0).nonzero().squeeze(1)
        if len(alone) > 0:
            _draw_constant_rows(sample, alone, generator, self_pairs=self_pairs)
        return sample


def _rows_of(probabilities: EdgeProbabilities) -> tuple[KernelProbabilities, Votes] | None:
    """Take the product apart into P and the votes of each row; None where that is not it."""
    if isinstance(probabilities, KernelProbabilities):
        nodes = np.arange(probabilities.num_nodes)
        kernel = probabilities
        votes = Votes(np.arange(len(nodes) + 1), nodes, np.zeros(len(nodes)))
    elif isinstance(probabilities, BooleanProduct) and probabilities.row_floor is None:
        kernel, graph = probabilities.kernel, probabilities.witnesses
        parts = (graph.row_pointer, graph.sources, probabilities.log_weight.double())
        votes = Votes(*(part.cpu().contiguous().numpy() for part in parts))
    else:
        return None
    fits = kernel.latent.device.type == "cpu" and isinstance(kernel.metric, Euclidean)
    return (kernel, votes) if fits else None


def _draw_constant_rows(
    sample: Sample, rows: Tensor, generator: torch.Generator, *, self_pairs: bool
) -> None:
    """Draw for nodes without witnesses, whose rows are constant: any K others, evenly."""
    num_samples, num_nodes, k = sample.neighbours.shape
    size = (num_samples, len(rows), num_nodes)
    # A few nodes at most have no witness; each costs one variate a node.
    times = exponential_noise(size, generator, sample.scores.device)
    if not self_pairs:
        times[:, torch.arange(len(rows)), rows] = torch.inf
    best, nodes = torch.topk(times, k, largest=False)
    sample.neighbours[:, rows] = nodes
    sample.scores[:, rows] = LOG_TINY - best.log()


def is_compiled() -> bool:
    """Tell whether numba has compiled code of this sampler in its cache already."""
    return any((Path(__file__).parent / "__pycache__").glob("race._race-*.nbi"))
