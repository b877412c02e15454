import pytest
import torch
import torch.nn.functional as F

from bpgnn.nn import factor
from bpgnn.nn.similarity import FactoredSimilarity
from bpgnn.nn.sparse import SparseMatrix
from bpgnn.nn.thresholded import ThresholdedSimilarity
from bpgnn.nn.weighted_cosine import WeightedCosine


def vectors(seed=0):
    generator = torch.Generator().manual_seed(seed)
    dense = torch.rand(9, 5, generator=generator, dtype=torch.float64)
    dense *= torch.rand(9, 5, generator=generator) < 0.6
    dense[2] = 0
    return dense


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("speed", [0, 1e9], ids=["stay sparse", "made dense"])
@pytest.mark.parametrize("epsilon", [0.0, 0.5])
@pytest.mark.parametrize("columns", [None, torch.tensor([7, 2, 0])])
def test_similarities_are_mean_cosines_above_the_threshold(
    monkeypatch, sparse, speed, epsilon, columns
):
    monkeypatch.setattr(factor, "DENSE_SPEED", speed)
    dense = vectors()
    given = SparseMatrix.from_csr(dense.to_sparse_csr()) if sparse else dense
    compare = WeightedCosine(5, 3, epsilon).double()
    others = dense if columns is None else dense[columns]
    expected = torch.stack(
        [
            F.cosine_similarity((dense * own).unsqueeze(1), others * own, dim=-1, eps=1e-12)
            for own in compare.weight
        ]
    ).mean(0)
    expected = torch.where(expected > epsilon, expected, 0.0).detach()
    for found in (compare(given, columns), compare.entries(given, columns)):
        torch.testing.assert_close(found.rows(0, 9), expected)


def test_vectors_without_negative_entries_need_no_threshold_of_zero():
    compare, tight = (WeightedCosine(5, 2, epsilon).double() for epsilon in (0.0, 0.1))
    assert isinstance(compare(vectors()), FactoredSimilarity)
    assert isinstance(compare(vectors() - 0.1), ThresholdedSimilarity)
    assert isinstance(tight(vectors()), ThresholdedSimilarity)
    assert isinstance(compare.entries(vectors()), ThresholdedSimilarity)
