import numpy as np
import pytest
import torch
from sklearn.metrics import pairwise_distances

from bpgnn.errors import InputError
from bpgnn.nn.nearest import alike_pairs, nearest_graph
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


def listed(pairs):
    """Whom each node is listed with."""
    found = {}
    for known, node in zip(*pairs.tolist(), strict=True):
        found.setdefault(node, set()).add(known)
    return found


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("later", [False, True])
def test_pairs_are_the_most_alike_of_the_known(sparse, later):
    features = counts()
    given = SparseMatrix.from_csr(features.to_sparse_csr()) if sparse else features
    distance = pairwise_distances(features.numpy().astype(float), metric="cosine")
    np.fill_diagonal(distance, np.inf)
    nodes = range(20, 30) if later else range(20)
    found = listed(alike_pairs(given, 4, 20, later=later))
    for node in nodes:
        seen = np.sort(distance[node, sorted(found[node])])
        expected = np.sort(distance[node, :20])[:4]
        np.testing.assert_allclose(seen, expected[expected < 1 - 1e-9], atol=1e-9)
    assert set(found) == set(nodes)


@pytest.mark.parametrize("sparse", [False, True])
def test_nodes_with_nothing_in_common_are_no_pair(sparse):
    features = torch.tensor([[1.0, 0, 0], [2.0, 0, 0], [0, 1.0, 0], [0, 0, 0], [0, 0, 0]])
    given = SparseMatrix.from_csr(features.to_sparse_csr()) if sparse else features
    assert listed(alike_pairs(given, 3, 5)) == {0: {1}, 1: {0}}
    assert listed(alike_pairs(given, 1, 2, later=True)) == {}


def test_whom_a_later_node_is_like_does_not_depend_on_who_else_is_asked_about():
    generator = torch.Generator().manual_seed(0)
    # Zeros and ones have many ties, which the last bit of a product would break.
    features = (torch.rand(270, 300, generator=generator) < 0.3).float()
    together = listed(alike_pairs(features, 5, 70, later=True))
    for node in range(70, 270):
        alone = torch.cat([features[:70], features[node : node + 1]])
        assert listed(alike_pairs(alone, 5, 70, later=True))[70] == together[node]
