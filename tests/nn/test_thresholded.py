import gc
import weakref

import pytest
import torch

from bpgnn.nn.factor import DenseFactor, FeatureGram
from bpgnn.nn.thresholded import is_small, thresholded


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("stored", [True, False])
def test_gradients_of_products_under_masks_pass_gradcheck(stored):
    kept = torch.rand(5, 4, generator=seeded(1)) < 0.5
    gram = FeatureGram(torch.rand(5, 3, generator=seeded(2)).double())

    def answers(left, right, states):
        whole = thresholded(DenseFactor(left), DenseFactor(right), 0.4, stored=stored)
        part = whole.dropped(kept, 0.5)
        square = thresholded(DenseFactor(left), DenseFactor(left), 0.4, stored=stored)
        return (
            part.times(states) / whole.row_sums.unsqueeze(1).clamp(min=0.1),
            part.transposed_times(part.times(states)),
            part.square() + square.alignment(gram),
            whole.through(whole.row_sums).square(),
        )

    values = [
        torch.rand(*shape, generator=seeded(3), dtype=torch.float64).requires_grad_()
        for shape in ((5, 2), (4, 2), (4, 3))
    ]
    assert torch.autograd.gradcheck(answers, values)


@pytest.mark.parametrize("block", [3, 10, 100])
def test_the_symmetric_product_is_whole_whatever_its_blocks(block, monkeypatch):
    monkeypatch.setattr("bpgnn.nn.thresholded._SYMMETRIC_BLOCK", block)
    left, right = (torch.rand(size, 3, generator=seeded(size)).double() for size in (20, 10))
    weight = torch.rand(20, generator=seeded(1)).double()
    matrix = (left @ right.T) * (left @ right.T > 0.6)
    found = thresholded(DenseFactor(left), DenseFactor(right), 0.6).through(weight)
    torch.testing.assert_close(found.matrix, matrix.T @ (weight.unsqueeze(1) * matrix))


def test_a_way_back_that_never_reaches_the_factors_leaves_nothing_behind():
    vectors = torch.rand(6, 2, generator=seeded()).double().requires_grad_()
    states = torch.rand(6, 2, generator=seeded(1)).double().requires_grad_()
    matrix = thresholded(DenseFactor(vectors), DenseFactor(vectors), 0.2)
    total = (matrix.times(states) ** 2).sum()
    expected = torch.autograd.grad(total, vectors, retain_graph=True)[0]
    torch.autograd.grad(total, states, retain_graph=True)
    found = torch.autograd.grad(total, vectors)[0]
    torch.testing.assert_close(found, expected)


def test_matrices_are_freed_with_their_last_use():
    gc.disable()
    try:
        vectors = torch.rand(50, 2, generator=seeded()).requires_grad_()
        matrix = thresholded(DenseFactor(vectors), DenseFactor(vectors), 0.2)
        dropped = matrix.dropped(torch.ones(50, 50, dtype=torch.bool), 0.1)
        held = [weakref.ref(one.part.stored) for one in (matrix, dropped)]
        (dropped.times(vectors).sum() + matrix.square() + dropped.row_sums.sum()).backward()
        assert all(one() is not None for one in held)
        del matrix, dropped
        assert all(one() is None for one in held)
    finally:
        gc.enable()


def test_only_small_matrices_are_kept():
    assert is_small(4096, 4096)
    assert not is_small(4097, 4096)
