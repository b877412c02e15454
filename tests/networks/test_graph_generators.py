import pytest
import torch
import torch.nn.functional as F
from sklearn.neighbors import kneighbors_graph

from bpgnn.networks.graph_generators import DenseGenerator, DiagonalGenerator, FullGenerator
from bpgnn.nn.pattern import Pattern, SparseValues
from bpgnn.nn.sparse import SparseMatrix


def words():
    draws = torch.rand(12, 8, generator=torch.Generator().manual_seed(0)).double()
    draws = draws * (draws > 0.6)
    draws[4] = 0.0
    return draws


def dense_of(vectors):
    if isinstance(vectors, torch.Tensor):
        return vectors
    pattern = Pattern(vectors.pointer, vectors.column, vectors.shape)
    return SparseValues(pattern, vectors.value).to_dense()


@pytest.mark.parametrize("activation", ["relu", "tanh"])
@pytest.mark.parametrize("kind", [DenseGenerator, DiagonalGenerator])
def test_vectors_and_gradients_are_those_of_the_definition(kind, activation):
    features = words()
    generator = kind(8, activation).double()
    noise = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in generator.parameters():
            parameter += 0.3 * torch.randn(parameter.shape, generator=noise)
    act = getattr(torch, activation)
    if kind is DenseGenerator:
        hidden = act(features @ generator.first + generator.first_bias)
        expected = hidden @ generator.second + generator.second_bias
    else:
        hidden = act(features @ generator.first.diag())
        expected = hidden @ generator.second.diag()
    expected = F.normalize(expected, dim=1)
    price = torch.randn(12, 8, generator=noise).double()
    wanted = torch.autograd.grad((expected * price).sum(), list(generator.parameters()))
    for given in (features, SparseMatrix.from_csr(features.to_sparse_csr())):
        found = dense_of(generator(given))
        torch.testing.assert_close(found, expected)
        gradient = torch.autograd.grad((found * price).sum(), list(generator.parameters()))
        torch.testing.assert_close(gradient, wanted)


@pytest.mark.parametrize("kind", [DenseGenerator, DiagonalGenerator])
def test_at_first_vectors_are_the_features_at_length_one_but_for_small_biases(kind):
    features, generator = words(), kind(8, "relu").double()
    for name, bias in generator.named_parameters():
        if "bias" in name:
            assert 0 < float(bias.detach().abs().max()) <= 8**-0.5
            bias.data.zero_()
    torch.testing.assert_close(dense_of(generator(features)), F.normalize(features, dim=1))


def test_what_is_weighed_down_to_zero_has_finite_gradients():
    matrix = SparseMatrix.from_csr(words().to_sparse_csr())
    generator = DiagonalGenerator(8, "relu").double()
    with torch.no_grad():
        generator.first.fill_(-1.0)
    generator(matrix).value.sum().backward()
    assert all(torch.isfinite(p.grad).all() for p in generator.parameters())


def test_the_full_matrix_begins_as_the_nearest_neighbours():
    features = words().float()[torch.arange(12) != 4]
    found = FullGenerator(features, 3)().detach()
    nearest = kneighbors_graph(features.numpy(), 3, metric="cosine", include_self=False).toarray()
    nearest = torch.from_numpy(nearest).float() + torch.eye(11)
    small = torch.tensor(-6.0).exp()
    expected = nearest + (1 - nearest) * small
    torch.testing.assert_close(found, (expected + expected.t()) / 2)
