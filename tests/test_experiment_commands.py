import csv
import io
import json
from pathlib import Path

import pytest

from bpgnn import experiment_commands
from bpgnn.experiments import registry
from bpgnn.experiments.execute import execute
from bpgnn.experiments.experiment import Experiment
from bpgnn.experiments.run import Run
from bpgnn.experiments.runner import Progress
from bpgnn.experiments.store import Store
from bpgnn.report import registry as report_registry
from bpgnn.report.paper import datasets
from bpgnn.training.plan import Plan


@pytest.fixture(autouse=True)
def _in_an_empty_folder(place):
    """No test leaves anything behind."""


@pytest.fixture
def tiny_experiment(monkeypatch):
    """Three runs of which one cannot be made."""
    changes = {"max_steps": 2, "evaluate_every": 1}
    runs = [Run("wine", Plan("mlp", seed=seed, changes=changes)) for seed in range(2)]
    runs.append(Run("wine", Plan("mlp", changes={"no_such": 1})))
    experiment = Experiment("tiny", "Does it run?", 1, lambda seeds: runs)
    monkeypatch.setitem(registry.EXPERIMENTS, "tiny", experiment)
    # All sections without a single run; that reports are written well is tested elsewhere.
    monkeypatch.setattr(report_registry, "SECTIONS", {"datasets": datasets.section})


def test_an_experiment_is_run_once_and_its_results_are_shown(run, place, tiny_experiment):
    found = run("reproduce", "tiny", "--jobs", "1")
    assert found.code == 0
    assert "The report is at report/index.html" in found.out
    assert "19,717" in (place / "report" / "index.html").read_text()
    assert "2 runs are in results/runs.jsonl, 1 failed, 0 are missing." in found.out
    before = (place / "results" / "runs.jsonl").read_bytes()
    assert run("reproduce", "tiny", "--jobs", "1").code == 0
    assert (place / "results" / "runs.jsonl").read_bytes() == before
    table = run("results").out
    assert "±" in table
    assert "no setting" in table
    lines = json.loads(run("results", "--as", "json").out)
    assert [line.get("seed") for line in lines] == [0, 1, 0]
    rows = list(csv.DictReader(io.StringIO(run("results", "wine", "--as", "csv").out)))
    assert float(rows[0]["test_accuracy"]) == lines[0]["test_accuracy"]
    assert "no setting" in rows[2]["error"]
    assert len(rows[0]["code"]) == 12
    assert json.loads(run("results", "cora", "--as", "json").out) == []
    # A table without rows has the same columns.
    assert run("results", "cora", "--as", "csv").out.strip().split(",") == list(rows[0])


def test_results_for_other_programs_tell_old_settings_and_what_the_latent_graph_has(run, place):
    latest = Run("cora", Plan())
    line = {"command": latest.command, **latest.facts, "test_accuracy": 0.9, "cpu_seconds": 60.0}
    line["latent_graph"] = {"kept": 5, "test_pairs": {"latent": []}}
    old = {**line, "command": f"{latest.command} --set k=8", "settings": {"k": 99}}
    (place / "runs.jsonl").write_text(f"{json.dumps(line)}\n{json.dumps(old)}\n")
    options = ("results", "--store", "runs.jsonl", "--as")
    rows = list(csv.DictReader(io.StringIO(run(*options, "csv").out)))
    assert [(row["is_stale"], row["latent_graph.kept"]) for row in rows] == [
        ("False", "5"),
        ("True", "5"),
    ]
    assert "settings" not in rows[0]
    assert [one["is_stale"] for one in json.loads(run(*options, "json").out)] == [False, True]


def test_a_store_without_runs_gets_a_sentence(run, place):
    (place / "runs.jsonl").write_text("")
    assert "There is no run in runs.jsonl yet" in run("results", "--store", "runs.jsonl").err


