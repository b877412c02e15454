import torch

from bpgnn.nn import similarity
from bpgnn.nn.heaviest import heaviest_neighbours


def test_each_row_keeps_its_heaviest_positive_entries_whatever_the_blocks(monkeypatch):
    monkeypatch.setattr(similarity, "_BLOCK_ENTRIES", 1)
    generator = torch.Generator().manual_seed(0)
    matrix = torch.rand(40, 40, generator=generator) * (
        torch.rand(40, 40, generator=generator) < 0.2
    )
    matrix[5] = 0
    found = heaviest_neighbours(lambda start, stop: matrix[start:stop], 40, limit=6)
    dense = torch.zeros_like(matrix)
    dense[found.targets, found.sources] = found.weights
    least = matrix.sort(descending=True).values[:, 5:6]
    assert torch.equal(dense, matrix * (matrix >= least))
    assert int(found.in_degree[5]) == 0
