import numpy as np
import pytest
from sklearn import metrics

from bpgnn.errors import InputError
from bpgnn.model_selection.scoring import SCORES, Hidden, read_scoring

TRUTH, FOUND = np.array(["a", "b", "b", "a", "b"]), np.array(["a", "b", "a", "a", "b"])
CHANCES = np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4], [0.7, 0.3], [0.5, 0.5]])
HIDDEN = Hidden(TRUTH, FOUND, CHANCES, np.array(["a", "b"]))

REFERENCE = {
    "accuracy": metrics.accuracy_score(TRUTH, FOUND),
    "balanced_accuracy": metrics.balanced_accuracy_score(TRUTH, FOUND),
    "f1_macro": metrics.f1_score(TRUTH, FOUND, average="macro"),
    "f1_micro": metrics.f1_score(TRUTH, FOUND, average="micro"),
    "f1_weighted": metrics.f1_score(TRUTH, FOUND, average="weighted"),
    "matthews_corrcoef": metrics.matthews_corrcoef(TRUTH, FOUND),
    "neg_log_loss": -metrics.log_loss(TRUTH, CHANCES),
}


def test_every_score_is_scikit_learns():
    assert set(SCORES) == set(REFERENCE)
    for name, expected in REFERENCE.items():
        assert read_scoring(name)["score"](HIDDEN) == pytest.approx(expected), name


def test_a_class_that_the_fold_lacks_costs_much_and_warns_of_nothing():
    strange = Hidden(np.array(["c", "c"]), FOUND[:2], CHANCES[:2], np.array(["a", "b"]))
    assert SCORES["neg_log_loss"](strange) == pytest.approx(np.log(np.finfo(float).eps))
    assert SCORES["balanced_accuracy"](strange) == SCORES["f1_macro"](strange) == 0


def test_functions_and_names_may_be_mixed():
    scores = read_scoring({"right": "accuracy", "count": lambda truth, found: len(truth)})
    assert {name: score(HIDDEN) for name, score in scores.items()} == {"right": 0.8, "count": 5.0}
    kappa = read_scoring(metrics.cohen_kappa_score)["score"](HIDDEN)
    assert kappa == metrics.cohen_kappa_score(TRUTH, FOUND)


@pytest.mark.parametrize(
    ("scoring", "sentence"),
    [
        ("acuracy", "There is no score 'acuracy'. Did you mean accuracy"),
        (3, "`scoring` must be a name, a function"),
        ({}, "`scoring` is empty"),
        ({"a": None}, "`scoring` must be a name, a function"),
        (metrics.make_scorer(metrics.f1_score), "such as sklearn.metrics.f1_score, but"),
        (lambda truth: 1.0, "does not take these two alone"),
    ],
)
def test_a_bad_score_is_refused_with_a_sentence(scoring, sentence):
    with pytest.raises(InputError, match=sentence):
        read_scoring(scoring)


def test_what_returns_no_number_or_needs_probabilities_is_refused():
    with pytest.raises(InputError, match="A score must be one number"):
        read_scoring(lambda truth, found: "good")["score"](HIDDEN)
    with pytest.raises(InputError, match="neg_log_loss needs `label_distributions_`"):
        SCORES["neg_log_loss"](Hidden(TRUTH, FOUND, None, np.array(["a", "b"])))