def test_a_wrong_name_beside_all_is_refused(run):
    assert "no experiment 'reslts'. Did you mean results?" in run("reproduce", "all", "reslts").err


def test_what_came_of_a_timing_is_told_in_seconds():
    assert experiment_commands._outcome({"cpu_seconds": 0.25}) == "0.25 CPU-seconds"


@pytest.mark.parametrize(
    ("command", "work"),
    [
        (("reproduce", "tiny"), "bpgnn.experiments.runner.run_missing"),
        (("tune", "mlp", "wine"), "bpgnn.experiments.tune.search.search"),
        (("recheck", "tiny", "--cells", "1"), "bpgnn.experiments.runner.run_missing"),
    ],
)
def test_ctrl_c_is_told_how_to_go_on(run, cell, monkeypatch, command, work):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(work, interrupted)
    ran = run(*command)
    assert ran.code == 130
    assert "Stopped. The same command goes on" in ran.out


def test_runs_are_safe_where_no_report_can_be_written(run, place, tiny_experiment):
    (place / "report").write_text("a file in the way")
    found = run("reproduce", "tiny", "--jobs", "1")
    assert found.code == 0
    assert "2 runs are in results/runs.jsonl" in found.out
    assert "No report was written." in found.out


def test_what_a_report_lacks_is_said_before_the_first_run(run, place, tiny_experiment, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    found = run("reproduce", "tiny", "--jobs", "1")
    assert found.code == 2
    assert "needs jinja2 and matplotlib" in found.err
    assert "pip install 'bpgnn[report]'" in found.err
    assert not (place / "results").exists()


def test_runs_of_a_fast_pass_are_kept_apart(run, place, tiny_experiment):
    found = run("reproduce", "tiny", "--jobs", "1", "--fast")
    assert "2 runs are in results/fast.jsonl" in found.out
    assert not (place / "results" / "runs.jsonl").exists()
    assert run("report", "--fast").code == 0


def test_time_that_runs_out_leaves_runs_for_another_time(run, place, tiny_experiment):
    found = run("reproduce", "tiny", "--hours", "0", "--jobs", "1")
    assert "0 runs are in results/runs.jsonl, 0 failed, 3 are missing." in found.out
    assert "The same command goes on" in found.out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["reproduce", "resluts"], "Did you mean results?"),
        (["results"], "There are no results at results/runs.jsonl."),
        (["reproduce", "results", "--cluster", "tcp://127.0.0.1:1"], "Dask"),
    ],
)
def test_experiments_that_cannot_be_run_get_a_sentence(run, words, sentence):
    found = run(*words)
    assert found.code == 2
    assert sentence in found.err


def test_a_search_ends_with_the_command_that_trains_what_it_found(run, place):
    found = run("tune", "mlp", "wine", "--hours", "0.0005")
    assert found.code == 0
    assert "best validation loss" in found.out
    command = found.out.splitlines()[-1]
    assert command.startswith("bpgnn train wine --seed 0 --threads 1 --method mlp")
    assert run(*command.split()[1:], "--set", "max_steps=2").code == 0
    again = run("tune", "mlp", "wine", "--hours", "0.0005", "--json")
    line = json.loads(again.out)
    assert line["command"] == command
    assert line["validation_loss"] == min([*line["known"].values(), line["validation_loss"]])


FOUR = [
    Run("wine", Plan("mlp", seed=seed, changes={"max_steps": 2, "evaluate_every": 1}))
    for seed in range(4)
]


@pytest.fixture(scope="module")
def four_lines():
    return [execute(run) for run in FOUR]


@pytest.fixture
def cell(monkeypatch, place, four_lines):
    """One cell of four seeds, in the store."""
    experiment = Experiment("tiny", "Does it run?", 1, lambda seeds: FOUR)
    monkeypatch.setitem(registry.EXPERIMENTS, "tiny", experiment)
    with Store(Path("results/runs.jsonl")).writing() as append:
        for line in four_lines:
            append(line)
    return FOUR


