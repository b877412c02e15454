import io
import os
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from bpgnn.data import npz
from bpgnn.data.catalog import load
from bpgnn.data.dataset import make_dataset
from bpgnn.data.npz import read_arrays, read_npz, write_npz
from bpgnn.data.synthetic import block_model
from bpgnn.errors import InputError


def same(one, other):
    if one is None or other is None:
        return one is other
    return torch.equal(one, other)


def assert_same(one, other):
    dense = [data.features.to_dense() for data in (one, other)]
    assert torch.equal(*dense)
    assert one.features.layout == other.features.layout
    assert torch.equal(one.labels, other.labels)
    assert (one.graph is None) == (other.graph is None)
    if one.graph is not None:
        assert torch.equal(one.graph.edge_index, other.graph.edge_index)
        assert same(one.graph.edge_weight, other.graph.edge_weight)
    assert one.class_names == other.class_names
    assert one.node_names == other.node_names
    assert one.feature_kind == other.feature_kind


def test_a_sparse_data_set_comes_back_as_it_was(tmp_path: Path):
    cora = load("cora")
    write_npz(cora, tmp_path / "cora.npz")
    back = read_npz(tmp_path / "cora.npz")
    assert_same(cora, back)
    assert back.name == "cora"
    assert torch.equal(back.public_split.test, cora.public_split.test)
    assert back.split is None


def test_a_dense_directed_weighted_data_set_comes_back_as_it_was(tmp_path: Path):
    data = make_dataset(
        "own",
        torch.randn(4, 3, generator=torch.Generator().manual_seed(0)),
        torch.tensor([0, 1, -1, 1]),
        torch.tensor([[2, 0, 3], [1, 1, 0]]),
        edge_weight=torch.tensor([0.5, 2.0, 1.0]),
        directed=True,
        class_names=("käse", "brot"),
        node_names=("a", "b", "c", "d"),
    )
    write_npz(data, tmp_path / "own.npz")
    assert_same(data, read_npz(tmp_path / "own.npz"))


def test_data_without_a_graph_come_back_without_one(tmp_path: Path):
    data = replace(block_model(60), graph=None)
    write_npz(data, tmp_path / "deep" / "table.npz")
    assert read_npz(tmp_path / "deep" / "table.npz", name="mine").graph is None


