"""Neighbours for nodes that come after a graph was sampled."""

import torch

from bpgnn.infer.probabilities import EdgeProbabilities
from bpgnn.infer.sample.sampler import Sample, exponential_noise

# Scores that are held at a time.
_SCORES = 4_000_000


@torch.no_grad()
def draw_newcomers(
    probabilities: EdgeProbabilities,
    num_known: int,
    k: int,
    num_samples: int,
    *,
    generator: torch.Generator,
) -> Sample:
    """Draw neighbours for the last nodes among the first, as for those.

    All newcomers of one sampled graph meet the same noise: each by itself is drawn exactly, and
    what is drawn for one does not depend on who else has come.

    Args:
        probabilities: Of all N nodes, newcomers last.
        num_known: How many nodes there were before, M.
        k: Neighbours a node, K.
        num_samples: How many graphs there are, S.
        generator: Where the noise comes from.

    Returns:
        Neighbours of the newcomers, shapes (S, N - M, K).
    """
    device = probabilities.device
    newcomers = torch.arange(num_known, probabilities.num_nodes, device=device)
    if newcomers.numel() == 0:
        shape = (num_samples, 0, k)
        nobody = torch.empty(shape, dtype=torch.long, device=device)
        return Sample(nobody, torch.empty(shape, dtype=torch.double, device=device))
    noise = -exponential_noise((num_samples, 1, num_known), generator, device).log()
    at_a_time = max(1, _SCORES // (num_samples * num_known))
    best = [
        (probabilities.log_rows(block)[:, :num_known] + noise).topk(k, dim=-1)
        for block in newcomers.split(at_a_time)
    ]
    scores, neighbours = (torch.cat(parts, dim=1) for parts in zip(*best, strict=True))
    return Sample(neighbours, scores)
