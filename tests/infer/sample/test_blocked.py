"""Exact sampling a block of columns at a time."""

import torch

from bpgnn.infer.sample.blocked import BlockedSampler
from bpgnn.infer.sample.dense import DenseSampler
from tests.infer.examples import make


def test_a_block_holds_far_less_than_the_whole_matrix(monkeypatch):
    """Whatever is asked of the matrix is a block of columns, never all of it."""
    probabilities, _ = make("product")
    widths = []
    columns = type(probabilities).columns

    def spy(self, index):
        widths.append(len(index))
        return columns(self, index)

    monkeypatch.setattr(type(probabilities), "columns", spy)
    generator = torch.Generator().manual_seed(0)
    BlockedSampler(block_size=2).sample(probabilities, 2, generator=generator)
    assert widths == [2, 2, 2]


def test_reversed_noise_gives_what_the_dense_sampler_gives():
    """With one block the two consume the same noise, so they draw the same graph."""
    probabilities, _ = make("symmetric")
    draws = [
        sampler.sample(probabilities, 3, generator=torch.Generator().manual_seed(5), noise="minus")
        for sampler in (BlockedSampler(block_size=6), DenseSampler())
    ]
    assert torch.equal(draws[0].neighbours, draws[1].neighbours)
    torch.testing.assert_close(draws[0].scores, draws[1].scores)
