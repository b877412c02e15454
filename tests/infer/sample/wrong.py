"""A race of clocks over pairs (witness, node), right or with one of five mistakes."""

import numpy as np
import torch

from bpgnn.infer.probabilities import Symmetrised
from bpgnn.infer.sample.sampler import Sample
from tests.infer.sample.cases import Case

PLAIN = Case("star", "middle", "euclidean", "product", k=3)
SYMMETRIC = Case("star", "middle", "euclidean", "symmetric", k=3)
CONTROLS = (PLAIN, SYMMETRIC)

ANY = {"first picks", "first two", "sets", "sets before the last", "inclusion", "scores"}
MISTAKES = {
    "tail forgotten": (PLAIN, ANY),
    "bound too low": (PLAIN, ANY),
    "noise of the wrong sign": (PLAIN, ANY),
    # Each row alone has the right law.
    "clocks shared between rows": (PLAIN, {"two rows"}),
    # The first ring of all is right; what a witness's second ring would bring is missing.
    "symmetric half rings once": (SYMMETRIC, {"inclusion", "scores"}),
}
"""Each mistake, the case that shows it and the statistics that must be alarmed."""

NUM_HEAVY = 3


class Race:
    """Draw as the lazy sampler does, in arrays: a negative control if a mistake is named."""

    def __init__(self, mistake=None):
        self.mistake = mistake

    def sample(self, probabilities, k, *, generator, num_samples, self_pairs=False):
        symmetric = isinstance(probabilities, Symmetrised)
        product = probabilities.half if symmetric else probabilities
        graph = product.witnesses
        votes = np.zeros((graph.num_nodes, graph.num_nodes))
        votes[graph.targets, graph.sources] = product.log_weight.exp()
        kernel = product.kernel.to_dense().numpy()
        noise = np.random.default_rng(generator.initial_seed())
        # The mean of two halves has half the rates of either.
        times = self.first_half(votes / (1 + symmetric), kernel, noise, num_samples)
        if symmetric:
            other = self.second_half(votes / 2, kernel, noise, num_samples)
            times = np.concatenate([times, other], axis=2)
        times = times.min(2)
        if not self_pairs:
            times[:, np.arange(graph.num_nodes), np.arange(graph.num_nodes)] = np.inf
        neighbours = np.argsort(times, axis=2)[:, :, :k]
        scores = -np.log(np.take_along_axis(times, neighbours, axis=2))
        return Sample(torch.from_numpy(neighbours), torch.from_numpy(scores))

    def first_half(self, votes, kernel, noise, num_samples):  # (S, N, N, N)
        """Ring for row i, witness k, node j at the rate W_ik P_kj."""
        shape = (num_samples, len(votes), *kernel.shape)
        if self.mistake == "clocks shared between rows":
            shape = (num_samples, 1, *kernel.shape)
        cut = np.sort(kernel, axis=1)[:, -NUM_HEAVY, None]
        heavy = kernel >= cut
        # A stream proposes each light point at the bound of all, and accepts its share.
        bound = np.where(heavy, 0.0, kernel).max(1, keepdims=True)
        if self.mistake == "bound too low":
            bound = bound / 4
        accepted = np.where(heavy, 1.0, np.minimum(kernel / bound, 1.0))
        proposals = noise.geometric(np.broadcast_to(accepted, shape))
        rate = np.where(heavy, kernel, bound)
        times = noise.gamma(proposals) / rate
        if self.mistake == "tail forgotten":
            times[..., ~heavy] = np.inf
        if self.mistake == "noise of the wrong sign":
            # A time is E over the rate P_kj; here it is 1/E over it.
            times = 1 / (times * kernel**2)
        with np.errstate(divide="ignore"):
            return times / votes[:, :, None]

    def second_half(self, votes, kernel, noise, num_samples):  # (S, N, N, N)
        """Ring for row i, witness k of node j, and j at the rate P_ik W_jk."""
        rate = kernel[:, :, None] * votes.T
        with np.errstate(divide="ignore"):
            times = noise.standard_exponential((num_samples, *rate.shape)) / rate
        if self.mistake == "symmetric half rings once":
            times[times > times.min(3, keepdims=True)] = np.inf
        return times
