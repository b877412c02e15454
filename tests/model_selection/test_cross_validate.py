import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bpgnn.errors import InputError
from bpgnn.estimator.classifier import BPGNNClassifier, LatentGraphClassifier
from bpgnn.model_selection import NodeKFold, cross_validate_nodes, hide_labels

TINY = {"hidden": (8,), "embedding_hidden": (8,), "num_samples": 2}


def make_model(**choices):
    return BPGNNClassifier(settings=TINY, max_steps=10, random_state=0, **choices)


def test_every_fit_gets_the_very_same_features_and_graph(recorder, blocks):
    X, y, graph = blocks
    cross_validate_nodes(recorder, X, y, graph, cv=4)
    assert len(recorder.calls) == 4
    assert all(call[0] is X and call[2] is graph for call in recorder.calls)


def test_each_label_is_hidden_once_and_nothing_else_changes(recorder, blocks):
    X, y, graph = blocks
    before = y.copy()
    cross_validate_nodes(recorder, X, y, graph, cv=4)
    np.testing.assert_array_equal(y, before)
    times_hidden = sum((seen == -1).astype(int) for _, seen, _ in recorder.calls)
    np.testing.assert_array_equal(times_hidden, np.where(y == -1, 4, 1))
    for _, seen, _ in recorder.calls:
        np.testing.assert_array_equal(seen[seen != -1], y[seen != -1])


def test_features_without_any_slicing_will_do(recorder):
    class Whole:
        def __getitem__(self, place):
            raise AssertionError("X was sliced")

    X, y = Whole(), np.arange(12) % 2
    found = cross_validate_nodes(recorder, X, y, cv=3)
    assert found["test_score"].tolist() == [0.5, 0.5, 0.5]


def test_it_agrees_with_a_loop_by_hand(blocks):
    X, y, graph = blocks
    folds = NodeKFold(3, random_state=1)
    found = cross_validate_nodes(
        make_model(),
        X,
        y,
        graph,
        cv=folds,
        scoring={"right": "accuracy", "loss": "neg_log_loss"},
        return_estimator=True,
    )
    for fold, (_, test) in enumerate(folds.split(X, y)):
        seen = y.copy()
        seen[test] = -1
        model = make_model().fit(X, seen, graph=graph)
        right = np.mean(model.transduction_[test] == y[test])
        loss = np.mean(np.log(model.label_distributions_[test, y[test]]))
        assert found["test_right"][fold] == pytest.approx(right)
        assert found["test_loss"][fold] == pytest.approx(loss)
        np.testing.assert_array_equal(found["estimator"][fold].transduction_, model.transduction_)
    assert set(found) == {"fit_time", "score_time", "test_right", "test_loss", "estimator"}
    assert (found["fit_time"] > 0).all()


def test_texts_and_numbers_give_the_same_scores(blocks):
    X, y, graph = blocks
    names = pd.Series([None if label == -1 else f"kind {label}" for label in y])
    scores = [
        cross_validate_nodes(make_model(), X, labels, graph, cv=2)["test_score"]
        for labels in (y, names, np.where(y == -1, np.nan, y))
    ]
    np.testing.assert_array_equal(scores[0], scores[1])
    np.testing.assert_array_equal(scores[0], scores[2])


def test_labels_outside_a_fold_are_hidden_too(recorder, blocks):
    X, y, _ = blocks
    known = np.flatnonzero(y != -1)
    cross_validate_nodes(recorder, X, y, cv=[(known[:20], known[25:])])
    ((_, seen, _),) = recorder.calls
    assert np.flatnonzero(seen != -1).tolist() == known[:20].tolist()


def test_scikit_learns_splitters_are_cut_down_to_labelled_nodes(recorder, blocks):
    X, y, _ = blocks
    found = cross_validate_nodes(recorder, X, y, cv=ShuffleSplit(2, random_state=0))
    assert len(found["test_score"]) == 2
    assert np.isfinite(found["test_score"]).all()


