import numpy as np
import pytest
import scipy.sparse
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_digits

from bpgnn.data.sparse import rows_from_scipy
from bpgnn.data.tables import load_table, neighbour_graph
from bpgnn.errors import InputError


def test_digits_are_scikit_learns():
    digits = load_table("digits")
    bunch = load_digits()
    assert np.array_equal(digits.features.numpy(), bunch.data.astype(np.float32))
    assert np.array_equal(digits.labels.numpy(), bunch.target)
    assert digits.graph is None
    assert digits.feature_kind == "table"
    assert digits.class_names[3] == "3"


def test_an_unknown_table_is_refused():
    with pytest.raises(InputError, match="digits, wine, breast_cancer, but got 'iris'"):
        load_table("iris")


def by_definition(features, k, metric):
    """Sort all distances of each node, in plain loops."""
    if metric == "cosine":
        features = features / np.linalg.norm(features, axis=1, keepdims=True)
    pairs = set()
    for node, row in enumerate(features):
        distance = ((features - row) ** 2).sum(axis=1)
        distance[node] = np.inf
        pairs |= {
            (min(node, other), max(node, other)) for other in np.argsort(distance)[:k].tolist()
        }
    return pairs


@given(
    num_nodes=st.integers(3, 20),
    k=st.integers(1, 5),
    metric=st.sampled_from(["euclidean", "cosine"]),
    sparse=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_neighbours_are_the_nearest_by_definition(num_nodes, k, metric, sparse, seed):
    k = min(k, num_nodes - 1)
    values = np.random.default_rng(seed).random((num_nodes, 4)).astype(np.float32)
    features = (
        rows_from_scipy(scipy.sparse.csr_array(values)) if sparse else torch.from_numpy(values)
    )
    graph = neighbour_graph(features, k, metric)
    expected = by_definition(values.astype(np.float64), k, metric)
    assert set(map(tuple, graph.undirected_pairs().T.tolist())) == expected
    assert graph.is_undirected
    assert int(graph.in_degree.min()) >= k


def test_equal_rows_are_neighbours_but_never_of_themselves():
    graph = neighbour_graph(torch.ones(5, 2), k=4)
    assert not bool((graph.sources == graph.targets).any())
    assert graph.in_degree.tolist() == [4] * 5


@pytest.mark.parametrize("k", [0, 3, 10])
def test_k_out_of_range_is_refused(k):
    with pytest.raises(InputError, match=f"`k` must be between 1 and 2, but got {k}"):
        neighbour_graph(torch.rand(3, 2, generator=torch.Generator().manual_seed(0)), k)


def test_an_unknown_metric_is_refused():
    with pytest.raises(InputError, match="'euclidean' or 'cosine', but got 'city'"):
        neighbour_graph(torch.eye(3), 1, "city")
