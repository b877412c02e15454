import json

import pytest
import torch

from bpgnn.data.catalog import load
from bpgnn.data.files.folder import read_own
from bpgnn.data.files.own import OwnData
from bpgnn.data.files.save import load_own, save_own
from bpgnn.data.synthetic import block_model
from bpgnn.errors import InputError
from bpgnn.packed import pack, unpack


def assert_same(one, other):
    assert (one.columns, one.id_name, one.label_name) == (
        other.columns,
        other.id_name,
        other.label_name,
    )
    first, second = one.dataset, other.dataset
    for name in ("name", "class_names", "node_names", "feature_kind", "notes", "num_neighbours"):
        assert getattr(first, name) == getattr(second, name)
    assert first.features.layout == second.features.layout
    assert torch.equal(first.features.to_dense(), second.features.to_dense())
    assert torch.equal(first.labels, second.labels)
    for name in ("split", "public_split"):
        before, after = getattr(first, name), getattr(second, name)
        assert (before is None) == (after is None)
        if before is not None:
            assert before.name == after.name
            assert torch.equal(before.train, after.train)
            assert torch.equal(before.validation, after.validation)
            assert torch.equal(before.test, after.test)
    assert (first.graph is None) == (second.graph is None)
    if first.graph is not None:
        assert torch.equal(first.graph.edge_index, second.graph.edge_index)
        assert torch.equal(first.graph.weights, second.graph.weights)


def test_own_files_come_back_as_they_were(shop):
    own = read_own(shop, label_column="segment")
    content = save_own(own)
    assert_same(own, load_own(content))
    assert save_own(load_own(content)) == content


def test_sparse_features_and_splits_come_back(write):
    assert_same(OwnData(load("cora")), load_own(save_own(OwnData(load("cora")))))


def test_odd_names_weights_and_no_graph_come_back(write, tmp_path):
    write("nodes.csv", 'id,x,y\n"a ""q""",1,<i>\n=b,2,é\n')
    write("edges.csv", 's,t,weight\n"a ""q""",=b,2.5\n')
    assert_same(read_own(tmp_path), load_own(save_own(read_own(tmp_path))))
    alone = read_own(tmp_path / "nodes.csv")
    assert_same(alone, load_own(save_own(alone)))


def test_the_number_of_neighbours_comes_back_and_older_data_have_none():
    own = OwnData(load("wine"))
    content = save_own(own)
    assert own.dataset.num_neighbours == load_own(content).dataset.num_neighbours == 10
    tensors, words = unpack(content)
    del words["num_neighbours"]
    assert load_own(pack(tensors, words)).dataset.num_neighbours is None


CONTENT = save_own(OwnData(block_model(40)))


@pytest.mark.parametrize("end", [0, 1, 8, 100, len(CONTENT) // 2, len(CONTENT) - 1])
def test_bytes_that_were_cut_are_refused(end):
    with pytest.raises(InputError, match="stored data are damaged or not bpgnn's"):
        load_own(CONTENT[:end])


@pytest.mark.parametrize("place", range(0, len(CONTENT), 97))
def test_bytes_that_were_changed_are_refused(place):
    changed = bytearray(CONTENT)
    changed[place] ^= 0x15
    with pytest.raises(InputError, match="stored data are damaged"):
        load_own(bytes(changed))


@pytest.mark.parametrize("content", [b"\xff" * 99, bytes(99), b"PK\x03\x04" * 9])
def test_other_bytes_are_refused(content):
    with pytest.raises(InputError, match="stored data are damaged"):
        load_own(content)


def test_a_header_that_is_no_table_is_refused():
    header = json.dumps([1, 2]).encode()
    with pytest.raises(InputError, match="stored data are damaged"):
        load_own(len(header).to_bytes(8, "little") + header)
