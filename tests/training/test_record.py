import hashlib
import json
import mmap
import platform
import re
from dataclasses import replace
from pathlib import Path

import pytest
import torch

import bpgnn
from bpgnn.data.split import split
from bpgnn.data.synthetic import block_model
from bpgnn.graph import Graph
from bpgnn.training.record import (
    LatentSummary,
    RunRecord,
    fingerprint,
    forget_peak_memory,
    machine,
    peak_memory_mb,
    versions,
)


def other_features(data):
    features = data.features.clone()
    features[3, 2] += 1e-6
    return replace(data, features=features)


def other_labels(data):
    labels = data.labels.clone()
    labels[[0, 1]] = (labels[[0, 1]] + 1) % 3
    return replace(data, labels=labels)


def weighted(data):
    weight = torch.full((data.graph.num_edges,), 2.0)
    return data.with_graph(Graph(data.graph.edge_index, 60, weight))


CHANGES = {
    "features": other_features,
    "labels": other_labels,
    "one edge less": lambda data: data.with_graph(Graph(data.graph.edge_index[:, 1:], 60)),
    "weights": weighted,
    "no graph": lambda data: data.with_graph(None),
    "an empty graph": lambda data: data.with_graph(Graph.empty(60)),
    "the split": lambda data: data.with_split(split(data, "random", seed=5)),
    "the kind of features": lambda data: replace(data, feature_kind="counts"),
    "one more class": lambda data: replace(data, class_names=(*data.class_names, "another")),
}


def test_every_change_of_the_data_changes_the_fingerprint(small):
    prints = {name: fingerprint(change(small)) for name, change in CHANGES.items()}
    prints["as it was"] = fingerprint(small)
    assert len(set(prints.values())) == len(prints)


def test_equal_data_have_one_fingerprint(small):
    again = block_model(60, num_classes=3, mean_degree=6, num_features=8, seed=0)
    assert fingerprint(again) == fingerprint(small)
    assert fingerprint(replace(small, notes=("a note",))) == fingerprint(small)


def test_sparse_features_have_a_fingerprint_whatever_the_width_of_their_indices(small):
    dense = small.features.clamp(min=0)
    wide = dense.to_sparse_csr()
    narrow = torch.sparse_csr_tensor(
        wide.crow_indices().int(), wide.col_indices().int(), wide.values(), wide.shape
    )
    prints = {fingerprint(replace(small, features=one)) for one in (wide, narrow)}
    assert len(prints) == 1
    assert fingerprint(replace(small, features=2 * wide)) not in prints


def test_versions_name_the_library_and_what_it_stands_on():
    found = versions()
    assert found["bpgnn"] == bpgnn.__version__
    assert found["torch"] == torch.__version__.split("+")[0] or found["torch"] == torch.__version__
    assert {"python", "numpy", "scipy"} <= found.keys()
    assert re.fullmatch("[0-9a-f]{12}", found["code"])
    constraints = Path(__file__).parents[2] / "constraints.txt"
    assert found["constraints"] == hashlib.sha256(constraints.read_bytes()).hexdigest()[:12]


def test_the_machine_is_described_and_not_named():
    assert re.search(r"\w+, \d+ cores$", machine())
    assert platform.node() not in machine()


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="the system is not Linux")
def test_a_peak_can_be_forgotten():
    # Straight from the system: what an allocator frees it may keep.
    with mmap.mmap(-1, 64 * 1024 * 1024) as block:
        for page in range(0, len(block), mmap.PAGESIZE):
            block[page] = 1
        high = peak_memory_mb()
    forget_peak_memory()
    assert peak_memory_mb() < high - 40


def test_peak_memory_is_in_megabytes():
    before = peak_memory_mb()
    block = torch.ones(64 * 1024 * 1024 // 4)
    assert 30 < before < 100_000
    assert peak_memory_mb() >= before
    assert block.numel() * 4 / 2**20 == 64


@pytest.mark.parametrize("latent", [None, LatentSummary(1, 2, 3, 0.5, None)])
def test_a_record_survives_json(latent):
    values = dict.fromkeys(RunRecord.__dataclass_fields__, 0)
    record = RunRecord(**{**values, "latent_graph": latent, "settings": {"hidden": [8, 8]}})
    assert json.loads(json.dumps(record.to_json())) == record.to_json()
