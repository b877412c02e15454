import numpy as np
import pytest
import scipy.sparse
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.preprocessing import StandardScaler
from torch_geometric.data import Data
from torch_geometric.transforms import NormalizeFeatures

from bpgnn.data.catalog import load
from bpgnn.data.prepare import guess_kind, prepare_features
from bpgnn.data.sparse import rows_from_scipy, rows_to_scipy
from bpgnn.data.tables import load_table
from bpgnn.errors import InputError

counts = arrays(
    np.float32,
    st.tuples(st.integers(1, 6), st.integers(1, 6)),
    elements=st.integers(0, 9).map(float),
)


@given(values=counts)
def test_counts_are_divided_as_in_pyg_dense_and_sparse_alike(values):
    values[0, 0] = 0.0  # PyG first subtracts the smallest value, which is zero in counts.
    dense = prepare_features(torch.from_numpy(values), "counts")
    expected = NormalizeFeatures()(Data(x=torch.from_numpy(values))).x
    torch.testing.assert_close(dense, expected)
    sparse = prepare_features(rows_from_scipy(scipy.sparse.csr_array(values)), "counts")
    assert sparse.layout == torch.sparse_csr
    torch.testing.assert_close(sparse.to_dense(), expected)


def test_cora_is_divided_as_in_pyg_and_stays_sparse():
    features = load("cora").features
    expected = NormalizeFeatures()(Data(x=features.to_dense())).x
    prepared = prepare_features(features, "counts")
    assert prepared.layout == torch.sparse_csr
    torch.testing.assert_close(prepared.to_dense(), expected)


@pytest.mark.parametrize("name", ["digits", "wine", "breast_cancer"])
def test_tables_are_standardised_as_in_scikit_learn(name):
    features = load_table(name).features
    expected = StandardScaler().fit_transform(features.double().numpy())
    actual = prepare_features(features, "table")
    torch.testing.assert_close(actual, torch.from_numpy(expected).float(), atol=1e-5, rtol=1e-5)


def test_a_constant_column_becomes_zero_even_far_from_zero():
    features = torch.tensor([[0.1, 1.0], [0.1, 2.0], [0.1, 4.0]]) + torch.tensor([1e6, 0.0])
    assert prepare_features(features, "table")[:, 0].tolist() == [0.0, 0.0, 0.0]


def test_a_sparse_table_is_scaled_but_not_shifted():
    dense = np.array([[0.0, 2.0, 3.0], [4.0, 0.0, 3.0], [0.0, -1.0, 3.0]], dtype=np.float32)
    prepared = prepare_features(rows_from_scipy(scipy.sparse.csr_array(dense)), "table")
    expected = StandardScaler(with_mean=False).fit_transform(dense)
    expected[:, 2] = 0.0
    np.testing.assert_allclose(rows_to_scipy(prepared).toarray(), expected, rtol=1e-6)


def test_the_input_is_left_as_it_was():
    features = torch.tensor([[1.0, 3.0], [2.0, 2.0]])
    before = features.clone()
    prepare_features(features, "counts")
    prepare_features(features, "table")
    assert torch.equal(features, before)


def test_negative_counts_are_refused_with_the_cure():
    with pytest.raises(InputError, match="Use the kind 'table'"):
        prepare_features(torch.tensor([[1.0, -3.0]]), "counts")


def test_an_unknown_kind_is_refused():
    with pytest.raises(InputError, match="'table', 'alike', but got 'words'"):
        prepare_features(torch.ones(2, 2), "words")


def test_columns_that_are_alike_share_one_scale():
    features = torch.tensor([[0.0, 10.0, 5.0], [8.0, 11.0, 5.0], [4.0, 9.0, 5.0]])
    found = prepare_features(features, "alike")
    torch.testing.assert_close(found.mean(0), torch.zeros(3))
    ratio = found[:, 0].std() / found[:, 1].std()
    torch.testing.assert_close(ratio, features[:, 0].std() / features[:, 1].std())
    torch.testing.assert_close(found[:, :2].square().mean(), torch.tensor(1.0))
    assert found[:, 2].tolist() == [0.0, 0.0, 0.0]
    sparse = prepare_features(features.to_sparse_csr(), "alike").to_dense()
    torch.testing.assert_close(sparse[:, :2] - sparse[:, :2].mean(0), found[:, :2])


@pytest.mark.parametrize("kind", ["counts", "table", "alike"])
@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_rows_that_come_later_are_scaled_as_those_before(kind, layout):
    features = torch.rand(20, 12) * torch.arange(1.0, 13.0)
    features[:, 3] = 0.0
    if layout == "sparse":
        features = features.to_sparse_csr()
    whole = prepare_features(features, kind)
    again = prepare_features(features, kind, like=features)
    dense = [part.to_dense() for part in (whole, again)]
    torch.testing.assert_close(*dense)
    later = (features.to_dense()[:5] * 3 + 1).to_sparse_csr()
    later = later if layout == "sparse" else later.to_dense()
    one = prepare_features(later, kind, like=features).to_dense()
    if kind != "counts":
        # The same straight line for both: what lies between two rows stays in proportion.
        step = (dense[0][1] - dense[0][0]) * 3
        torch.testing.assert_close(one[1] - one[0], step, atol=1e-4, rtol=1e-4)


def test_the_kind_of_features_is_guessed():
    assert guess_kind(load_table("digits").features) == "alike"
    assert guess_kind(load_table("wine").features) == "table"
    assert guess_kind(load_table("breast_cancer").features) == "table"
    assert guess_kind(load("cora").features) == "counts"
    assert guess_kind(load("cora").features.to_dense()) == "counts"
    assert guess_kind(torch.randn(30, 20)) == "alike"
    assert guess_kind(torch.zeros(0, 4)) == "table"
