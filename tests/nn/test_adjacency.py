import pytest
import torch

from bpgnn.nn.adjacency import SymmetricPlaces, normalized, propagate, thinned
from bpgnn.nn.pattern import SparseValues


@pytest.fixture
def neighbours(generator):
    """Three distinct neighbours of each of eight nodes."""
    return torch.rand(8, 8, generator=generator).topk(3).indices


def dense_of(neighbours, weight):
    matrix = weight.new_zeros(len(neighbours), len(neighbours))
    return matrix.scatter(1, neighbours, weight)


def in_plain_loops(matrix):
    """(G + G^T) / 2, each entry divided by the roots of the degrees of its ends."""
    size = len(matrix)
    both = [[(matrix[i, j] + matrix[j, i]) / 2 for j in range(size)] for i in range(size)]
    degree = [sum(row) for row in both]
    return torch.stack(
        [
            torch.stack([both[i][j] / (degree[i] * degree[j]) ** 0.5 for j in range(size)])
            for i in range(size)
        ]
    )


def test_symmetrised_and_normalised_it_is_the_dense_arithmetic(neighbours, generator):
    weight = torch.rand(8, 3, generator=generator).double().requires_grad_()
    found = normalized(SymmetricPlaces(neighbours).adjacency(weight)).to_dense()
    expected = in_plain_loops(dense_of(neighbours, weight))
    torch.testing.assert_close(found, expected)
    both = (dense_of(neighbours, weight) + dense_of(neighbours, weight).t()) / 2
    torch.testing.assert_close(normalized(both), expected)
    price = torch.randn(8, 8, generator=generator).double()
    gradients = [torch.autograd.grad((m * price).sum(), weight)[0] for m in (found, expected)]
    torch.testing.assert_close(*gradients)


def test_a_pair_chosen_from_both_sides_is_one_entry(neighbours, generator):
    places = SymmetricPlaces(torch.tensor([[0, 1], [0, 1], [2, 0]]))
    found = places.adjacency(torch.tensor([[1.0, 0.4], [0.2, 1.0], [1.0, 0.6]]))
    assert found.value.numel() == 7
    expected = torch.tensor([[1.0, 0.3, 0.3], [0.3, 1.0, 0.0], [0.3, 0.0, 1.0]])
    torch.testing.assert_close(found.to_dense(), expected)


def test_a_node_whose_weights_are_zero_is_alone_and_has_finite_gradients(neighbours):
    weight = torch.ones(8, 3)
    weight[neighbours == 0] = 0.0
    weight[0] = 0.0
    weight.requires_grad_()
    found = normalized(SymmetricPlaces(neighbours).adjacency(weight))
    states = propagate(found, torch.ones(8, 2))
    assert states[0].tolist() == [0, 0]
    states.sum().backward()
    assert torch.isfinite(weight.grad).all()


@pytest.mark.parametrize("kind", ["sparse", "dense"])
def test_thinning_drops_entries_in_training_only_and_keeps_the_mean(neighbours, generator, kind):
    whole = SymmetricPlaces(neighbours).adjacency(torch.rand(8, 3, generator=generator))
    given = whole if kind == "sparse" else whole.to_dense()
    assert thinned(given, 0.5, training=False, generator=generator) is given
    total = torch.zeros(8, 8)
    for _ in range(300):
        drawn = thinned(given, 0.25, training=True, generator=generator)
        drawn = drawn.to_dense() if isinstance(drawn, SparseValues) else drawn
        kept = drawn != 0
        torch.testing.assert_close(drawn[kept], whole.to_dense()[kept] / 0.75)
        total += drawn
    torch.testing.assert_close(total / 300, whole.to_dense(), atol=0.16, rtol=0)


def test_thinned_entries_have_gradients_and_the_others_none(neighbours, generator):
    weight = torch.rand(8, 3, generator=generator).double().requires_grad_()
    states = torch.randn(8, 2, generator=generator).double().requires_grad_()
    whole = SymmetricPlaces(neighbours).adjacency(weight)
    drawn = thinned(whole, 0.5, training=True, generator=generator)
    found = torch.autograd.grad(propagate(drawn, states).sum(), (weight, states))
    whole = SymmetricPlaces(neighbours).adjacency(weight).to_dense()
    again = whole * (drawn.to_dense() != 0) * 2
    expected = torch.autograd.grad((again @ states).sum(), (weight, states))
    torch.testing.assert_close(found, expected)
