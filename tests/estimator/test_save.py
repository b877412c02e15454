import json

import numpy as np
import pytest

from bpgnn.data.synthetic import block_model
from bpgnn.errors import InputError
from bpgnn.estimator.classifier import BPGNNClassifier, LatentGraphClassifier
from bpgnn.estimator.save import classes_from_json, classes_to_json, plain
from bpgnn.methods.registry import METHODS
from bpgnn.packed import pack, unpack


@pytest.fixture(scope="module")
def nodes():
    data = block_model(40, num_classes=2, seed=1)
    return data.features.numpy(), data.labels.numpy(), data.graph.to_scipy()


@pytest.fixture(scope="module")
def saved(nodes, tmp_path_factory):
    X, y, graph = nodes
    path = tmp_path_factory.mktemp("model") / "model.bpgnn"
    LatentGraphClassifier("gcn", max_steps=2, random_state=0).fit(X, y, graph).save(path)
    return path


@pytest.mark.parametrize("method", METHODS)
def test_every_method_is_loaded_as_it_was_saved(method, nodes, tmp_path):
    X, y, graph = nodes
    model = LatentGraphClassifier(method, max_steps=1, random_state=0).fit(X, y, graph)
    model.save(tmp_path / "model")
    again = LatentGraphClassifier.load(tmp_path / "model")
    np.testing.assert_array_equal(again.label_distributions_, model.label_distributions_)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("classes", {"type": "<i8", "values": [1]}),
        ("classes", {"type": "<i8", "values": ["a", "b"]}),
        ("classes", {"type": "no type", "values": [0, 1]}),
        ("classes", {"type": "O", "values": [0, 1]}),
        ("names", 3),
        ("parameters", {"colour": "red"}),
        ("parameters", [1]),
        ("num_features", "many"),
        ("record", 3),
        ("format", 9),
    ],
)
def test_values_that_do_not_fit_are_a_sentence_under_a_right_checksum(name, value, saved, tmp_path):
    tensors, values = unpack(saved.read_bytes())
    (tmp_path / "model").write_bytes(pack(tensors, {**values, name: value}))
    with pytest.raises(InputError):
        LatentGraphClassifier.load(tmp_path / "model")


def test_every_cut_of_a_file_is_a_sentence(saved, tmp_path):
    content = saved.read_bytes()
    for length in (0, 1, 8, 9, 100, len(content) // 2, len(content) - 1):
        (tmp_path / "model").write_bytes(content[:length])
        with pytest.raises(InputError, match="damaged or not a model"):
            LatentGraphClassifier.load(tmp_path / "model")


def test_numbers_of_numpy_s_are_kept():
    given = {"seed": np.int64(3), "weight": {True: np.float32(2), np.int64(4): 1}, "call": print}
    kept = plain(given)
    assert kept == {"seed": 3, "weight": {"True": 2.0, "4": 1}}
    assert json.loads(json.dumps(kept)) == kept


def test_class_weights_survive_the_file(nodes, tmp_path):
    X, y, graph = nodes
    model = BPGNNClassifier(max_steps=1, class_weight={0: 1.0, 1: 7.0}, random_state=np.int64(0))
    model.fit(X, np.where(np.arange(40) % 2 == 0, y, np.nan), graph).save(tmp_path / "model")
    again = BPGNNClassifier.load(tmp_path / "model")
    assert again.random_state == 0
    found = again.fit(X, y.astype(float), graph).fit_.problem.class_weight
    assert found.tolist() == [1.0, 7.0]


@pytest.mark.parametrize("classes", [[0, 1], [0.0, 1.0], [False, True], ["a", "ü"]])
def test_classes_keep_their_type(classes):
    array = np.array(classes)
    stored = json.loads(json.dumps(classes_to_json(array)))
    again = classes_from_json(stored, 2)
    assert again.dtype == array.dtype
    assert again.tolist() == classes
