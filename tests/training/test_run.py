import json

import pytest
import torch

from bpgnn.errors import InputError, RunFolderError
from bpgnn.training import run
from bpgnn.training.fit import fit
from bpgnn.training.folder import PLAN, RESULT, RunFolder
from bpgnn.training.plan import Plan
from bpgnn.training.record import fingerprint
from bpgnn.training.run import load_for, new_folder, resumed_plan


def pairs_of(data):
    return set(zip(*data.graph.undirected_pairs().tolist(), strict=True))


def test_without_perturbation_the_data_are_those_of_their_name():
    data = load_for(Plan(), "wine", None)
    assert (data.name, data.num_nodes, data.split.name) == ("wine", 178, "random")
    assert load_for(Plan(), "cora", "public").split.name == "public"


def test_edges_are_dropped_and_added_by_share_and_the_notes_say_so():
    plain = pairs_of(load_for(Plan(seed=3), "wine", None))
    dropped = pairs_of(load_for(Plan(seed=3, drop_edges=0.25), "wine", None))
    assert dropped < plain
    assert len(dropped) == len(plain) - round(0.25 * len(plain))
    noisy = load_for(Plan(seed=3, add_edges=0.5), "wine", None)
    assert pairs_of(noisy) > plain
    assert noisy.num_pairs == len(plain) + round(0.5 * len(plain))
    assert any("were added" in note for note in noisy.notes)
    clean = load_for(Plan(seed=3), "wine", None)
    assert torch.equal(noisy.true_graph.edge_index, clean.graph.edge_index)
    assert clean.true_graph is None
    assert (noisy.num_neighbours, clean.num_neighbours) == (10, 10)


def test_split_and_noise_come_from_the_seed():
    one, same, other = (
        load_for(Plan(seed=seed, add_edges=0.2), "wine", "random") for seed in (1, 1, 2)
    )
    assert fingerprint(one) == fingerprint(same) != fingerprint(other)
    assert not torch.equal(one.split.train, other.split.train)
    assert pairs_of(one) != pairs_of(other)


def test_an_unknown_split_is_met_with_the_nearest_one():
    with pytest.raises(InputError, match="no split 'compleet'. Did you mean complete?"):
        load_for(Plan(), "wine", "compleet")


def test_edges_of_data_without_a_graph_cannot_be_changed(small, monkeypatch):
    monkeypatch.setattr(run, "load", lambda *_args, **_options: small.with_graph(None))
    assert load_for(Plan(), "mine", None).graph is None
    with pytest.raises(InputError, match="has no graph to add edges to or drop edges from"):
        load_for(Plan(add_edges=0.5), "mine", None)


def test_runs_without_a_folder_get_the_next_free_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = []
    for _ in range(3):
        folder = new_folder(None, Plan(seed=4), "wine")
        folder.claim()
        names.append(str(folder.path))
    first = "runs/wine-bpgnn-tuned-seed4"
    assert names == [first, f"{first}-2", f"{first}-3"]


def test_a_folder_named_is_taken_when_new_or_empty(tmp_path):
    assert new_folder(tmp_path / "new", Plan(), "wine").path == tmp_path / "new"
    assert not (tmp_path / "new").exists()
    assert new_folder(tmp_path, Plan(), "wine").path == tmp_path


def test_a_folder_that_holds_anything_is_refused(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(RunFolderError, match="is not empty. Choose another --out"):
        new_folder(tmp_path, Plan(), "wine")


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(RunFolderError, match="a file is in the way"):
        new_folder(tmp_path / "file", Plan(), "wine")


@pytest.fixture
def folder(small, make_plan, tmp_path):
    """A run that was begun and not finished."""
    folder = RunFolder(tmp_path / "run")
    fit(small, make_plan(seed=5, max_steps=2), folder=folder)
    (folder.path / RESULT).unlink()
    return folder


def test_a_plan_is_read_back_from_its_folder(folder, make_plan):
    plan, dataset, split, threads = resumed_plan(folder)
    expected = make_plan(seed=5, max_steps=2)
    assert plan.settings_for("block_model") == expected.settings_for("block_model")
    assert plan.seed == 5
    assert (dataset, split, threads) == ("block_model", "random", torch.get_num_threads())


def test_a_finished_run_is_not_resumed(folder):
    folder.write_json(RESULT, {})
    with pytest.raises(RunFolderError, match="is finished: see result.json there"):
        resumed_plan(folder)


def test_a_folder_that_is_not_there_is_said_so(tmp_path):
    with pytest.raises(RunFolderError, match="There is no run folder .*nowhere"):
        resumed_plan(RunFolder(tmp_path / "nowhere"))


def test_a_folder_of_something_else_is_said_so(tmp_path):
    (tmp_path / "holiday.jpg").write_bytes(b"")
    with pytest.raises(RunFolderError, match="is not the folder of a run: it has no settings.json"):
        resumed_plan(RunFolder(tmp_path))


@pytest.mark.parametrize(
    "change",
    [
        {"seed": "five"},
        {"seed": None},
        {"method": ["bpgnn"]},
        {"changes": 3},
        {"add_edges": "much"},
        {"threads": "many"},
        {"threads": 0},
        {"dataset": None},
        {"device": {}},
    ],
)
def test_settings_that_were_damaged_are_refused(folder, change):
    stored = folder.read_json(PLAN)
    folder.write_json(PLAN, {**stored, **change})
    with pytest.raises(RunFolderError, match="settings.json in .* is damaged or not one of bpgnn"):
        resumed_plan(folder)


def test_settings_of_another_program_are_refused(folder):
    folder.write(PLAN, json.dumps({"python.linting": True}).encode())
    with pytest.raises(RunFolderError, match="damaged or not one of bpgnn's"):
        resumed_plan(folder)


@pytest.mark.parametrize(
    ("preset", "asked", "split"),
    [("published", None, "public"), ("paper", None, "complete"), ("published", "random", "random")],
)
def test_the_split_is_the_one_asked_for_or_that_of_the_settings(preset, asked, split):
    plan = Plan(method="gcn", preset=preset)
    assert load_for(plan, "cora", asked).chosen_split().name == split


@pytest.mark.parametrize("preset", ["published", "paper"])
def test_where_a_data_set_has_no_such_split_it_keeps_its_own(preset):
    plan = Plan(method="gcn", preset=preset)
    assert load_for(plan, "wine", None).chosen_split().name == "random"
