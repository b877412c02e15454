from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
import torch
from torch_geometric.io import parse_npz

from bpgnn.data.photo import read_photo
from bpgnn.errors import InputError


@pytest.fixture
def published(tmp_path: Path) -> Path:
    """A twin of the published file: one-way edges, self-loops, counts, names as objects."""
    generator = np.random.default_rng(0)
    attr = scipy.sparse.csr_matrix(generator.integers(0, 3, (30, 8)).astype(np.float32))
    adj = scipy.sparse.csr_matrix((generator.random((30, 30)) < 0.1).astype(np.float32))
    arrays = {
        f"{name}_{part}": np.asarray(getattr(matrix, part))
        for name, matrix in (("adj", adj), ("attr", attr))
        for part in ("data", "indices", "indptr", "shape")
    }
    path = tmp_path / "amazon_electronics_photo.npz"
    names = np.array(["a", None], dtype=object)
    np.savez(path, **arrays, labels=generator.integers(0, 4, 30), class_names=names)
    return path


def test_the_file_is_read_as_pyg_reads_it(published: Path):
    ours = read_photo(published)
    with np.load(published) as arrays:
        theirs = parse_npz(arrays)
    assert torch.equal(ours.features.to_dense(), theirs.x)
    assert torch.equal(ours.labels, theirs.y)
    assert torch.equal(ours.graph.edge_index.flip(0), theirs.edge_index)


def test_another_file_is_refused(tmp_path: Path):
    np.savez(tmp_path / "other.npz", labels=np.arange(3))
    with pytest.raises(InputError, match="is not the published file of Amazon Photo: it lacks"):
        read_photo(tmp_path / "other.npz")


def test_a_damaged_matrix_is_refused(published: Path, tmp_path: Path):
    with np.load(published) as stored:
        arrays = {key: stored[key] for key in stored.files if key != "class_names"}
    arrays["attr_indices"][0] = 1000
    np.savez(tmp_path / "damaged.npz", **arrays)
    with pytest.raises(InputError, match="is damaged"):
        read_photo(tmp_path / "damaged.npz")