def test_a_pipeline_hands_the_graph_to_its_last_step(recorder, blocks):
    X, y, graph = blocks
    found = cross_validate_nodes(make_pipeline(StandardScaler(), recorder), X, y, graph, cv=2)
    assert all(call[2] is graph for call in recorder.calls)
    assert len(recorder.calls[0][0]) == len(X)
    assert len(found["test_score"]) == 2


def test_a_line_is_shown_for_each_fold_if_asked(recorder, blocks, capsys):
    X, y, _ = blocks
    cross_validate_nodes(recorder, X, y, cv=2)
    assert capsys.readouterr().out == ""
    cross_validate_nodes(recorder, X, y, cv=2, verbose=1)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == ["fold 1 of 2", "fold 2 of 2"]


def test_any_method_can_be_judged(blocks):
    X, y, graph = blocks
    model = LatentGraphClassifier("gcn", max_steps=10, random_state=0)
    assert cross_validate_nodes(model, X, y, graph, cv=2)["test_score"].mean() > 0.5


class Inductive(BaseEstimator):
    def fit(self, X, y, graph=None):
        return self


@pytest.mark.parametrize(
    ("cv", "sentence"),
    [
        (1, "`n_splits` must be a whole number from 2 up"),
        ("five", "`cv` must be a number of folds"),
        (2.5, "`cv` must be a number of folds"),
        ([], "`cv` has no folds"),
        ([([1, 2], [99])], "`cv` must yield pairs"),
        ([([1, 2], [2, 3])], "tests nodes that it trains with"),
        ([([1, 2], [0, 5])], "no labelled node to train with, or none to test"),
    ],
)
def test_bad_folds_are_refused_before_any_training(recorder, blocks, cv, sentence):
    X, y, _ = blocks
    with pytest.raises(InputError, match=sentence):
        cross_validate_nodes(recorder, X, y, cv=cv)
    assert recorder.calls == []


def test_an_estimator_that_labels_only_new_rows_is_refused(blocks):
    X, y, _ = blocks
    with pytest.raises(InputError, match="LogisticRegression does not label the nodes"):
        cross_validate_nodes(LogisticRegression(), X, hide_labels(y, []), cv=2)
    with pytest.raises(InputError, match="Inductive does not label the nodes"):
        cross_validate_nodes(Inductive(), X, y, cv=2)


def test_a_score_sees_labels_of_the_type_they_were_handed_in_with(blocks):
    X, y, _ = blocks
    seen = []

    def score(truth, found):
        seen.append((truth.dtype.kind, found.dtype.kind))
        return 0.0

    model = LatentGraphClassifier("mlp", max_steps=1, random_state=0)
    holes = [None if label < 0 else label for label in y.tolist()]
    for labels in (y, holes, np.array([None if one is None else one > 0 for one in holes])):
        cross_validate_nodes(
            model, X, labels, cv=[(np.arange(20), np.arange(20, 40))], scoring=score
        )
    assert seen == [("i", "i"), ("i", "i"), ("b", "b")]


def test_other_hidden_labels_give_the_very_same_model(blocks):
    # Nothing may see them: not training, early stopping, class weights or the list of classes.
    X, y, graph = blocks
    known = np.flatnonzero(y >= 0)
    folds = [(known[::2], known[1::2])]
    others = y.copy()
    others[known[1::2]] = np.where(np.arange(len(known) // 2) % 3 == 0, 7, 1 - y[known[1::2]])
    model = make_model(validation_share=0.3, class_weight="balanced")
    found = [
        cross_validate_nodes(model, X, labels, graph, cv=folds, return_estimator=True)
        for labels in (y, others)
    ]
    one, other = (row["estimator"][0] for row in found)
    assert one.classes_.tolist() == other.classes_.tolist() == [0, 1]
    np.testing.assert_array_equal(one.label_distributions_, other.label_distributions_)
    assert found[0]["test_score"][0] > found[1]["test_score"][0]
