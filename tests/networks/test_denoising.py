import pytest
import torch
import torch.nn.functional as F

from bpgnn.networks.denoising import Mask, independent_draws, kind_of, reconstruction_loss
from bpgnn.nn.sparse import SparseMatrix


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def words():
    return (torch.rand(30, 20, generator=seeded(5)) < 0.1).float()


@pytest.mark.parametrize("share", [0.02, 0.5, 0.97])
def test_each_number_is_drawn_with_its_probability_and_by_itself(share):
    times, counts, pairs = 800, torch.zeros(12), 0
    generator = seeded()
    for _ in range(times):
        taken = independent_draws(12, share, generator=generator)
        assert taken.tolist() == sorted(set(taken.tolist()))
        counts[taken] += 1
        pairs += {3, 4} <= set(taken.tolist())
    spread = (share * (1 - share) / times) ** 0.5
    assert ((counts / times - share).abs() < 5 * spread).all()
    assert abs(pairs / times - share**2) < 5 * (share**2 * (1 - share**2) / times) ** 0.5


def test_all_or_none_or_few_of_many_can_be_drawn():
    assert independent_draws(4, 0.0, generator=seeded()).numel() == 0
    assert independent_draws(0, 0.5, generator=seeded()).numel() == 0
    assert independent_draws(4, 1.0, generator=seeded()).tolist() == [0, 1, 2, 3]
    found = independent_draws(10**9, 1e-6, generator=seeded())
    assert 800 < found.numel() < 1200
    assert found.max() < 10**9


@pytest.mark.parametrize("sparse", [False, True])
def test_ones_and_zeros_are_hidden_at_their_rates_and_only_the_hidden_are_zeroed(sparse):
    features = words()
    given = SparseMatrix.from_csr(features.to_sparse_csr()) if sparse else features
    mask = Mask(given, "presence", share=0.2, zeros=3.0)
    hidden, generator = torch.zeros(30, 20), seeded()
    for _ in range(200):
        masked = mask.draw(generator=generator)
        place = masked.pattern.row, masked.pattern.column
        assert torch.equal(masked.target, features[place])
        here = torch.zeros(30, 20).index_put(place, torch.ones(len(masked.target)))
        assert torch.equal(masked.features.to_dense(), features * (1 - here))
        hidden += here
    num_ones, num_zeros = features.sum(), (features == 0).sum()
    rate = hidden[features == 1].mean() / 200
    assert abs(rate - 0.2) < 0.02
    rate = hidden[features == 0].mean() / 200
    expected = 0.2 * 3 * num_ones / num_zeros
    assert abs(rate / expected - 1) < 0.1


def test_values_are_hidden_all_alike_zeros_among_them():
    features = torch.randn(30, 20, generator=seeded()) * (words() == 0)
    mask = Mask(features, "value", share=0.3, zeros=5.0)
    masked = [mask.draw(generator=seeded(seed)) for seed in range(60)]
    zeros = sum(float((one.target == 0).sum()) for one in masked) / 60
    others = sum(float((one.target != 0).sum()) for one in masked) / 60
    assert abs(zeros / (features == 0).sum() - 0.3) < 0.03
    assert abs(others / (features != 0).sum() - 0.3) < 0.01


def test_features_without_zeros_or_without_anything_else_can_be_hidden():
    for features in (torch.ones(3, 4), torch.zeros(3, 4)):
        masked = Mask(features, "presence", share=1.0, zeros=2.0).draw(generator=seeded())
        assert masked.target.numel() == features.sum()
    nothing = reconstruction_loss(torch.empty(0), torch.empty(0), "presence")
    assert nothing == 0


def test_the_loss_is_that_of_the_dense_output_at_the_hidden_places():
    features = words()
    masked = Mask(features, "presence", share=0.5, zeros=1.0).draw(generator=seeded())
    output = torch.randn(30, 20, generator=seeded(1))
    place = masked.pattern.row, masked.pattern.column
    hidden = torch.zeros(30, 20, dtype=torch.bool).index_put(place, torch.tensor(True))
    found = reconstruction_loss(output[place], masked.target, "presence")
    expected = F.binary_cross_entropy_with_logits(output[hidden], features[hidden])
    torch.testing.assert_close(found, expected)
    found = reconstruction_loss(output[place], masked.target, "value")
    torch.testing.assert_close(found, F.mse_loss(output[hidden], features[hidden]))


def test_sparse_features_and_zeros_and_ones_are_a_presence():
    assert kind_of(words()) == "presence"
    assert kind_of(SparseMatrix.from_csr((words() * 0.3).to_sparse_csr())) == "presence"
    assert kind_of(words() * 0.3) == "value"
    # Of counts, the loss of a presence would fall without end.
    assert kind_of(SparseMatrix.from_csr((words() * 3.0).to_sparse_csr())) == "value"