def test_the_same_data_give_the_same_bytes(tmp_path: Path):
    data = block_model(40)
    for name in ("one.npz", "other.npz"):
        write_npz(data, tmp_path / name)
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "other.npz").read_bytes()


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "data.npz"
    write_npz(block_model(40), path)
    before = path.read_bytes()

    def full_disk(*_args, **_kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(npz.np, "savez_compressed", full_disk)
    with pytest.raises(InputError, match="No space left on device.*Free some space"):
        write_npz(block_model(50), path)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["data.npz"]


def test_a_folder_that_cannot_be_made_is_a_sentence(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="choose a folder that you may write to"):
        write_npz(block_model(40), tmp_path / "file" / "data.npz")


def test_a_missing_file_is_a_sentence(tmp_path: Path):
    with pytest.raises(InputError, match="There is no file .*none.npz"):
        read_npz(tmp_path / "none.npz")


@pytest.mark.parametrize("cut", [0, 1, 10, 100, 0.5, 0.9, 0.999])
def test_a_cut_file_is_refused(tmp_path: Path, cut):
    path = tmp_path / "data.npz"
    write_npz(block_model(40), path)
    content = path.read_bytes()
    path.write_bytes(content[: cut if isinstance(cut, int) else int(cut * len(content))])
    with pytest.raises(InputError, match="damaged or not an .npz file"):
        read_npz(path)


def test_a_file_with_changed_bytes_is_refused_or_reads_as_data(tmp_path: Path):
    path = tmp_path / "data.npz"
    write_npz(block_model(40), path)
    content = path.read_bytes()
    for place in range(0, len(content), 101):
        changed = bytearray(content)
        changed[place] ^= 0x55
        path.write_bytes(changed)
        try:
            read_npz(path)
        except InputError as error:
            assert str(path) in str(error)  # noqa: PT017 - most changes fail, some hit padding


def stored(path: Path, **arrays: np.ndarray) -> Path:
    np.savez(path, **arrays)
    return path


def test_a_foreign_file_is_refused_with_what_was_wanted(tmp_path: Path):
    path = stored(tmp_path / "foreign.npz", weights=np.ones(3))
    with pytest.raises(InputError, match="must hold `y`, and `x` or .* but it holds weights"):
        read_npz(path)


@pytest.mark.parametrize(
    "arrays",
    [
        {"x": np.ones((3, 2)), "y": np.zeros(4, dtype=np.int64)},
        {"x": np.ones((3, 2)), "y": np.zeros(3)},
        {"x": np.full((3, 2), np.nan), "y": np.zeros(3, dtype=np.int64)},
        {
            "x": np.ones((3, 2)),
            "y": np.zeros(3, dtype=np.int64),
            "edge_index": np.array([[0], [7]]),
        },
        {
            "x": np.ones((3, 2)),
            "y": np.zeros(3, dtype=np.int64),
            "edge_index": np.array([[0.0], [1.0]]),
        },
        {"x": np.array(["a", "b"]), "y": np.zeros(2, dtype=np.int64)},
        {"x": np.ones((3, 2)), "y": np.zeros(3, dtype=np.int64), "feature_kind": np.array("odd")},
        {
            "x_indptr": np.array([0, 2, 1]),
            "x_indices": np.array([0, 9]),
            "x_data": np.ones(2),
            "x_shape": np.array([2, 3]),
            "y": np.zeros(2, dtype=np.int64),
        },
        {
            "x_indptr": np.array([0, 1, 2]),
            "x_indices": np.array([0, 9]),
            "x_data": np.ones(2),
            "x_shape": np.array([2, 3]),
            "y": np.zeros(2, dtype=np.int64),
        },
        {
            "x": np.ones((3, 2)),
            "y": np.zeros(3, dtype=np.int64),
            "train_idx": np.array([0]),
            "val_idx": np.array([5]),
            "test_idx": np.array([2]),
        },
    ],
)
def test_arrays_that_do_not_fit_are_refused_with_the_file_named(tmp_path: Path, arrays):
    path = stored(tmp_path / "bad.npz", **arrays)
    with pytest.raises(InputError, match="bad.npz"):
        read_npz(path)


class Bomb:
    def __reduce__(self):
        return (os.mkdir, ("exploded",))


def test_arrays_of_objects_are_left_unread(tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    hostile = np.array([Bomb()], dtype=object)
    path = stored(tmp_path / "hostile.npz", x=hostile, y=np.zeros(1, dtype=np.int64))
    with pytest.raises(InputError, match="must hold"):
        read_npz(path)
    assert not (tmp_path / "exploded").exists()


def test_an_open_file_can_be_read():
    buffer = io.BytesIO()
    np.savez(buffer, y=np.arange(3))
    assert read_arrays(buffer)["y"].tolist() == [0, 1, 2]


def test_an_archive_that_python_cannot_unpack_is_refused(tmp_path: Path):
    path = stored(tmp_path / "new.npz", x=np.ones((2, 2)))
    content = bytearray(path.read_bytes())
    content[content.index(b"PK\x01\x02") + 6] = 217  # the version that is needed to unpack it
    path.write_bytes(content)
    with pytest.raises(InputError, match="new.npz is damaged or not an .npz file .zip file"):
        read_npz(path)


def test_an_archive_of_something_else_is_refused(tmp_path: Path):
    path = tmp_path / "other.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("readme.txt", "hello")
    with pytest.raises(InputError, match="not an .npz file"):
        read_npz(path)
