import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from bpgnn.nn.dropout import dropout
from bpgnn.nn.sparse import SparseMatrix


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


@given(st.sampled_from([0.1, 0.5, 0.8]), st.integers(0, 2**31))
def test_entries_are_zero_or_scaled_up_and_the_mean_is_kept(rate, seed):
    found = dropout(torch.ones(20_000), rate, training=True, generator=seeded(seed))
    kept = found[found != 0]
    torch.testing.assert_close(kept, torch.full_like(kept, 1 / (1 - rate)))
    # Six standard errors of the mean.
    assert abs(float(found.mean()) - 1) < 6 * (rate / (1 - rate) / 20_000) ** 0.5


def test_the_same_generator_gives_the_same_zeros_and_another_does_not():
    values = torch.ones(100)
    one, same, other = (
        dropout(values, 0.5, training=True, generator=seeded(seed)) for seed in (1, 1, 2)
    )
    assert torch.equal(one, same)
    assert not torch.equal(one, other)


@pytest.mark.parametrize(("rate", "training"), [(0.5, False), (0.0, True)])
def test_nothing_is_dropped_or_drawn_outside_training_or_at_rate_zero(rate, training):
    values, generator = torch.ones(100), seeded()
    before = generator.get_state()
    assert dropout(values, rate, training=training, generator=generator) is values
    assert torch.equal(generator.get_state(), before)


def test_of_sparse_features_stored_entries_are_dropped_and_the_pattern_stays():
    dense = torch.tensor([[0.0, 2.0], [3.0, 0.0]])
    sparse = SparseMatrix.from_csr(dense.to_sparse_csr())
    found = dropout(sparse, 0.5, training=True, generator=seeded(3))
    assert isinstance(found, SparseMatrix)
    assert found.column.tolist() == sparse.column.tolist()
    expected = dropout(sparse.value, 0.5, training=True, generator=seeded(3))
    assert torch.equal(found.value, expected)
    assert sparse.value.tolist() == [2.0, 3.0]


def test_the_gradient_is_that_of_the_kept_entries():
    values = torch.ones(50, requires_grad=True)
    found = dropout(values, 0.5, training=True, generator=seeded())
    found.sum().backward()
    assert torch.equal(values.grad, found.detach())
