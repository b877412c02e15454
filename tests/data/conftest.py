import pickle
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse


@pytest.fixture
def raw_planetoid(tmp_path: Path) -> Path:
    """A synthetic twin of CiteSeer's raw files: 640 nodes, three of which are in no file."""
    generator = np.random.default_rng(0)
    num_others, num_tests, num_features, num_classes = 560, 77, 12, 3
    numbers = np.setdiff1d(np.arange(560, 640), [563, 570, 611])
    test_index = generator.permutation(numbers)

    def matrix(rows: int) -> scipy.sparse.csr_matrix:
        dense = generator.random((rows, num_features)) < 0.2
        return scipy.sparse.csr_matrix(dense.astype(np.float32))

    def one_hot(rows: int) -> np.ndarray:
        return np.eye(num_classes, dtype=np.int32)[generator.integers(num_classes, size=rows)]

    neighbours: dict[int, list[int]] = {node: [] for node in range(640)}
    for one, other in generator.integers(560, size=(900, 2)).tolist():
        neighbours[one].append(other)
        neighbours[other].append(one)
    neighbours[3].append(3)
    parts = {
        "x": matrix(30),
        "tx": matrix(num_tests),
        "allx": matrix(num_others),
        "y": one_hot(30),
        "ty": one_hot(num_tests),
        "ally": one_hot(num_others),
        "graph": neighbours,
    }
    folder = tmp_path / "raw"
    folder.mkdir()
    for part, value in parts.items():
        (folder / f"ind.citeseer.{part}").write_bytes(pickle.dumps(value, protocol=3))
    lines = "".join(f"{number}\n" for number in test_index)
    (folder / "ind.citeseer.test.index").write_text(lines)
    return folder


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and no folder of the user's."""
    monkeypatch.delenv("BPGNN_DATA", raising=False)
    monkeypatch.setenv("BPGNN_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"
