import json

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from bpgnn.data.synthetic import block_model
from bpgnn.errors import InputError
from bpgnn.estimator.classifier import BPGNNClassifier, LatentGraphClassifier

SMALL = {"hidden": (16,), "embedding_hidden": (16,), "num_samples": 2}

# scikit-learn's semi-supervised estimators take -1 for a missing label, and so do we; the check
# has it for a class.
EXPECTED = {"check_classifiers_classes": "-1 stands for a missing label, not for a class"}


@parametrize_with_checks(
    [BPGNNClassifier(max_steps=20, settings=SMALL)],
    expected_failed_checks=lambda _: EXPECTED,
)
@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_s_own_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def nodes():
    data = block_model(120, seed=1, feature_noise=0.8)
    y = np.where(data.chosen_split().train.numpy(), data.labels.numpy(), -1)
    return data, data.features.numpy(), y, data.graph.to_scipy()


@pytest.fixture(scope="module")
def model(nodes):
    _, X, y, graph = nodes
    return BPGNNClassifier(max_steps=60, settings=SMALL, random_state=0).fit(X, y, graph=graph)


def test_all_nodes_are_labelled_from_some(model, nodes):
    data, _, y, _ = nodes
    truth = data.labels.numpy()
    assert model.transduction_.shape == truth.shape
    assert (model.transduction_ == truth)[y < 0].mean() > 0.75
    np.testing.assert_allclose(model.label_distributions_.sum(1), 1)
    assert model.latent_graph_.num_nodes == 120
    assert (model.classes_ == [0, 1, 2, 3]).all()


def test_new_nodes_are_joined_by_their_edges(model, nodes):
    data, X, _, _ = nodes
    label = data.labels.numpy()
    for known in range(4):
        members = np.flatnonzero(label == known)[:10]
        edges = np.stack([members, np.zeros_like(members)])
        found = model.predict(X[members].mean(0, keepdims=True), edges_new=edges)
        assert found.tolist() == [known]
    assert model.predict_proba(X[:3]).shape == (3, 4)


def test_without_a_graph_the_nearest_stand_in():
    X, y = load_iris(return_X_y=True)
    some = np.where(np.arange(150) % 5 == 0, y, -1)
    model = BPGNNClassifier(max_steps=60, settings=SMALL, random_state=0).fit(X, some)
    assert (model.transduction_ == y).mean() > 0.75
    assert model.score(X, y) > 0.75


def test_frames_of_numbers_and_categories():
    generator = np.random.default_rng(0)
    kind = generator.integers(2, size=80)
    frame = pd.DataFrame(
        {
            "age": generator.normal(30 + 20 * kind, 3),
            "city": np.where(generator.random(80) < 0.9, np.array(["Bern", "Chur"])[kind], "Genf"),
        },
        index=[f"row {number}" for number in range(80)],
    )
    y = np.array(["young", "old"], dtype=object)[kind]
    y[40:] = None
    model = BPGNNClassifier(max_steps=60, settings=SMALL, random_state=0).fit(frame, y)
    truth = np.array(["young", "old"])[kind]
    assert (model.transduction_ == truth).mean() > 0.9
    assert model.fit_.dataset.node_names[3] == "row 3"
    assert model.feature_names_in_.tolist() == ["age", "city"]
    assert (model.predict(frame[:5]) == truth[:5]).all()
    hole = frame.copy()
    hole.loc["row 4", "age"] = np.nan
    with pytest.raises(InputError, match="age"):
        BPGNNClassifier(max_steps=1).fit(hole, y)


def test_a_sliced_graph_is_sent_to_model_selection(nodes):
    _, X, y, graph = nodes
    with pytest.raises(InputError, match="model_selection"):
        BPGNNClassifier(max_steps=1).fit(X[:50], y[:50], graph=graph)


def test_saved_and_loaded_it_predicts_the_same(model, nodes, tmp_path):
    _, X, _, _ = nodes
    model.save(tmp_path / "model.bpgnn")
    again = BPGNNClassifier.load(tmp_path / "model.bpgnn")
    assert (again.transduction_ == model.transduction_).all()
    np.testing.assert_array_equal(again.predict_proba(X[:4]), model.predict_proba(X[:4]))
    assert json.dumps(again.get_params()) == json.dumps(model.get_params())
    assert list(tmp_path.iterdir()) == [tmp_path / "model.bpgnn"]


