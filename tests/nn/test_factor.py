import pytest
import torch

from bpgnn.nn import factor
from bpgnn.nn.factor import (
    DenseFactor,
    FeatureGram,
    SparseFactor,
    chosen_rows,
    feature_factor,
    is_nonnegative,
    to_dense,
    transposed,
    without_zeros,
)
from bpgnn.nn.sparse import SparseMatrix


def words(rows, seed=0):
    generator = torch.Generator().manual_seed(seed)
    dense = torch.rand(rows, 6, generator=generator, dtype=torch.float64)
    dense *= torch.rand(rows, 6, generator=generator) < 0.4
    dense[1] = 0
    return dense


def sparse(dense):
    return SparseMatrix.from_csr(dense.to_sparse_csr())


def sparse_factor(dense, channels):
    matrix = sparse(dense)
    scales = torch.arange(1.0, channels + 1, dtype=dense.dtype)
    return SparseFactor(matrix, matrix.value.unsqueeze(1) * scales)


@pytest.mark.parametrize("channels", [1, 3])
def test_sparse_products_and_their_gradients_are_those_of_dense_vectors(channels):
    one, two = words(8), words(5, seed=1)
    left, right = sparse_factor(one, channels), sparse_factor(two, channels)
    scale = sum(number**2 for number in range(1, channels + 1))
    expected = scale * one @ two.T
    torch.testing.assert_close(left.products(right, 0, 8), expected)
    torch.testing.assert_close(left.products(right, 3, 6), expected[3:6])
    slopes = torch.rand(8, 5, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    found = [torch.zeros_like(left.tensor), torch.zeros_like(right.tensor)]
    for start in (0, 3, 6):
        left.add_gradients(right, slopes[start : start + 3], start, *found)
    for channel in range(channels):
        wanted = (
            ((channel + 1) * slopes @ two)[one != 0],
            ((channel + 1) * slopes.T @ one)[two != 0],
        )
        for value, expected in zip(found, wanted, strict=True):
            torch.testing.assert_close(value[:, channel], expected)


def test_dense_factors_multiply_and_differentiate_as_matrices_do():
    left, right = DenseFactor(words(8)), DenseFactor(words(5, seed=1))
    torch.testing.assert_close(left.products(right, 2, 4), (left.tensor @ right.tensor.T)[2:4])
    slopes = torch.rand(8, 5, dtype=torch.float64)
    found = [torch.zeros_like(left.tensor), torch.zeros_like(right.tensor)]
    for start in (0, 4):
        left.add_gradients(right, slopes[start : start + 4], start, *found)
    torch.testing.assert_close(found[0], slopes @ right.tensor)
    torch.testing.assert_close(found[1], slopes.T @ left.tensor)


def test_bags_of_few_words_stay_sparse_and_crowded_ones_do_not():
    generator = torch.Generator().manual_seed(0)
    for share, kind in ((0.02, SparseFactor), (0.5, DenseFactor)):
        dense = (torch.rand(200, 50, generator=generator) < share).float()
        assert isinstance(feature_factor(sparse(dense)), kind)
    assert torch.equal(feature_factor(sparse(dense)).tensor, dense)


@pytest.fixture(params=[0, 1e9], ids=["stays sparse", "made dense"])
def way(request, monkeypatch):
    monkeypatch.setattr(factor, "DENSE_SPEED", request.param)


@pytest.mark.parametrize("stored", [True, False])
@pytest.mark.parametrize("kind", [sparse, lambda dense: dense])
def test_the_gram_matrix_is_that_of_dense_features(way, kind, stored):
    dense = words(8)
    gram = FeatureGram(kind(dense), stored=stored)
    torch.testing.assert_close(gram.rows(2, 7), (dense @ dense.T)[2:7])
    torch.testing.assert_close(gram.squared_norms(), dense.square().sum(1))
    states = torch.rand(8, 2, dtype=torch.float64)
    torch.testing.assert_close(gram.transposed_times(states), dense.T @ states)


def test_sparse_features_are_turned_and_thinned_as_dense_ones_are():
    dense = words(8)
    index = torch.tensor([4, 1, 7, 4])
    matrix = sparse(dense)
    assert torch.equal(to_dense(transposed(matrix)), dense.T)
    chosen = chosen_rows(matrix, index)
    assert torch.equal(to_dense(chosen), dense[index])
    assert torch.equal(to_dense(transposed(chosen)), dense[index].T)
    holed = matrix.with_value(matrix.value * (matrix.value > 0.5))
    thin = without_zeros(holed)
    assert thin.value.numel() == int((dense > 0.5).sum())
    assert torch.equal(to_dense(thin), dense * (dense > 0.5))
    assert torch.equal(to_dense(transposed(thin)), (dense * (dense > 0.5)).T)


def test_a_negative_entry_is_noticed():
    assert is_nonnegative(sparse(words(4)))
    assert not is_nonnegative(words(4) - 1)
    assert is_nonnegative(torch.zeros(0, 3))
