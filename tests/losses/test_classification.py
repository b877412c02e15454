import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import log_loss
from sklearn.utils.class_weight import compute_class_weight

from bpgnn.losses.classification import balanced_weight, classification_loss

LABELS = torch.tensor([0, 2, 1, 1, 0, 2, 2])
CLASS_WEIGHT = torch.tensor([0.5, 2.0, 1.25])


@pytest.fixture
def logits():
    return torch.randn(7, 3, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("weight", [None, CLASS_WEIGHT])
def test_cross_entropy_is_the_log_loss_of_scikit_learn(logits, weight):
    found = classification_loss(logits, LABELS, class_weight=weight)
    rows = None if weight is None else weight[LABELS].numpy()
    expected = log_loss(LABELS.numpy(), logits.double().softmax(1).numpy(), sample_weight=rows)
    assert float(found) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("weight", [None, CLASS_WEIGHT])
def test_binary_loss_asks_one_question_a_class(logits, weight):
    total = 0.0
    for row, label in zip(logits.double().sigmoid(), LABELS.tolist(), strict=True):
        for c, p in enumerate(row):
            cost = 1.0 if weight is None else float(weight[label])
            total -= cost * float((p if c == label else 1 - p).log())
    found = classification_loss(logits, LABELS, kind="binary", class_weight=weight)
    assert float(found) == pytest.approx(total / logits.numel(), rel=1e-5)


@pytest.mark.parametrize("kind", ["cross_entropy", "binary"])
def test_sure_and_right_costs_nothing_and_sure_and_wrong_much(kind):
    sure = 50 * F.one_hot(LABELS, 3).float() - 25
    assert float(classification_loss(sure, LABELS, kind=kind)) < 1e-6
    assert float(classification_loss(-sure, LABELS, kind=kind)) > 10


@given(st.lists(st.integers(0, 4), min_size=1, max_size=40))
def test_balanced_weights_are_those_of_scikit_learn_and_zero_for_absent_classes(labels):
    found = balanced_weight(torch.tensor(labels), 5)
    present = np.unique(labels)
    expected = np.zeros(5)
    expected[present] = compute_class_weight("balanced", classes=present, y=np.array(labels))
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-5)


def test_balanced_weights_give_every_class_the_same_say():
    labels = torch.tensor([0] * 90 + [1] * 10)
    # Always sure of class 0: without weights nearly right, with them right half the time.
    logits = torch.tensor([[4.0, 0.0]]).expand(100, 2)
    plain = classification_loss(logits, labels)
    balanced = classification_loss(logits, labels, class_weight=balanced_weight(labels, 2))
    each = [float(classification_loss(logits[:1], torch.tensor([c]))) for c in (0, 1)]
    assert float(balanced) == pytest.approx(sum(each) / 2, rel=1e-5)
    assert balanced > plain
