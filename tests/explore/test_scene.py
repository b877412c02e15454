import numpy as np
import pytest

from bpgnn.errors import InputError
from bpgnn.explore.scene import BeforeAfter, Scene


def test_lists_become_arrays_of_one_type_each(small):
    scene = Scene(**small)
    assert (scene.num_nodes, scene.num_classes, scene.num_pairs) == (4, 2, 3)
    assert scene.pairs.dtype == scene.witness_nodes.dtype == np.int64
    assert scene.places.dtype == np.float64
    assert scene.node_names.dtype.kind == "U"


def test_a_graph_without_pairs_is_a_scene(small):
    none = {"pairs": np.zeros((2, 0), dtype=int), "kind": [], "weight": [], "frequency": []}
    witnesses = {"witness_nodes": [], "witness_shares": [], "witness_similarity": []}
    assert Scene(**{**small, **none, **witnesses, "witness_pointer": [0]}).num_pairs == 0


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("node_names", [], "at least one node"),
        ("class_names", [["a", "b"]], "`class_names` must be a list of words"),
        ("places", [[0.0, 0.0]], r"`places` must have shape \(4, 2\), but got \(1, 2\)"),
        ("places", np.full((4, 2), np.nan), "`places` must hold finite numbers"),
        ("places", [["x", "y"]] * 4, "`places` must hold numbers"),
        ("labels", [0, 0, -2, 1], "`labels` must hold numbers from -1 to 1"),
        ("labels", [0.0, 0.0, -1.0, 1.0], "`labels` must hold whole numbers"),
        ("predictions", [0, 1, 0, -1], "`predictions` must hold numbers from 0 to 1"),
        ("predictions", [0, 1, 0, 2], "`predictions` must hold numbers from 0 to 1"),
        ("confidence", [0.9, 1.6, 0.7, 0.8], "`confidence` must hold numbers from 0 to 1"),
        ("entropy", [0.3, -0.7, 0.6, 0.5], "`entropy` must hold finite numbers of at least 0"),
        ("part", ["train", "validation", "test", "rest"], "'test', but it holds 'rest'"),
        ("features", ["legs: 6"], "`features` must have shape"),
        ("pairs", [[0, 1], [1, 2], [2, 3]], r"`pairs` must have shape \(2, E\)"),
        ("pairs", [[0, 1, 2], [1, 2, 4]], "`pairs` must hold numbers from 0 to 3"),
        ("pairs", [[0, 1, 2], [1, 2, 2]], "two different nodes"),
        ("pairs", [[0, 1, 2], [1, 2, 1]], "each pair once, in either order, but 1 come again"),
        ("kind", ["kept", "added", "gone"], "'dropped', but it holds 'gone'"),
        ("weight", [0.5, np.nan, 0.1], "`weight` must hold numbers from 0 to 1"),
        ("frequency", [0.5, 1.0], "`frequency` must have shape"),
        ("witness_pointer", [0, 0, 2], "`witness_pointer` must have shape"),
        ("witness_pointer", [0, 2, 0, 2], "must rise from 0 to the number of witnesses, 2"),
        ("witness_pointer", [0, 0, 1, 1], "must rise from 0 to the number of witnesses, 2"),
        ("witness_nodes", [3, 4], "`witness_nodes` must hold numbers from 0 to 3"),
        ("witness_shares", [0.5], "`witness_shares` must have shape"),
        ("witness_similarity", [0.5, 2.0], "`witness_similarity` must hold numbers from 0 to 1"),
    ],
)
def test_what_does_not_fit_is_refused(small, name, value, words):
    with pytest.raises(InputError, match=words):
        Scene(**{**small, name: value})


def test_a_figure_is_a_share():
    with pytest.raises(InputError, match="'Accuracy' must be from 0 to 1, or None, but got 81.4"):
        BeforeAfter("Accuracy", None, 81.4)