@pytest.fixture
def in_this_process(monkeypatch):
    """Make runs without starting others for them, which takes its time."""

    def run_here(runs, store, **options):
        known = store.read()
        with store.writing() as append:
            for run in runs:
                if "error" in known.get(run.command, {"error": None}):
                    append(execute(run))
        return Progress(len(runs), len(runs), 0, 0, None)

    monkeypatch.setattr("bpgnn.experiments.runner.run_missing", run_here)


def with_accuracy(path, accuracy):
    """Overwrite what a store says."""
    lines = [{**json.loads(line), **accuracy} for line in path.read_text().splitlines()]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))


RECHECK = ("recheck", "tiny", "--cells", "1", "--jobs", "1")


def test_a_cell_is_made_again_and_compared(run, place, cell):
    found = run(*RECHECK, "--seeds", "2", "--out", "again.jsonl")
    assert found.code == 0
    assert "1 of 1 cells agree." in found.out
    assert len((place / "again.jsonl").read_text().splitlines()) == 2
    # What is there is not made again, and is believed.
    with_accuracy(place / "again.jsonl", {"test_accuracy": 0.0})
    found = run(*RECHECK, "--seeds", "2", "--out", "again.jsonl")
    assert found.code == 1
    assert "0 of 1 cells agree." in found.out


@pytest.mark.usefixtures("cell", "in_this_process")
def test_runs_that_were_made_with_other_code_do_not_count(run, place, monkeypatch):
    assert run(*RECHECK).code == 0
    (made,) = (place / "results").glob("recheck-*.jsonl")
    with_accuracy(made, {"test_accuracy": 0.0})
    assert run(*RECHECK).code == 1
    monkeypatch.setattr("bpgnn.training.record.versions", lambda: {"code": "other"})
    assert run(*RECHECK).code == 0
    assert (place / "results" / "recheck-other.jsonl").exists()


def test_failed_runs_are_told_and_made_again(run, place, cell):
    lacking = {"command": cell[0].command, "error": {"kind": "memory", "words": "It takes [9] GB."}}
    (place / "again.jsonl").write_text(json.dumps(lacking) + "\n")
    assert run(*RECHECK, "--seeds", "1", "--out", "again.jsonl").code == 0
    with pytest.MonkeyPatch.context() as patch:
        nothing = Progress(3, 1, 1, 0, None)
        patch.setattr("bpgnn.experiments.runner.run_missing", lambda *_, **__: nothing)
        (place / "other.jsonl").write_text(json.dumps(lacking) + "\n")
        found = run(*RECHECK, "--out", "other.jsonl")
    assert found.code == 1
    assert "It takes [9] GB." in found.out
    assert "It was not made." in found.out


def test_a_data_set_that_is_away_is_told_after_the_comparison(run, cell, monkeypatch):
    gone = Progress(3, 0, 0, 0, None, unavailable=("Wine is not to be had.",))
    monkeypatch.setattr("bpgnn.experiments.runner.run_missing", lambda *_, **__: gone)
    found = run(*RECHECK)
    assert found.code == 1
    assert "0 of 1 cells agree." in found.out
    assert "Wine is not to be had." in found.err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--cells", "2"], "the store has 1, and 2 were asked for."),
        (["--longest", "0"], "no run of more than 0 CPU-seconds"),
        (["--out", "results/../results/runs.jsonl"], "--out must name another file than --store"),
        (["--out", "results"], "Name another file with --out."),
        (["tinny"], "Did you mean tiny?"),
    ],
)
def test_what_cannot_be_checked_gets_a_sentence(run, cell, words, sentence):
    found = run("recheck", "tiny", *words) if "--cells" in words else run(*RECHECK, *words)
    assert found.code == 2
    assert sentence in found.err


def test_there_is_nothing_to_check_without_a_store(run):
    assert "There are no results" in run("recheck").err
