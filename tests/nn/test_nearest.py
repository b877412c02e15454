import numpy as np
import pytest
import torch
from sklearn.metrics import pairwise_distances

from bpgnn.errors import InputError
from bpgnn.nn.nearest import nearest_graph
from bpgnn.nn.sparse import SparseMatrix


def counts(seed=0):
    generator = torch.Generator().manual_seed(seed)
    dense = torch.rand(30, 12, generator=generator)
    return dense * (dense > 0.6)


@pytest.mark.parametrize("metric", ["cosine", "minkowski"])
@pytest.mark.parametrize("sparse", [False, True])
def test_neighbours_are_the_nearest_of_all_pairs(metric, sparse):
    features = counts()
    given = SparseMatrix.from_csr(features.to_sparse_csr()) if sparse else features
    graph = nearest_graph(given, 4, metric=metric)
    distance = pairwise_distances(features.numpy().astype(float), metric=metric)
    np.fill_diagonal(distance, np.inf)
    assert graph.in_degree.tolist() == [4] * 30
    found = np.sort(distance[graph.targets, graph.sources].reshape(30, 4), axis=1)
    np.testing.assert_allclose(found, np.sort(distance, axis=1)[:, :4], atol=1e-6)


@pytest.mark.parametrize("k", [0, 30, 31])
def test_more_neighbours_than_there_are_nodes_get_a_sentence(k):
    with pytest.raises(InputError, match=f"between 1 and 29 for 30 nodes, but got {k}"):
        nearest_graph(counts(), k)


@pytest.mark.parametrize("sparse", [False, True])
def test_later_nodes_have_neighbours_among_the_known_and_are_nobodys(sparse):
    features = counts()
    given = SparseMatrix.from_csr(features.to_sparse_csr()) if sparse else features
    graph = nearest_graph(given, 4, num_known=20)
    distance = pairwise_distances(features.numpy().astype(float), metric="cosine")
    np.fill_diagonal(distance, np.inf)
    assert int(graph.sources.max()) < 20
    found = np.sort(distance[graph.targets, graph.sources].reshape(30, 4), axis=1)
    np.testing.assert_allclose(found, np.sort(distance[:, :20], axis=1)[:, :4], atol=1e-6)


def test_neighbours_are_among_the_known_so_there_must_be_as_many():
    with pytest.raises(InputError, match="between 1 and 4 for 5 nodes, but got 5"):
        nearest_graph(counts(), 5, num_known=5)
