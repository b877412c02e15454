"""What a sampler of latent graphs is."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Literal, final

import numpy as np
import torch
from torch import Tensor

from bpgnn.errors import InputError
from bpgnn.infer.probabilities import EdgeProbabilities

Noise = Literal["plus", "minus"]


@final
@dataclass(frozen=True, eq=False)
class Sample:
    """Hold the neighbours that were drawn.

    Args:
        neighbours: Distinct nodes j for each node i, first drawn first, shape (S, N, K).
        scores: The logarithm of P~_ij with its Gumbel noise, shape (S, N, K).
    """

    neighbours: Tensor
    scores: Tensor


class Sampler(ABC):
    r"""Draw K distinct neighbours for every node, without replacement, proportional to P~.

    The Gumbel-top-k trick: take the K largest of :math:`\log \tilde P_{ij} + G_{ij}`, each
    G a standard Gumbel variate of its own. Rows are independent. Samplers differ in cost
    alone: a statistical test holds all of them to the same distribution.
    """

    name: str

    @abstractmethod
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
        """Draw graphs.

        Args:
            probabilities: The matrix P~ to draw from.
            k: Neighbours a node, K.
            generator: Where the noise comes from.
            num_samples: How many independent graphs to draw, S.
            self_pairs: Whether a node may be its own neighbour.
            noise: `plus` for exact sampling. `minus` subtracts the noise, as the authors'
                code does; the result is then not a draw proportional to P~.

        Returns:
            Neighbours and scores.
        """


def check_sample_size(k: int, num_nodes: int, *, self_pairs: bool) -> None:
    """Refuse a number of neighbours that there are not enough nodes for."""
    most = num_nodes if self_pairs else num_nodes - 1
    if not 1 <= k <= most:
        raise InputError(
            f"`k` must be between 1 and {most} for {num_nodes} nodes, but got {k}. "
            f"Ask for fewer neighbours a node, such as k={most}."
        )


def exponential_noise(
    shape: tuple[int, ...], generator: torch.Generator, device: torch.device
) -> Tensor:
    """Draw standard exponential variates; minus their logarithm is Gumbel noise.

    They are float64: the smallest of N variates decides, and 24 bits are too few for it.
    """
    if generator.device.type != "cpu":
        noise = torch.empty(shape, dtype=torch.double, device=generator.device)
        return noise.exponential_(generator=generator).to(device)
    # Measured: 28 ns a variate by torch on a CPU, 5 ns by numpy's ziggurat.
    seed = int(torch.randint(2**62, (), generator=generator))
    stream = np.random.Generator(np.random.SFC64(seed))
    return torch.from_numpy(stream.standard_exponential(shape)).to(device)
