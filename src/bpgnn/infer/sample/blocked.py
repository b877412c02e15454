"""Exact sampling a block of columns at a time, on any device."""

from dataclasses import dataclass
from typing import Self, final

import torch
from torch import Tensor
from typing_extensions import override

from bpgnn.infer.probabilities import EdgeProbabilities, Symmetrised
from bpgnn.infer.sample.dense import top_of_rows
from bpgnn.infer.sample.sampler import (
    Noise,
    Sample,
    Sampler,
    check_sample_size,
    exponential_noise,
)

# A rate below this cannot ring among the first K of a row that has K rates above it: the
# chance is under 1e-40. Rows with fewer than K such rates are drawn again in log space.
_FAINT = 1e-250


@final
class BlockedSampler(Sampler):
    """Draw as a race of exponential clocks, a block of columns at a time.

    An entry of rate P~_ij rings after E/P~_ij, E standard exponential; the first K to ring
    are the Gumbel top K. Each block of columns of P~ is formed, raced and forgotten, and a
    row keeps its K best so far. Of the symmetric product, a block of columns of A ⋄ P is at
    once a block of rows of P ⋄ A: the two halves race separately and the smaller time counts.

    Args:
        block_size: Columns at a time, or None for 64 K (from there torch's top-k is fast),
            or as many as 128 MB hold.
    """

    name = "blocked"

    def __init__(self, block_size: int | None = None) -> None:
        """Keep the block size."""
        self.block_size = block_size

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
        num_nodes = probabilities.num_nodes
        check_sample_size(k, num_nodes, self_pairs=self_pairs)
        size = self.block_size or max(16, min(64 * k, 16_000_000 // num_nodes))
        blocks = torch.arange(num_nodes, device=probabilities.device).split(size)
        if noise == "minus":
            return draw_rows(
                probabilities, blocks, k, generator, num_samples, self_pairs=self_pairs, noise=noise
            )
        half = probabilities.half if isinstance(probabilities, Symmetrised) else probabilities
        across = half is not probabilities
        races = [_Race.start(num_nodes, k, half.device, across=across) for _ in range(num_samples)]
        bright = torch.zeros(num_nodes, dtype=torch.long, device=half.device)
        for block in blocks:
            rates = half.columns(block)
            if not self_pairs:
                rates[block, torch.arange(len(block), device=block.device)] = 0.0
            bright += (rates > _FAINT).sum(1)
            if across:
                bright[block] += (rates > _FAINT).sum(0)
            for race in races:
                race.run(rates, block, generator)
        times, nodes = zip(*(race.finish() for race in races), strict=True)
        # Both halves raced at their full rates, and the symmetric product is their mean.
        scores = torch.stack(times).mul_(2 if across else 1).log_().neg_()
        sample = Sample(torch.stack(nodes), scores)
        # An entry may be bright in both halves and is then counted twice.
        faint = (bright < (2 * k if across else k)).nonzero().squeeze(1)
        return redraw(sample, probabilities, faint, size, k, generator, self_pairs=self_pairs)


@final
@dataclass(eq=False)
class _Race:
    """Keep, for every row of one graph, the K smallest times so far, a half at a time."""

    times: Tensor  # (H, N, K)
    nodes: Tensor  # (H, N, K)

    @classmethod
    def start(cls, num_nodes: int, k: int, device: torch.device, *, across: bool) -> Self:
        shape = (2 if across else 1, num_nodes, k)
        times = torch.full(shape, torch.inf, dtype=torch.double, device=device)
        return cls(times, torch.full(shape, -1, device=device))

    def run(self, rates: Tensor, block: Tensor, generator: torch.Generator) -> None:
        """Let the columns of a block ring: in the first half for all rows, else for its own."""
        k = self.times.size(2)
        times = exponential_noise(tuple(rates.shape), generator, rates.device).div_(rates)
        new, place = torch.topk(times, min(k, times.size(1)), dim=1, largest=False)
        both = torch.cat([self.times[0], new], dim=1)
        nodes = torch.cat([self.nodes[0], block[place]], dim=1)
        self.times[0], keep = torch.topk(both, k, dim=1, largest=False)
        self.nodes[0] = nodes.gather(1, keep)
        if len(self.times) == 2:
            across = rates.t()
            times = exponential_noise(tuple(across.shape), generator, rates.device).div_(across)
            self.times[1, block], self.nodes[1, block] = torch.topk(times, k, dim=1, largest=False)

    def finish(self) -> tuple[Tensor, Tensor]:  # (N, K), (N, K)
        """Merge the halves; return the K smallest times and their nodes."""
        if len(self.times) == 1:
            return self.times[0], self.nodes[0]
        # Of a node that rang in both halves the earlier ring counts.
        same = self.nodes[0].unsqueeze(2) == self.nodes[1].unsqueeze(1)
        earlier = self.times[0].unsqueeze(2) <= self.times[1].unsqueeze(1)
        first = self.times[0].masked_fill((same & ~earlier).any(2), torch.inf)
        second = self.times[1].masked_fill((same & earlier).any(1), torch.inf)
        k = self.times.size(2)
        times, keep = torch.topk(torch.cat([first, second], 1), k, dim=1, largest=False)
        return times, torch.cat([self.nodes[0], self.nodes[1]], 1).gather(1, keep)


def draw_rows(
    probabilities: EdgeProbabilities,
    blocks: tuple[Tensor, ...],
    k: int,
    generator: torch.Generator,
    num_samples: int,
    *,
    self_pairs: bool,
    noise: Noise,
) -> Sample:
    """Draw whole rows in log space, a block of rows at a time."""
    size = (num_samples, sum(len(block) for block in blocks), k)
    scores = torch.empty(size, dtype=torch.double, device=probabilities.device)
    neighbours = torch.empty(size, dtype=torch.long, device=probabilities.device)
    start = 0
    for block in blocks:
        log_rows = probabilities.log_rows(block)
        for sample in range(num_samples):
            top = top_of_rows(log_rows, block, k, generator, self_pairs=self_pairs, noise=noise)
            scores[sample, start : start + len(block)] = top[0]
            neighbours[sample, start : start + len(block)] = top[1]
        start += len(block)
    return Sample(neighbours, scores)


def redraw(
    sample: Sample,
    probabilities: EdgeProbabilities,
    rows: Tensor,
    size: int,
    k: int,
    generator: torch.Generator,
    *,
    self_pairs: bool,
) -> Sample:
    """Draw some rows afresh; which rows these are must depend on the rates alone."""
    if len(rows) == 0:
        return sample
    again = draw_rows(
        probabilities,
        rows.split(size),
        k,
        generator,
        len(sample.neighbours),
        self_pairs=self_pairs,
        noise="plus",
    )
    sample.neighbours[:, rows] = again.neighbours
    sample.scores[:, rows] = again.scores
    return sample
