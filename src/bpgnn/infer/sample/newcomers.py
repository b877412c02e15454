"""Neighbours for nodes that come after a graph was sampled."""

import torch

from bpgnn.infer.probabilities import EdgeProbabilities
from bpgnn.infer.sample.sampler import Sample, exponential_noise

# Scores that are held at a time.
_SCORES = 4_000_000


@torch.no_grad()
def draw_newcomers(
    probabilities: EdgeProbabilities, known: Sample, *, generator: torch.Generator
) -> Sample:
    """Complete a sample by rows for the nodes that it has none for.

    Each newcomer draws as many neighbours as the others have, among those that the sample has
    rows for, and by the same rule. All newcomers of one sampled graph meet the same noise: each
    by itself is drawn exactly, and what is drawn for one does not depend on who else has come.

    Args:
        probabilities: Of all N nodes, newcomers last.
        known: What was drawn for the first M of them, shapes (S, M, K).
        generator: Where the noise comes from.

    Returns:
        Neighbours of all nodes, shapes (S, N, K).
    """
    num_samples, num_known, k = known.neighbours.shape
    if num_known == probabilities.num_nodes:
        return known
    shape = (num_samples, 1, num_known)
    noise = -exponential_noise(shape, generator, probabilities.device).log()
    at_a_time = max(1, _SCORES // (num_samples * num_known))
    newcomers = torch.arange(num_known, probabilities.num_nodes, device=probabilities.device)
    best = [
        (probabilities.log_rows(block)[:, :num_known] + noise).topk(k, dim=-1)
        for block in newcomers.split(at_a_time)
    ]
    scores, neighbours = (torch.cat(parts, dim=1) for parts in zip(*best, strict=True))
    return Sample(
        torch.cat([known.neighbours, neighbours], dim=1),
        torch.cat([known.scores, scores.to(known.scores.dtype)], dim=1),
    )
