"""Names of samplers, and the choice among them."""

import torch

from bpgnn.infer.probabilities import EdgeProbabilities
from bpgnn.infer.sample.blocked import BlockedSampler
from bpgnn.infer.sample.dense import DenseSampler
from bpgnn.infer.sample.lazy import LazySampler, takes
from bpgnn.infer.sample.sampler import Noise, Sampler

SAMPLERS: dict[str, type[Sampler]] = {
    "dense": DenseSampler,
    "blocked": BlockedSampler,
    "lazy": LazySampler,
}

# The dense sampler holds up to six matrices of float64 at a time.
_DENSE_BYTES = 48


def choose_sampler(name: str, probabilities: EdgeProbabilities, noise: Noise = "plus") -> Sampler:
    """Make the sampler of that name; `auto` takes the one that costs least here.

    On a CPU that is `lazy` wherever it applies: it decides row by row, by estimated cost,
    between its tree of cells and a pass over all points (docs/sampling.md has the figures).
    Elsewhere it is `dense` while its matrices fit into a quarter of the free memory, then
    `blocked`.

    Args:
        name: A sampler, or `auto`.
        probabilities: What will be sampled.
        noise: How.

    Returns:
        The sampler.
    """
    if name != "auto":
        return SAMPLERS[name]()
    if noise == "plus" and takes(probabilities):
        return LazySampler()
    needed = _DENSE_BYTES * probabilities.num_nodes**2
    return DenseSampler() if 4 * needed <= _free_memory(probabilities.device) else BlockedSampler()


def _free_memory(device: torch.device) -> int:
    """Count the bytes that are free; on a CPU `blocked` is quicker, so none are offered."""
    return torch.cuda.mem_get_info(device)[0] if device.type == "cuda" else 0
