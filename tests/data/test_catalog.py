import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from bpgnn.data import catalog
from bpgnn.data.catalog import CATALOG, available, get, load
from bpgnn.data.npz import write_npz
from bpgnn.data.synthetic import block_model
from bpgnn.errors import DataUnavailableError, InputError

SHARED = os.environ.get("BPGNN_DATA")
needs_shared = pytest.mark.skipif(
    not SHARED, reason="BPGNN_DATA is not set: no copies of the published data to compare with"
)

# Nodes, undirected edges, features and classes in the paper's table.
PAPER = {
    "cora": (2708, 5278, 1433, 7),
    "citeseer": (3327, 4552, 3703, 6),
    "pubmed": (19717, 44324, 500, 3),
    "photo": (7650, 119081, 745, 8),
}


def numbers(dataset):
    return dataset.num_nodes, dataset.num_pairs, dataset.num_features, dataset.num_classes


def check_published(dataset):
    assert numbers(dataset) == PAPER[dataset.name]
    assert dataset.graph.is_undirected
    assert dataset.features.layout == torch.sparse_csr
    assert dataset.feature_kind == "counts"
    assert dataset.split.name == "complete"
    assert int(dataset.split.train.sum()) == dataset.num_nodes - 1000


def test_cora_needs_neither_folder_nor_network(own_cache):
    cora = load("cora")
    check_published(cora)
    assert cora.class_names[0] == "Theory"
    assert cora.class_names[6] == "Rule_Learning"
    assert int(load("cora", split="public").split.train.sum()) == 140
    assert not own_cache.exists()


@needs_shared
@pytest.mark.parametrize("name", ["citeseer", "pubmed", "photo"])
def test_published_data_have_the_numbers_of_the_papers_table(name):
    check_published(load(name))


@needs_shared
def test_the_cora_inside_the_package_is_the_shared_one():
    inside = Path(catalog.__file__).parent / "cora.npz"
    with np.load(inside) as ours, np.load(Path(SHARED) / "cora.npz") as theirs:
        for key in theirs.files:
            assert ours[key].dtype == theirs[key].dtype
            assert np.array_equal(ours[key], theirs[key])
    assert inside.stat().st_size < 130_000


@needs_shared
@pytest.mark.parametrize(("name", "isolated"), [("citeseer", 48), ("photo", 115)])
def test_nodes_without_neighbours_are_counted_in_the_notes(name, isolated):
    assert f"{isolated} nodes have no neighbour; each serves as its own." in load(name).notes


@pytest.mark.parametrize("name", ["digits", "wine", "breast_cancer"])
def test_tables_come_with_nearest_neighbours_and_a_random_split(name):
    dataset = load(name)
    assert dataset.split.name == "random"
    assert dataset.features.layout == torch.strided
    assert int(dataset.graph.in_degree.min()) >= 10
    assert "10 nearest by euclidean" in dataset.notes[0]
    assert load(name, graph="none").graph is None
    assert int(load(name, k=3).graph.in_degree.min()) >= 3


def test_digits_can_be_split_as_the_paper_does():
    assert int(load("digits", split="complete").split.train.sum()) == 797


def test_cora_can_have_a_neighbour_graph_or_none():
    cora = load("cora", graph="knn", k=5)
    assert int(cora.graph.in_degree.min()) >= 5
    assert "5 nearest by cosine" in cora.notes[0]
    bare = load("cora", graph="none")
    assert bare.graph is None
    assert bare.split.name == "complete"


def test_random_splits_follow_the_seed():
    one, same, other = (load("wine", seed=seed).split.train for seed in (1, 1, 2))
    assert torch.equal(one, same)
    assert not torch.equal(one, other)


@pytest.mark.parametrize(
    ("wrong", "near"),
    [("coar", "cora"), ("Cora", "cora"), ("cite_seer", "citeseer"), ("pubmde", "pubmed")],
)
def test_an_unknown_name_is_answered_with_the_nearest(wrong, near):
    with pytest.raises(InputError, match=f"no data set '{wrong}'. Did you mean {near}?") as caught:
        load(wrong)
    assert all(name in str(caught.value) for name in CATALOG)


def test_a_name_near_nothing_is_answered_with_the_list():
    with pytest.raises(InputError, match=re.escape("no data set 'xyzzy'. Known: cora,")):
        load("xyzzy")


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        ({"graph": "given"}, "`graph` must be one of 'observed', 'knn', 'none', but got 'given'"),
        ({"split": "half"}, "`split` must be one of 'complete', 'public', 'random'"),
        ({"split": "complete"}, "Use the split 'random'"),
        ({"split": "public"}, "No public split was published with wine"),
        ({"graph": "observed"}, "wine has no observed graph. Use the graph 'knn'"),
        ({"k": 178}, "`k` must be between 1 and 177, but got 178"),
    ],
)
def test_choices_that_make_no_sense_are_refused(choice, words):
    with pytest.raises(InputError, match=words):
        load("wine", **choice)


