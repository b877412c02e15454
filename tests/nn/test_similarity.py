import pytest
import torch

from bpgnn.nn import similarity as blocks
from bpgnn.nn.factor import DenseFactor, FeatureGram
from bpgnn.nn.similarity import (
    DenseSimilarity,
    FactoredSimilarity,
    row_blocks,
    squared_distance,
    squared_norm,
)
from bpgnn.nn.thresholded import thresholded

GENERATOR = torch.Generator().manual_seed(0)
LEFT, RIGHT, STATES, OTHERS, FEATURES = (
    torch.rand(*shape, generator=GENERATOR, dtype=torch.float64)
    for shape in ((7, 3), (7, 3), (7, 2), (7, 2), (7, 4))
)
KEPT = torch.rand(7, 7, generator=GENERATOR) < 0.6
MEAN = float((LEFT @ RIGHT.T).mean())

KINDS = {
    "dense": (lambda a, b: DenseSimilarity(a @ b.T), lambda a, b: a @ b.T),
    "factored": (FactoredSimilarity, lambda a, b: a @ b.T),
    "thresholded": (
        lambda a, b: thresholded(DenseFactor(a), DenseFactor(b), MEAN),
        lambda a, b: torch.where(a @ b.T > MEAN, a @ b.T, 0.0),
    ),
    "unstored": (
        lambda a, b: thresholded(DenseFactor(a), DenseFactor(b), MEAN, stored=False),
        lambda a, b: torch.where(a @ b.T > MEAN, a @ b.T, 0.0),
    ),
    "dropped": (
        lambda a, b: thresholded(DenseFactor(a), DenseFactor(b), 0.0).dropped(KEPT, 0.5),
        lambda a, b: a @ b.T * KEPT * 2,
    ),
    "dropped, unstored": (
        lambda a, b: thresholded(DenseFactor(a), DenseFactor(b), 0.0, stored=False).dropped(
            KEPT, 0.5
        ),
        lambda a, b: a @ b.T * KEPT * 2,
    ),
}


def asked(similarity):
    """All that can be asked of a similarity, as one number."""
    among = similarity.through(similarity.row_sums)
    gram = FeatureGram(FEATURES)
    return (
        (similarity.times(STATES) * OTHERS).sum()
        + (similarity.transposed_times(STATES) ** 2).sum()
        + similarity.column_sums.prod()
        + similarity.alignment(gram)
        + similarity.square()
        + among.square()
        + among.alignment(gram)
    )


@pytest.mark.parametrize("rows", [2, 100])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_answers_and_differentiates_as_its_matrix_does(kind, rows, monkeypatch):
    monkeypatch.setattr(blocks, "_BLOCK_ENTRIES", 7 * rows)
    make, matrix = KINDS[kind]
    left, right = (one.clone().requires_grad_() for one in (LEFT, RIGHT))
    found, expected = asked(make(left, right)), asked(DenseSimilarity(matrix(left, right)))
    torch.testing.assert_close(found, expected)
    for one, other in zip(
        torch.autograd.grad(found, (left, right)),
        torch.autograd.grad(expected, (left, right)),
        strict=True,
    ):
        torch.testing.assert_close(one, other)
    torch.testing.assert_close(make(LEFT, RIGHT).rows(2, 5), matrix(LEFT, RIGHT)[2:5])


@pytest.mark.parametrize("kind", KINDS)
def test_distances_and_norms_are_frobenius(kind):
    make, matrix = KINDS[kind]
    for other in KINDS:
        one, two = make(LEFT, RIGHT), KINDS[other][0](RIGHT, LEFT)
        expected = ((matrix(LEFT, RIGHT) - KINDS[other][1](RIGHT, LEFT)) ** 2).sum()
        assert squared_distance(one, two) == pytest.approx(float(expected))
    assert squared_norm(make(LEFT, RIGHT)) == pytest.approx(float((matrix(LEFT, RIGHT) ** 2).sum()))


def test_blocks_cover_all_rows_once():
    found = row_blocks(100_000, 50_000)
    assert [start for start, _ in found] == [0, *(stop for _, stop in found[:-1])]
    assert found[-1][1] == 100_000
    assert max(stop - start for start, stop in found) < 100
