import numpy as np
import pytest
import torch

from bpgnn.data.files.arrays import read_own_arrays
from bpgnn.data.npz import write_npz
from bpgnn.data.synthetic import block_model
from bpgnn.errors import InputError

X = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
Y = np.array([0, 1, 1])


def stored(tmp_path, **arrays):
    np.savez(tmp_path / "mine.npz", **arrays)
    return tmp_path / "mine.npz"


@pytest.mark.parametrize(
    "edges", [np.array([[0, 1], [1, 2], [0, 0]]), np.array([[0, 1, 0], [1, 2, 0]], np.uint8)]
)
@pytest.mark.parametrize("names", [("features", "labels", "edges"), ("x", "y", "edge_index")])
def test_plain_arrays_become_a_data_set(tmp_path, edges, names):
    path = stored(tmp_path, **dict(zip(names, (X, np.array([5, 7, -1]), edges), strict=True)))
    own = read_own_arrays(path)
    assert own.dataset.features.tolist() == X.tolist()
    assert own.dataset.labels.tolist() == [0, 1, -1]
    assert own.dataset.class_names == ("5", "7")
    assert own.dataset.graph.undirected_pairs().tolist() == [[0, 1], [1, 2]]
    assert any("self-loop" in note for note in own.dataset.notes)
    assert (own.ids, own.columns, own.dataset.name) == (("0", "1", "2"), None, "mine")


def test_labels_and_edges_may_be_words(tmp_path):
    path = stored(
        tmp_path, features=X, labels=np.array(["b", "", "a"]), ids=np.array(["u", "v", "<w>"]),
        edges=np.array([["u", "v"], ["<w>", "u"]]).T, edge_weight=np.array([1, 2]),
    )  # fmt: skip
    own = read_own_arrays(path)
    assert own.dataset.labels.tolist() == [1, -1, 0]
    assert own.ids == ("u", "v", "<w>")
    assert own.dataset.graph.undirected_pairs().tolist() == [[0, 0], [1, 2]]
    assert own.dataset.graph.edge_weight.tolist() == [1, 2, 1, 2]


@pytest.mark.parametrize(
    ("ids", "edges", "pairs"),
    [
        ([101, 102, 103], [[101, 103], [103, 102]], [[0, 1], [2, 2]]),
        ([1, 2, 3], [[1, 2], [2, 3]], [[0, 1], [1, 2]]),
        ([2.0, 3.0, 4.0], [[2, 4]], [[0], [2]]),
        ([7, 8, 9], [[0, 2]], [[0], [2]]),
        ([0, 1, 2], [[0, 2]], [[0], [2]]),
        ([2, 0, 1], [["2", "0"]], [[0], [1]]),
        (["2", "0", "1"], [[2, 0]], [[0], [2]]),
    ],
)
def test_edges_between_ids_that_are_numbers_join_those_nodes(tmp_path, ids, edges, pairs):
    edges = np.array(edges).T
    own = read_own_arrays(stored(tmp_path, x=X, y=Y, ids=np.array(ids), edges=edges))
    assert own.dataset.graph.undirected_pairs().tolist() == pairs


@pytest.mark.parametrize(
    ("ids", "edges", "words"),
    [
        ([2, 0, 1], [[2, 0], [2, 1]], r"different nodes here.*edges.astype\(str\).*as text"),
        ([7, 8, 9], [[7, 8], [8, 6]], "from 0 to 2, or ids.*7 is no node number, and 6 is no id"),
        ([7, 8, 9], [[7, 0]], "no mixture, but 7 is no node number, and 0 is no id"),
    ],
)
def test_edges_that_are_not_clearly_ids_or_numbers_are_refused(tmp_path, ids, edges, words):
    path = stored(tmp_path, x=X, y=Y, ids=np.array(ids), edges=np.array(edges).T)
    with pytest.raises(InputError, match=rf"mine.npz: `edges`.*{words}"):
        read_own_arrays(path)


def test_bytes_are_read_as_text(tmp_path):
    path = stored(
        tmp_path, x=X, y=np.array([b"b", b"", b"\xc3\xa4"]), ids=np.array([b"u", b"v", b"w"])
    )
    own = read_own_arrays(path)
    assert own.dataset.class_names == ("b", "ä")
    assert own.dataset.labels.tolist() == [0, -1, 1]
    assert own.ids == ("u", "v", "w")


def test_a_file_of_the_library_is_read_as_it_was_written(tmp_path):
    data = block_model(40)
    write_npz(data, tmp_path / "blocks.npz")
    own = read_own_arrays(tmp_path / "blocks.npz")
    assert torch.equal(own.dataset.graph.edge_index, data.graph.edge_index)
    assert own.dataset.class_names == (data.class_names or ("0", "1", "2", "3"))
    assert own.ids[-1] == "39"


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"weights": X}, r"`features` \(or `x`\).*Found: weights \(3, 2\)"),
        ({"x": X}, r"`labels` \(or `y`\). Found: x"),
        ({"x": X, "y": Y[:2]}, "one entry for each of the 3 rows"),
        ({"x": X[0], "y": Y}, "must be numbers, one row a node"),
        ({"x": np.array([["a"], ["b"], ["c"]]), "y": Y}, "must be numbers"),
        ({"x": X * np.nan, "y": Y}, "must be finite"),
        ({"x": X, "y": np.array([1, 1, -1])}, "only '1'"),
        ({"x": X, "y": Y, "edges": np.array([0, 1])}, r"shape \(2, E\) or \(E, 2\)"),
        ({"x": X, "y": Y, "edges": np.array([[0], [9]])}, "from 0 to 2, but it holds"),
        ({"x": X, "y": Y, "edges": np.array([[0.5], [1]])}, "node numbers from 0, or ids"),
        ({"x": X, "y": Y, "edges": np.array([["0"], ["q"]])}, "names 'q', which is not among"),
        ({"x": X, "y": Y, "ids": np.array([1, 1, 2])}, "2 of them different"),
        ({"x": X, "y": Y, "edges": np.array([[0], [1]]), "edge_weight": Y}, "shape"),
        ({"x": X, "y": Y, "edges": np.array([[0], [1]]), "edge_weight": np.array(["a"])}, "numb"),
    ],
)
def test_arrays_that_do_not_fit_are_refused_with_the_file(tmp_path, arrays, words):
    with pytest.raises(InputError, match=rf"mine.npz.*{words}"):
        read_own_arrays(stored(tmp_path, **arrays))


@pytest.mark.parametrize("name", ["x", "y", "ids"])
def test_objects_are_never_unpickled_and_the_cure_is_said(tmp_path, name):
    path = stored(tmp_path, **{"x": X, "y": Y, name: np.array(["a", None, "b"], dtype=object)})
    with pytest.raises(InputError, match=rf"mine.npz: `{name}` holds Python objects.*astype"):
        read_own_arrays(path)


def test_arrays_that_are_not_used_are_noted(tmp_path):
    own = read_own_arrays(stored(tmp_path, x=X, y=Y, adjacency=np.eye(3)))
    assert "Not used" in own.dataset.notes[0]
    assert "'adjacency'" in own.dataset.notes[0]
