import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from bpgnn.data.synthetic import block_model
from bpgnn.errors import InputError
from bpgnn.estimator.classifier import BPGNNClassifier, LatentGraphClassifier
from bpgnn.model_selection import NodeGridSearch, NodeKFold, cross_validate_nodes

TINY = {"hidden": (8,), "embedding_hidden": (8,), "num_samples": 2}


@pytest.fixture(scope="module")
def searched():
    """A search over steps: one step has learned nothing, thirty have."""
    data = block_model(60, num_classes=2, mean_degree=6, num_features=8, seed=0)
    X, y, graph = data.features.numpy(), data.labels.numpy(), data.graph
    model = BPGNNClassifier(settings=TINY, random_state=0)
    search = NodeGridSearch(model, {"max_steps": [1, 30]}, cv=2).fit(X, y, graph)
    return search, X, y, graph


def test_it_finds_the_better_of_two_settings(searched):
    search = searched[0]
    assert search.best_params_ == {"max_steps": 30}
    assert search.best_score_ > 0.6 > search.cv_results_["mean_test_score"][0]
    assert search.best_index_ == 1
    assert search.cv_results_["rank_test_score"].tolist() == [2, 1]
    assert search.cv_results_["param_max_steps"].tolist() == [1, 30]


def test_its_scores_are_those_of_cross_validation(searched):
    search, X, y, graph = searched
    alone = cross_validate_nodes(search.best_estimator_, X, y, graph, cv=2)["test_score"]
    results = search.cv_results_
    assert [results[f"split{fold}_test_score"][1] for fold in range(2)] == alone.tolist()
    assert results["mean_test_score"][1] == pytest.approx(alone.mean())
    assert results["std_test_score"][1] == pytest.approx(alone.std())
    assert search.best_score_ == pytest.approx(alone.mean())


def test_it_stands_for_the_best_estimator_fitted_with_all_labels(searched):
    search, X, y, graph = searched
    alone = clone(search.best_estimator_).fit(X, y, graph)
    np.testing.assert_array_equal(search.transduction_, alone.transduction_)
    np.testing.assert_array_equal(search.label_distributions_, alone.label_distributions_)
    np.testing.assert_array_equal(search.classes_, [0, 1])
    assert search.latent_graph_.num_nodes == 60
    edges = [(0, 0), (1, 1)]
    np.testing.assert_array_equal(
        search.predict(X[:2], edges_new=edges), alone.predict(X[:2], edges)
    )
    np.testing.assert_array_equal(search.predict_proba(X[:2]), alone.predict_proba(X[:2]))


def test_a_pipelines_last_step_gets_the_graph(blocks):
    X, y, graph = blocks
    pipeline = Pipeline(
        [
            ("scale", StandardScaler()),
            ("nodes", LatentGraphClassifier("gcn", max_steps=5, random_state=0)),
        ]
    )
    grid = [{"nodes__max_steps": [2, 5]}, {"scale__with_mean": [False]}]
    search = NodeGridSearch(pipeline, grid, cv=NodeKFold(2, random_state=0)).fit(X, y, graph)
    assert len(search.transduction_) == len(y)
    assert not search.best_estimator_[-1].is_neighbour_graph_
    assert search.predict(X[:3]).shape == (3,)
    column = search.cv_results_["param_nodes__max_steps"]
    assert column.mask.tolist() == [False, False, True]
    assert search.cv_results_["params"][2] == {"scale__with_mean": False}


def test_of_several_scores_one_is_named_to_choose_by(recorder, blocks):
    X, y, _ = blocks
    scoring = {"right": "accuracy", "wrong": lambda truth, found: np.mean(truth != found)}
    for judge, best in (("right", 0), ("wrong", 7)):
        search = NodeGridSearch(recorder, {"offset": [0, 7]}, cv=2, scoring=scoring, refit=judge)
        assert search.fit(X, y).best_params_ == {"offset": best}
    assert search.cv_results_["rank_test_right"].tolist() == [1, 2]
    with pytest.raises(InputError, match="`refit` must name the one that says which is best: rig"):
        NodeGridSearch(recorder, {"offset": [0]}, scoring=scoring).fit(X, y)


def test_without_refit_there_are_scores_alone(recorder, blocks):
    X, y, _ = blocks
    search = NodeGridSearch(recorder, {"offset": [7, 0]}, cv=2, refit=False).fit(X, y)
    assert search.best_params_ == {"offset": 0}
    assert len(recorder.calls) == 4
    with pytest.raises(NotFittedError, match="`refit` is False"):
        _ = search.transduction_
    with pytest.raises(NotFittedError, match="Call 'fit'"):
        _ = NodeGridSearch(recorder, {"offset": [0]}).transduction_
    assert not hasattr(search, "label_distributions_")


@pytest.mark.parametrize(
    ("grid", "sentence"),
    [
        ({"ofset": [1]}, "Recorder has no parameter 'ofset'. Did you mean offset"),
        ({"offset": 1}, "`grid` must name parameters and lists of values"),
        ({"offset": []}, "`grid` must name parameters and lists of values"),
        (3, "`grid` must name parameters and lists of values"),
    ],
)
def test_a_bad_grid_is_refused_before_any_training(recorder, blocks, grid, sentence):
    X, y, _ = blocks
    with pytest.raises(InputError, match=sentence):
        NodeGridSearch(recorder, grid).fit(X, y)
    assert recorder.calls == []


def test_a_line_is_shown_for_each_setting_if_asked(recorder, blocks, capsys):
    X, y, _ = blocks
    NodeGridSearch(recorder, {"offset": [0, 7]}, cv=2, verbose=1).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == ["1 of 2", "2 of 2"]
    assert "{'offset': 7}" in lines[1]


def test_it_is_cloned_like_any_estimator(recorder):
    search = NodeGridSearch(recorder, {"offset": [1]}, cv=3, refit=False)
    copy = clone(search)
    assert copy.get_params(deep=False)["cv"] == 3
    assert copy.estimator is not recorder