def test_a_damaged_file_is_a_sentence(model, tmp_path):
    path = tmp_path / "model.bpgnn"
    model.save(path)
    content = path.read_bytes()
    changed = bytearray(content)
    changed[len(content) // 2] ^= 4
    for damaged in (bytes(changed), content[:-50], content[:20], b"", b"{}" * 40):
        path.write_bytes(damaged)
        with pytest.raises(InputError, match="damaged or not a model"):
            BPGNNClassifier.load(path)
    with pytest.raises(InputError, match="Cannot read"):
        BPGNNClassifier.load(tmp_path / "none")


def test_a_model_of_another_class_is_refused(model, tmp_path):
    model.save(tmp_path / "model.bpgnn")
    with pytest.raises(InputError, match="holds a BPGNNClassifier"):
        LatentGraphClassifier.load(tmp_path / "model.bpgnn")


def test_a_pipeline_takes_the_graph_by_its_step(nodes):
    data, X, y, graph = nodes
    steps = make_pipeline(
        StandardScaler(), BPGNNClassifier(max_steps=40, settings=SMALL, random_state=0)
    )
    steps.fit(X, y, bpgnnclassifier__graph=graph)
    assert (steps[-1].transduction_ == data.labels.numpy()).mean() > 0.7
    assert steps.predict(X[:3]).shape == (3,)


@pytest.mark.parametrize("method", ["mlp", "gcn", "knn-gcn", "ddgm-e"])
def test_other_methods_have_the_same_face(method, nodes):
    data, X, y, graph = nodes
    model = LatentGraphClassifier(method, max_steps=40, random_state=0)
    model = clone(model).set_params(verbose=0).fit(scipy.sparse.csr_array(X), y, graph=graph)
    assert (model.transduction_ == data.labels.numpy()).mean() > 0.6
    if method == "knn-gcn":
        with pytest.raises(InputError, match="has no answer"):
            model.predict(X[:2])
    else:
        assert model.predict(X[:2]).shape == (2,)


def test_a_score_counts_labelled_rows_only(model, nodes):
    data, X, y, _ = nodes
    truth = data.labels.numpy()
    right = model.predict(X) == truth
    assert model.score(X, y) == right[y >= 0].mean()
    holes = [None if label < 0 else label for label in y.tolist()]
    weight = np.where(y % 2 == 0, 2.0, 1.0)
    known = np.average(right[y >= 0], weights=weight[y >= 0])
    assert model.score(X, holes, sample_weight=weight) == pytest.approx(known)
    with pytest.raises(InputError, match="nothing to measure"):
        model.score(X, np.full(len(y), -1))


def test_a_frame_s_labels_in_another_order_are_refused(nodes):
    _, X, y, _ = nodes
    frame = pd.DataFrame(X, index=[f"n{row}" for row in range(len(X))])
    shuffled = pd.Series(y, index=frame.index)[::-1]
    with pytest.raises(InputError, match="another order"):
        BPGNNClassifier(max_steps=1, settings=SMALL).fit(frame, shuffled)


def test_callbacks_and_the_bar_see_the_training(nodes, capsys):
    _, X, y, graph = nodes
    seen = []
    model = BPGNNClassifier(max_steps=5, settings=SMALL, verbose=1, callbacks=[seen.append])
    model.fit(X, y, graph=graph)
    assert [one.step for one in seen] == [1, 2, 3, 4, 5]
    assert "5/5" in capsys.readouterr().out


def test_labels_are_kept_aside_where_there_are_many(nodes):
    _, X, y, graph = nodes
    kept = BPGNNClassifier(max_steps=20, settings=SMALL, validation_share=0.25, random_state=0)
    split = kept.fit(X, y, graph=graph).fit_.dataset.chosen_split()
    assert int(split.validation.sum()) == round(0.25 * (y >= 0).sum())
    with pytest.raises(InputError, match="validation_share"):
        BPGNNClassifier(validation_share=1.5).fit(X, y)


def test_class_weights_are_by_name(nodes):
    _, X, y, graph = nodes
    heavy = BPGNNClassifier(
        max_steps=60, settings=SMALL, class_weight={2: 1000.0, 0: 0.001, 1: 0.001, 3: 0.001}
    )
    found = heavy.set_params(random_state=0).fit(X, y, graph=graph).transduction_
    assert (found == 2).mean() > 0.5
    with pytest.raises(InputError, match="class_weight"):
        BPGNNClassifier(class_weight="heavy", max_steps=1).fit(X, y)


@pytest.mark.parametrize(
    ("choices", "words"),
    [
        ({"num_neighbors": 0}, "`num_neighbors` must be a whole number from 1 up"),
        ({"num_neighbors": "seven"}, "`num_neighbors` must be a whole number from 1 up"),
        ({"callbacks": print}, r"`callbacks` must be a list of functions.*\[function\]"),
        ({"callbacks": None}, "`callbacks` must be a list of functions"),
        ({"callbacks": [3]}, "`callbacks` must be a list of functions"),
        ({"settings": [1]}, "`settings` must be a dictionary"),
    ],
)
def test_choices_that_cannot_be_are_a_sentence(choices, words, nodes):
    _, X, y, _ = nodes
    with pytest.raises(InputError, match=words):
        BPGNNClassifier(**choices).fit(X, y)


def test_an_edge_is_explained_by_the_names_of_its_rows(nodes):
    _, X, y, graph = nodes
    frame = pd.DataFrame(X, index=[f"n{row}" for row in range(len(X) - 2)] + ["twin", "twin"])
    model = BPGNNClassifier(max_steps=1, settings=SMALL, random_state=0).fit(frame, y, graph)
    named = model.explain_edge("n5", "n7")
    assert (named.target, named.source) == (5, 7)
    assert named == model.explain_edge(np.int64(5), 7)
    for name, words in (("n999", "No row of X is named 'n999'"), ("twin", "2 rows of X")):
        with pytest.raises(InputError, match=words):
            model.explain_edge(name, 0)


def test_few_nodes_get_fewer_neighbours_unless_the_setting_asks_for_more():
    X, y = np.eye(6), np.arange(6) % 2
    model = BPGNNClassifier(k=30, max_steps=1, random_state=0).fit(X, y)
    assert model.fit_.record.settings["k"] == 5
    with pytest.raises(InputError, match="`k` must be between 1 and 5"):
        BPGNNClassifier(settings={"k": 30}, max_steps=1, random_state=0).fit(X, y)


def test_many_nodes_get_fewer_dimensions(nodes, monkeypatch):
    _, X, y, graph = nodes
    monkeypatch.setattr("bpgnn.training.sized._BY_SIZE", ((100, {"latent_dim": 4}),))
    model = BPGNNClassifier(max_steps=2, random_state=0).fit(X, y, graph=graph)
    assert model.fit_.record.settings["latent_dim"] == 4
    model = BPGNNClassifier(max_steps=2, latent_dim=6, random_state=0).fit(X, y, graph=graph)
    assert model.fit_.record.settings["latent_dim"] == 6