def test_a_file_that_is_another_data_set_is_refused(own_cache):
    write_npz(block_model(50, mean_degree=5), own_cache / "citeseer.npz")
    with pytest.raises(
        InputError, match="This is not the published citeseer: .*3327 nodes"
    ) as caught:
        load("citeseer")
    assert f"Remove that file ({own_cache / 'citeseer.npz'})" in str(caught.value)


def test_a_damaged_file_is_refused(own_cache):
    own_cache.mkdir()
    (own_cache / "photo.npz").write_bytes(b"PK\x03\x04 and no more")
    with pytest.raises(InputError, match="photo.npz is damaged or not an .npz file"):
        load("photo")


def test_photo_may_have_either_name(own_cache, tmp_path, monkeypatch):
    monkeypatch.setenv("BPGNN_DATA", str(tmp_path))
    (tmp_path / "photo.npz").write_bytes(b"")
    assert get("photo") == tmp_path / "photo.npz"
    (tmp_path / "amazon_photo.npz").write_bytes(b"")
    assert get("photo") == tmp_path / "amazon_photo.npz"


def test_get_fetches_only_what_is_not_here(own_cache, monkeypatch):
    fetched = []
    monkeypatch.setattr(catalog, "fetch", lambda name, *_args, **_kwargs: fetched.append(name))
    for name in CATALOG:
        get(name)
    assert fetched == ["citeseer", "pubmed", "photo"]


def test_available_says_where_each_is(own_cache, tmp_path, monkeypatch):
    monkeypatch.setenv("BPGNN_DATA", str(tmp_path))
    (tmp_path / "pubmed.npz").write_bytes(b"12345")
    own_cache.mkdir()
    (own_cache / "citeseer.npz").write_bytes(b"123")
    places = {one.name: (one.place, one.num_bytes) for one in available()}
    assert places.pop("cora")[0] == "package"
    assert places == {
        "citeseer": ("cache", 3),
        "pubmed": ("folder", 5),
        "photo": ("not here", None),
        "digits": ("scikit-learn", None),
        "wine": ("scikit-learn", None),
        "breast_cancer": ("scikit-learn", None),
        "blocks": ("drawn", None),
        "faint_blocks": ("drawn", None),
    }


def test_the_table_in_the_docstring_is_the_catalog():
    rows = re.findall(r"^(\w+) +(\d+) +(\d+|–) +(\d+) +(\d+)  ", catalog.__doc__, re.MULTILINE)
    assert {row[0]: row[1:] for row in rows} == {
        name: (
            str(entry.num_nodes),
            "–" if entry.num_pairs is None else str(entry.num_pairs),
            str(entry.num_features),
            str(entry.num_classes),
        )
        for name, entry in CATALOG.items()
    }
    assert {name: numbers_of(CATALOG[name]) for name in PAPER} == PAPER


def numbers_of(entry):
    return entry.num_nodes, entry.num_pairs, entry.num_features, entry.num_classes


def test_the_data_package_itself_is_light():
    code = (
        "import sys, bpgnn.data; assert 'torch' not in sys.modules and 'sklearn' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.network
@pytest.mark.parametrize("name", ["citeseer", "pubmed"])
def test_the_network_gives_the_published_data(own_cache, name):
    check_published(load(name))
    if SHARED:
        with (
            np.load(own_cache / f"{name}.npz") as ours,
            np.load(Path(SHARED) / f"{name}.npz") as theirs,
        ):
            assert all(np.array_equal(ours[key], theirs[key]) for key in theirs.files)


@pytest.mark.network
def test_photo_comes_from_its_address_or_is_explained(own_cache):
    try:
        check_published(load("photo"))
    except DataUnavailableError as error:
        assert "A ready amazon_photo.npz may also be put into" in str(error)  # noqa: PT017


@pytest.mark.parametrize("name", ["blocks", "faint_blocks"])
def test_block_models_are_drawn_alike_each_time_and_join_no_two_classes(name):
    data, again = load(name), load(name, seed=1)
    assert data.name == name
    assert torch.equal(data.features, again.features)
    ends = data.labels[data.graph.edge_index]
    assert torch.equal(ends[0], ends[1])


def test_faint_blocks_are_the_same_blocks_with_more_noise():
    clear, faint = load("blocks"), load("faint_blocks")
    assert torch.equal(clear.labels, faint.labels)
    assert faint.features.std() > 1.5 * clear.features.std()
