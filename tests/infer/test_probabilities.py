"""Every kind of edge probabilities keeps the same promises."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from bpgnn.infer.probabilities import KernelProbabilities
from tests.infer.examples import EDGES, KINDS, SHARPNESS, latent_points, make


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@pytest.mark.parametrize("shape", EDGES)
@pytest.mark.parametrize("sharpness", SHARPNESS)
def test_the_dense_matrix_is_the_definition_in_plain_loops(kind, shape, sharpness):
    probabilities, plain = make(kind, shape, sharpness)
    wanted = torch.tensor(plain, dtype=torch.double)
    torch.testing.assert_close(probabilities.to_dense(), wanted, rtol=1e-9, atol=1e-300)


@pytest.mark.parametrize("shape", EDGES)
@pytest.mark.parametrize("sharpness", SHARPNESS)
def test_rows_entries_and_columns_agree_with_the_dense_matrix(kind, shape, sharpness):
    probabilities, _ = make(kind, shape, sharpness)
    dense, index = probabilities.log_dense(), torch.tensor([4, 0, 5])
    torch.testing.assert_close(probabilities.log_rows(index), dense[index], rtol=1e-8, atol=1e-8)
    columns = probabilities.columns(index)
    torch.testing.assert_close(columns, dense.exp()[:, index], rtol=1e-8, atol=1e-280)
    edges = torch.tensor([[1, 2, 3], [0, 5, 3]])
    torch.testing.assert_close(probabilities.log_entries(edges), dense[edges[1], edges[0]])
    torch.testing.assert_close(probabilities.entries(edges), dense.exp()[edges[1], edges[0]])


def test_entries_have_the_right_gradient(kind):
    edges = torch.tensor([[1, 2, 3, 0], [0, 5, 3, 2]])

    def entries(latent):
        return make(kind, latent=latent)[0].log_entries(edges)

    assert torch.autograd.gradcheck(entries, (latent_points().requires_grad_(),))


def test_far_points_underflow_neither_in_rows_nor_in_entries(kind):
    latent = latent_points() * 40
    probabilities, _ = make(kind, "path", "sharp", latent=latent)
    dense = probabilities.log_dense()
    assert torch.isfinite(dense).all()
    assert dense.min() < -2000 or kind == "sum"
    rows = probabilities.log_rows(torch.arange(6))
    torch.testing.assert_close(rows, dense, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("self_pairs", [True, False])
def test_row_totals_are_the_sums_of_the_dense_rows(kind, self_pairs):
    probabilities, _ = make(kind)
    if kind in ("symmetric", "sum"):
        with pytest.raises(ValueError, match="plain product"):
            probabilities.log_totals(self_pairs=self_pairs)
        return
    dense = probabilities.to_dense()
    if not self_pairs:
        dense = dense - torch.diag(dense.diagonal())
    found = probabilities.log_totals(self_pairs=self_pairs)
    torch.testing.assert_close(found, dense.sum(1).log(), rtol=1e-6, atol=1e-6)


@given(seed=st.integers(0, 500))
def test_relabelling_nodes_relabels_the_matrix(seed):
    latent = latent_points(seed=seed)
    order = torch.randperm(6, generator=torch.Generator().manual_seed(seed))
    metric = make("kernel")[0].metric
    sharp = torch.tensor(1.0, dtype=torch.double)
    dense = KernelProbabilities(latent, sharp, metric).to_dense()
    relabelled = KernelProbabilities(latent[order], sharp, metric).to_dense()
    torch.testing.assert_close(relabelled, dense[order][:, order])
