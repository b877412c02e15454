"""The definition of sampling, with N by N matrices."""

from typing import final

import torch
from torch import Tensor
from typing_extensions import override

from bpgnn.infer.probabilities import EdgeProbabilities
from bpgnn.infer.sample.sampler import (
    Noise,
    Sample,
    Sampler,
    check_sample_size,
    exponential_noise,
)


@final
class DenseSampler(Sampler):
    """Form every score and sort: the reference, and fine for a few thousand nodes."""

    name = "dense"

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
        nodes = torch.arange(probabilities.num_nodes, device=probabilities.device)
        log_rows = probabilities.log_rows(nodes)
        drawn = [
            top_of_rows(log_rows, nodes, k, generator, self_pairs=self_pairs, noise=noise)
            for _ in range(num_samples)
        ]
        scores, neighbours = (torch.stack(part) for part in zip(*drawn, strict=True))
        return Sample(neighbours, scores)


def top_of_rows(
    log_rows: Tensor,  # (B, N)
    index: Tensor,  # (B,)
    k: int,
    generator: torch.Generator,
    *,
    self_pairs: bool,
    noise: Noise,
) -> tuple[Tensor, Tensor]:
    """Draw the K best of whole rows; return scores and columns, shape (B, K) each."""
    gumbel = exponential_noise(tuple(log_rows.shape), generator, log_rows.device).log_().neg_()
    scores = log_rows + gumbel if noise == "plus" else log_rows - gumbel
    if not self_pairs:
        scores.scatter_(1, index.unsqueeze(1), -torch.inf)
    return torch.topk(scores, k, dim=1)
