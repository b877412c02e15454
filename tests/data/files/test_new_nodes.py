import numpy as np
import pandas as pd
import pytest
import torch

from bpgnn.data.files.folder import read_own
from bpgnn.data.files.new_nodes import read_new
from bpgnn.data.files.save import load_own, save_own
from bpgnn.errors import InputError


@pytest.fixture
def known(write, tmp_path):
    write("old/nodes.csv", "key,age,city,label\na,31,Bern,yes\nb,45,Basel,no\nc,27,Bern,\n")
    write("old/edges.csv", "source,target\na,b\n")
    # Through its bytes, as a run folder keeps it.
    return load_own(save_own(read_own(tmp_path / "old")))


def test_new_nodes_are_encoded_as_the_old_were_and_joined_to_them(write, tmp_path, known):
    write("new/nodes.csv", "city,key,age,shoe\nBasel,d,20,43\nBern,e,30,44\n")
    write("new/edges.csv", "source,target,weight\nd,a,2\nc,d,3\nd,e,1\na,b,1\n")
    new = read_new(tmp_path / "new", known)
    assert new.ids == ("d", "e")
    assert new.features.tolist() == [[20, 1, 0], [30, 0, 1]]
    assert new.edges.tolist() == [[0, 0], [0, 2]]
    assert new.edge_weight.tolist() == [2, 3]
    said = " ".join(new.notes)
    assert "not there in training, 'shoe'" in said
    assert "2 edges were left out of" in said


def test_a_table_alone_is_enough_and_labels_do_no_harm(write, known):
    new = read_new(write("new.csv", "key,age,city,label\nd,20,Chur,yes\n"), known)
    assert new.features.tolist() == [[20, 0, 0]]
    assert new.edges.shape == (2, 0)
    assert len(new.notes) == 1
    assert "'Chur'" in new.notes[0]


def test_a_known_node_may_be_given_anew_and_is_not_its_own_neighbour(write, tmp_path, known):
    write("new/nodes.csv", "key,age,city\na,20,Bern\nd,20,Bern\n")
    write("new/edges.csv", "a,b\na,a\nd,a\n")
    new = read_new(tmp_path / "new", known)
    assert new.edges.tolist() == [[0, 1], [1, 0]]


def test_the_column_of_ids_may_have_another_name(write, known):
    assert read_new(write("new.csv", "id,age,city\nd,20,Bern\n"), known).ids == ("d",)
    path = write("n.csv", "who,age,city\nd,20,Bern\n")
    assert read_new(path, known, id_column="who").ids == ("d",)
    assert read_new(write("m.csv", "age,city\n20,Bern\n"), known).ids == ("0",)


def test_parquet_is_read_as_well(tmp_path, known):
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"key": ["d"], "age": [20], "city": ["Bern"]})
    frame.to_parquet(tmp_path / "new.parquet")
    assert read_new(tmp_path / "new.parquet", known).features.tolist() == [[20, 0, 1]]


@pytest.mark.parametrize(
    ("nodes", "edges", "words"),
    [
        ("key,Age,city\nd,20,Bern\n", None, "lacks the column 'age'.*Did you mean Age"),
        ("key,age,city\nd,,Bern\n", None, "line 2, column 'age': the value is missing"),
        ("key,age,city\nd,old,Bern\n", None, "line 2, column 'age': 'old' is not a number"),
        ("key,age,city\nd,1,Bern\nd,1,Bern\n", None, "the id 'd' was there before"),
        ("key,age,city\n", None, "has no rows"),
        ("key,age,city\nd,1,Bern\n", "s,t\nd,z\n", "line 2, column 't': 'z' is not among"),
    ],
)
def test_what_does_not_fit_the_training_is_refused(write, tmp_path, known, nodes, edges, words):
    write("new/nodes.csv", nodes)
    if edges:
        write("new/edges.csv", edges)
    with pytest.raises(InputError, match=words):
        read_new(tmp_path / "new", known)


def test_other_paths_are_refused(write, tmp_path, known):
    with pytest.raises(InputError, match="There is no file or folder"):
        read_new(tmp_path / "nowhere", known)
    with pytest.raises(InputError, match="new nodes are read from a table"):
        read_new(write("new.txt", ""), known)


def test_after_arrays_come_arrays(tmp_path, write):
    np.savez(tmp_path / "old.npz", x=np.eye(3), y=np.array([0, 1, 1]))
    known = read_own(tmp_path / "old.npz")
    np.savez(tmp_path / "new.npz", x=np.ones((2, 3)), edges=np.array([[0, 1, 1], [2, 0, 2]]))
    new = read_new(tmp_path / "new.npz", known)
    assert new.edges.tolist() == [[0, 1, 1], [2, 0, 2]]
    assert torch.equal(new.features, torch.ones(2, 3))
    np.savez(tmp_path / "alone.npz", x=np.ones((2, 3)))
    assert read_new(tmp_path / "alone.npz", known).edges.shape == (2, 0)
    np.savez(tmp_path / "wide.npz", x=np.ones((2, 4)))
    with pytest.raises(InputError, match="wide.npz: `features` must have 3 columns"):
        read_new(tmp_path / "wide.npz", known)
    np.savez(tmp_path / "far.npz", x=np.ones((2, 3)), edges=np.array([[0], [3]]))
    with pytest.raises(InputError, match="far.npz: `edges` must hold node numbers from 0 to 2"):
        read_new(tmp_path / "far.npz", known)
    with pytest.raises(InputError, match="new nodes must come as an .npz file too"):
        read_new(write("new.csv", "id\n1\n"), known)


def test_new_arrays_may_name_known_nodes_by_ids_that_are_numbers(tmp_path):
    np.savez(tmp_path / "old.npz", x=np.eye(3), y=np.array([0, 1, 1]), ids=np.array([5, 0, 9]))
    known = load_own(save_own(read_own(tmp_path / "old.npz")))
    new = {"x": np.ones((2, 3)), "ids": np.array([20, 21])}
    np.savez(tmp_path / "new.npz", **new, edges=np.array([[21, 20], [9, 5]]))
    assert read_new(tmp_path / "new.npz", known).edges.tolist() == [[1, 0], [2, 0]]
    np.savez(tmp_path / "rows.npz", **new, edges=np.array([[1, 0], [2, 1]]))
    assert read_new(tmp_path / "rows.npz", known).edges.tolist() == [[1, 0], [2, 1]]
    np.savez(tmp_path / "both.npz", **new, edges=np.array([[20], [0]]))
    with pytest.raises(InputError, match="both.npz: `edges` can be read as ids and as node"):
        read_new(tmp_path / "both.npz", known)


def test_edges_beside_a_table_of_new_nodes_are_not_read_and_said_so(write, known):
    path = write("nodes.csv", "key,age,city\nd,1,Bern\n")
    write("edges.csv", "s,t\nd,a\n")
    new = read_new(path, known)
    assert new.edges.size(1) == 0
    assert "Not read" in new.notes[0]
