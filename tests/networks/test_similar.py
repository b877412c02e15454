import pytest
import torch
from sklearn.metrics.pairwise import cosine_similarity

from bpgnn.networks import similar
from bpgnn.networks.graph_generators import unit_rows
from bpgnn.networks.similar import most_similar, similarities
from bpgnn.nn.sparse import SparseMatrix


def vectors(num_nodes=40, width=25, share=0.25, dtype=torch.float32):
    generator = torch.Generator().manual_seed(0)
    dense = torch.rand(num_nodes, width, generator=generator) + 0.1
    dense *= torch.rand(num_nodes, width, generator=generator) < share
    dense[7] = 0.0
    return dense.to(dtype)


def forms(dense):
    return dense, SparseMatrix.from_csr(dense.to_sparse_csr())


@pytest.fixture(params=["compiled", "blocks"])
def way(request, monkeypatch):
    """Both searches over sparse vectors, and dense ones in blocks of few rows."""
    monkeypatch.setattr(similar, "DENSE_SPEED", 0 if request.param == "compiled" else 1e9)
    monkeypatch.setattr(similar, "BLOCK_ENTRIES", 40 * 7)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_most_similar_are_those_of_scikit_learn(way, dtype):
    dense = vectors(dtype=dtype)
    unit = torch.nn.functional.normalize(dense, dim=1)
    expected = torch.from_numpy(cosine_similarity(dense.numpy())).sort(descending=True).values
    for given in (unit, unit_rows(forms(dense)[1])):
        found = most_similar(given, 6)
        assert found.shape == (40, 6)
        assert all(len(set(row)) == 6 and row == sorted(row) for row in found.tolist())
        values = similarities(given, found).sort(descending=True).values
        torch.testing.assert_close(values, expected[:, :6], atol=1e-6, rtol=1e-5)


def test_of_equally_alike_nodes_the_first_are_taken():
    sparse = torch.zeros(9, 400)
    sparse[:, 0] = 1.0
    found = most_similar(SparseMatrix.from_csr(sparse.to_sparse_csr()), 3)
    assert found.tolist() == [[0, 1, 2]] * 9


def test_similarities_and_their_gradients_are_those_of_the_dense_product():
    dense = vectors(dtype=torch.double)
    neighbours = most_similar(dense, 5)
    full, sparse = forms(dense)
    full, value = full.clone().requires_grad_(), sparse.value.clone().requires_grad_()
    expected = (full @ full.t()).gather(1, neighbours)
    price = torch.randn(40, 5, generator=torch.Generator().manual_seed(1)).double()
    (wanted,) = torch.autograd.grad((expected * price).sum(), full)
    for given, leaf in ((full, full), (sparse.with_value(value), value)):
        found = similarities(given, neighbours)
        torch.testing.assert_close(found, expected)
        (gradient,) = torch.autograd.grad((found * price).sum(), leaf)
        here = wanted if leaf is full else wanted[dense != 0]
        torch.testing.assert_close(gradient, here)


@pytest.mark.parametrize("shape", [(3, 4), (1, 1)])
def test_few_nodes_can_all_be_found(way, shape):
    found = most_similar(forms(torch.ones(shape))[1], shape[0])
    assert found.tolist() == [list(range(shape[0]))] * shape[0]
