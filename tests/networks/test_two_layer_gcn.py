import pytest
import torch

from bpgnn.networks.two_layer_gcn import TwoLayerGCN
from bpgnn.nn.adjacency import SymmetricPlaces, normalized
from bpgnn.nn.pattern import Pattern, SparseValues
from bpgnn.nn.sparse import SparseMatrix


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def example(**rates):
    features = torch.rand(9, 5, generator=seeded(1))
    features = (features * (features > 0.5)).double()
    neighbours = torch.rand(9, 9, generator=seeded(2)).topk(3).indices
    weight = torch.rand(9, 3, generator=seeded(3)).double()
    rates = {"dropout": 0.0, "adjacency_dropout": 0.0, **rates}
    network = TwoLayerGCN(5, 6, 4, **rates).double()
    return network, features, normalized(SymmetricPlaces(neighbours).adjacency(weight))


def forms(features):
    matrix = SparseMatrix.from_csr(features.to_sparse_csr())
    pattern = Pattern(matrix.pointer, matrix.column, matrix.shape)
    return features, matrix, SparseValues(pattern, matrix.value)


def test_it_is_two_dense_layers_for_every_form_of_features_and_matrix():
    network, features, adjacency = example()
    dense = adjacency.to_dense()
    hidden = torch.relu(dense @ (features @ network.first + network.first_bias))
    expected = dense @ (hidden @ network.second.t() + network.second_bias)
    for given in forms(features):
        for matrix in (adjacency, dense):
            found = network(given, matrix, generator=seeded())
            torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("rate", [0.0, 0.5])
def test_some_entries_of_the_output_are_those_of_the_whole_with_their_gradients(rate):
    network, features, adjacency = example(dropout=rate, adjacency_dropout=rate)
    row, column = torch.tensor([0, 8, 3, 3]), torch.tensor([1, 0, 3, 2])
    pattern = Pattern.from_places(row, column, (9, 4))
    given = forms(features)[2]
    some = network.at(pattern, given, adjacency, generator=seeded())
    whole = network(given, adjacency, generator=seeded())[pattern.row, pattern.column]
    torch.testing.assert_close(some, whole)
    gradients = [
        torch.autograd.grad((out**2).sum(), list(network.parameters())) for out in (some, whole)
    ]
    torch.testing.assert_close(*gradients)


def test_dropout_acts_on_hidden_states_and_entries_in_training_only():
    for rates in ({"dropout": 0.5}, {"adjacency_dropout": 0.5}):
        network, features, adjacency = example(**rates)
        one, two = (network(features, adjacency, generator=seeded(s)) for s in (1, 2))
        assert not torch.equal(one, two)
        network.eval()
        one, two = (network(features, adjacency, generator=seeded(s)) for s in (1, 2))
        assert torch.equal(one, two)
