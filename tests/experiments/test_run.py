import json
import shlex
from dataclasses import asdict

import pytest
from typer.testing import CliRunner

from bpgnn.cli import app
from bpgnn.experiments.run import Run, over_seeds
from bpgnn.training.plan import Plan


@pytest.mark.parametrize(
    ("run", "words"),
    [
        (Run("cora"), "bpgnn train cora --seed 0 --threads 1"),
        (
            Run("cora", Plan("gat", "paper", 2), "random"),
            "bpgnn train cora --seed 2 --threads 1 --method gat --preset paper --split random",
        ),
        (
            Run("cora", Plan(add_edges=0.75, drop_edges=0.25)),
            "bpgnn train cora --seed 0 --threads 1 --add-edges 0.75 --drop-edges 0.25",
        ),
        (
            Run("cora", Plan(changes={"hidden": (32, 16), "standardize": False})),
            "bpgnn train cora --seed 0 --threads 1 --set hidden=32,16 --set standardize=false",
        ),
        (
            Run("cora", Plan(labels_per_class=5)),
            "bpgnn train cora --seed 0 --threads 1 --labels-per-class 5",
        ),
        (
            Run("my data", Plan(device="cuda"), threads=2),
            "bpgnn train 'my data' --seed 0 --threads 2 --device cuda",
        ),
    ],
)
def test_a_run_writes_the_command_that_makes_it(run, words):
    assert run.command == words


def test_the_command_makes_the_run_it_stands_for(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    changes = {"max_steps": 3, "hidden": (8, 4), "standardize": False, "evaluate_every": 1}
    run = Run("breast_cancer", Plan("bpgnn", "paper", 3, changes), "random")
    found = CliRunner().invoke(app, [*shlex.split(run.command)[1:], "--json"])
    record = json.loads(found.stdout)
    expected = run.plan.settings_for(run.dataset)
    for name in ("hidden", "standardize", "max_steps", "k"):
        value = getattr(expected, name)
        assert record["settings"][name] == (list(value) if isinstance(value, tuple) else value)
    assert (record["split"], record["seed"], record["preset"]) == ("random", 3, "paper")


def test_one_run_a_seed():
    runs = over_seeds("photo", range(2), method="gcn", add_edges=0.5, changes={"k": 3})
    assert [run.plan.seed for run in runs] == [0, 1]
    assert {(run.plan.method, run.plan.add_edges) for run in runs} == {("gcn", 0.5)}


def test_a_line_agrees_with_a_run_of_the_same_settings_and_no_other():
    run = Run("cora", Plan("gcn"))
    settings = json.loads(json.dumps(asdict(run.plan.settings_for("cora"))))
    assert run.agrees({"settings": settings})
    assert run.agrees({"error": {"kind": "memory"}})
    assert not run.agrees({"settings": {**settings, "dropout": 0.123}})
    assert run.agrees({"settings": {**settings, "gone": 1}})


@pytest.mark.parametrize(
    ("changes", "agree"),
    [({}, True), ({"edge_evidence": False}, True), ({"edge_evidence": True}, False)],
)
def test_a_setting_that_a_line_does_not_know_must_leave_things_as_they_were(changes, agree):
    run = Run("photo", Plan(preset="paper", changes=changes))
    settings = json.loads(json.dumps(asdict(run.plan.settings_for("photo"))))
    for name in ("edge_evidence", "latent_loss_weight", "validation_samples"):
        del settings[name]
    assert run.agrees({"settings": settings}) == agree
