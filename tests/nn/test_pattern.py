import pytest
import torch

from bpgnn.nn.pattern import Pattern, SparseValues, product_at, sparse_product


def random_pattern(generator, shape=(7, 5), share=0.4):
    places = (torch.rand(shape, generator=generator) < share).nonzero()
    shuffled = places[torch.randperm(len(places), generator=generator)]
    return Pattern.from_places(*shuffled.t(), shape), places


def test_places_are_sorted_and_have_their_rows(generator):
    pattern, places = random_pattern(generator)
    assert torch.equal(torch.stack([pattern.row, pattern.column], dim=1), places)
    assert pattern.pointer.tolist()[-1] == len(places)


def test_turning_transposes(generator):
    pattern, _ = random_pattern(generator)
    value = torch.randn(pattern.column.numel(), generator=generator)
    turned, order = pattern.turned
    whole = SparseValues(pattern, value).to_dense()
    assert torch.equal(SparseValues(turned, value[order]).to_dense(), whole.t())


def test_places_left_out_are_left_out_of_the_transpose(generator):
    pattern, _ = random_pattern(generator)
    value = torch.randn(pattern.column.numel(), generator=generator)
    keep = torch.rand(value.shape, generator=generator) < 0.5
    fewer = pattern.kept(keep)
    expected = SparseValues(pattern, value * keep).to_dense()
    assert torch.equal(SparseValues(fewer, value[keep]).to_dense(), expected)
    turned, order = fewer.turned
    assert torch.equal(SparseValues(turned, value[keep][order]).to_dense(), expected.t())


@pytest.mark.parametrize("width", [3, 70])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_sparse_product_is_the_dense_one(generator, width, dtype):
    pattern, _ = random_pattern(generator)
    value = torch.randn(pattern.column.numel(), generator=generator).to(dtype)
    dense = torch.randn(5, width, generator=generator).to(dtype)
    expected = SparseValues(pattern, value).to_dense() @ dense
    torch.testing.assert_close(sparse_product(pattern, value, dense), expected)


def test_entries_at_places_are_those_of_the_whole_product(generator):
    pattern, places = random_pattern(generator)
    left, right = torch.randn(7, 4, generator=generator), torch.randn(5, 4, generator=generator)
    expected = (left @ right.t())[places[:, 0], places[:, 1]]
    torch.testing.assert_close(product_at(pattern, left, right), expected)


@pytest.mark.parametrize("width", [2, 64])
def test_both_products_have_gradients_and_those_have_gradients(generator, width):
    pattern, _ = random_pattern(generator, shape=(4, 3))
    draws = [(pattern.column.numel(),), (4, width), (3, width)]
    value, left, right = (
        torch.randn(shape, generator=generator).double().requires_grad_() for shape in draws
    )
    for check in (torch.autograd.gradcheck, torch.autograd.gradgradcheck):
        if check is torch.autograd.gradgradcheck and width > 2:
            continue
        assert check(lambda v, d: sparse_product(pattern, v, d), (value, right))
        assert check(lambda a, b: product_at(pattern, a, b), (left, right))


def test_no_places_give_zeros_and_nothing():
    pattern = Pattern.from_keys(torch.empty(0, dtype=torch.long), (3, 2))
    value = torch.empty(0, requires_grad=True)
    found = sparse_product(pattern, value, torch.ones(2, 4))
    assert torch.equal(found, torch.zeros(3, 4))
    assert product_at(pattern, torch.ones(3, 4), torch.ones(2, 4)).numel() == 0
    found.sum().backward()
