import functools
import inspect
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

import bpgnn
from bpgnn import cli
from bpgnn.data import catalog
from bpgnn.errors import DataUnavailableError
from bpgnn.training import fit as fit_module
from bpgnn.training import folder as folder_module
from bpgnn.training.checkpoint import from_bytes

KEYS = (
    *("method", "dataset", "split", "preset", "seed", "test_accuracy", "validation_accuracy"),
    *("test_macro_f1", "test_balanced_accuracy", "steps", "cpu_seconds", "wall_seconds"),
    *("peak_memory_mb", "sampler", "versions", "settings"),
)
SPENT = ("cpu_seconds", "wall_seconds", "peak_memory_mb")
QUICK = ("max_steps=4", "evaluate_every=2", "num_samples=2", "hidden=8,8")
QUICK = tuple(word for change in QUICK for word in ("--set", change))


@pytest.fixture(autouse=True)
def _in_an_empty_folder(place):
    """No test leaves anything behind."""


@pytest.fixture
def wine_run(run, place):
    """The folder of a run that was begun and not finished."""
    assert run("train", "wine", *QUICK, "--out", "begun").code == 0
    (place / "begun" / "result.json").unlink()
    return place / "begun"


def files(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*.*")}


def without_times(text):
    return {name: value for name, value in json.loads(text).items() if name not in SPENT}


def test_json_prints_the_result_alone_on_standard_output(run, place):
    ran = run("train", "wine", *QUICK, "--seed", 3, "--json", "--out", "run")
    assert ran.code == 0
    result = json.loads(ran.out)
    assert set(KEYS) <= result.keys()
    assert result == json.loads((place / "run" / "result.json").read_text())
    named = [result[key] for key in ("method", "dataset", "split", "preset", "seed", "steps")]
    assert named == ["bpgnn", "wine", "random", "tuned", 3, 4]
    for key in KEYS:
        if "accuracy" in key or "f1" in key:
            assert 0 <= result[key] <= 1
    assert result["settings"]["hidden"] == [8, 8]
    assert result["versions"]["bpgnn"] == bpgnn.__version__
    assert "Training bpgnn (tuned) on wine" in ran.err


def test_cora_is_the_default_and_the_end_says_what_came_out(run, place):
    ran = run("train", *QUICK, "--set", "max_steps=2", "--add-edges", 0.1)
    assert ran.code == 0
    assert "2,708 nodes, 5,806 edges, 1,708 training nodes, split complete, seed 0." in ran.out
    assert "Note: Of 5278 undirected edges 0 were removed, and 528 were added: 5806 now." in ran.out
    lines = ran.out.splitlines()[-4:]
    assert re.fullmatch(r"test accuracy 0\.\d{4} \(validation 0\.\d{4}.*", lines[0])
    counts = re.fullmatch(
        r"latent graph: ([\d,]+) observed pairs kept, ([\d,]+) added, ([\d,]+) dropped", lines[1]
    )
    kept, _, dropped = (int(count.replace(",", "")) for count in counts.groups())
    assert kept + dropped == 5806
    assert re.fullmatch(r"homophily 0\.\d{3} observed, [01]\.\d{3} latent .*", lines[2])
    assert lines[3] == "run folder runs/cora-bpgnn-tuned-seed0"
    names = {path.name for path in (place / "runs" / "cora-bpgnn-tuned-seed0").iterdir()}
    assert {"settings.json", "history.jsonl", "weights.safetensors", "result.json"} <= names


@pytest.mark.parametrize("preset", ["paper", "authors"])
def test_other_presets_train_too(run, preset):
    ran = run("train", "wine", "--preset", preset, "--set", "max_steps=2", "--json")
    assert ran.code == 0
    assert json.loads(ran.out)["preset"] == preset


def test_the_same_words_give_the_same_result_in_another_folder(run, place):
    one, same = (run("train", "wine", *QUICK, "--json") for _ in range(2))
    assert without_times(one.out) == without_times(same.out)
    assert len(list((place / "runs").iterdir())) == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--method", "mlp"], False),
        (["--set", "sampler=blocked"], False),
        (["--set", "sampler=lazy"], True),
        ([], True),
    ],
)
def test_compiling_is_said_where_the_sampler_is_compiled(run, monkeypatch, words, said):
    monkeypatch.setattr("bpgnn.infer.sample.lazy.is_compiled", lambda: False)
    ran = run("train", "wine", "--set", "max_steps=1", *words)
    assert ran.code == 0
    assert ("compiles the sampler" in ran.out) is said


BAD = {
    "coar": (["train", "coar"], "There is no data set 'coar'. Did you mean 'cora'?|mean cora?"),
    "nothing": (["train", ""], "nor a data set of that name"),
    "method": (["train", "--method", "bpgn"], "There is no method 'bpgn'. Did you mean bpgnn?"),
    "preset": (["train", "--preset", "tund"], "no preset 'tund' here. Did you mean tuned?"),
    "split": (["train", "--split", "publik"], "no split 'publik'. Did you mean public?"),
    "setting": (["train", "--set", "latent_dm=3"], "Did you mean latent_dim?"),
    "choice": (["train", "--set", "aggregation=gcm"], "`aggregation` cannot be 'gcm'. Did you"),
    "value": (["train", "--set", "k=five"], "`k` must be a whole number, but got 'five'."),
    "range": (["train", "--set", "dropout=1.5"], "`dropout` must be from 0 to below 1"),
    "no equals": (["train", "--set", "k"], "--set takes NAME=VALUE, for instance k=5, but got 'k'"),
    "no name": (["train", "--set", "=5"], "--set takes NAME=VALUE"),
    "k": (["train", "wine", "--set", "k=178"], "`k` must be between 1 and 177 for 178 nodes"),
    "add": (["train", "wine", "--add-edges", "-1"], "`add_edges` must be a finite number from 0"),
    "drop": (["train", "wine", "--drop-edges", "1.5"], "`drop_edges` must be between 0 and 1"),
    "many": (["train", "wine", "--add-edges", "1e6"], "pairs of nodes are not joined yet"),
    "device": (["train", "wine", "--device", "toaster"], "device 'toaster' cannot be used here"),
    "meta": (["train", "wine", "--device", "meta"], "device 'meta' cannot be used here"),
    "resume": (["train", "--resume", "nowhere"], "There is no run folder nowhere."),
    "rate": (
        ["train", "wine", "--set", "learning_rate=-1"],
        "`learning_rate` must be above 0, but got -1.0.",
    ),
    "cite": (["cite", "bpgn"], "There is no method 'bpgn'. Did you mean bpgnn?"),
    "get": (["data", "get", "citeser"], "There is no data set 'citeser'. Did you mean"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_answered_with_one_sentence_and_leaves_nothing_behind(run, place, name):
    words, answer = BAD[name]
    ran = run(*words)
    assert ran.code == 2
    last = ran.err.splitlines()[-1]
    assert last.startswith("bpgnn: ")
    assert any(part in last for part in answer.split("|"))
    assert "Traceback" not in ran.out + ran.err
    assert "something went wrong inside" not in ran.err
    assert list(place.iterdir()) == []


@pytest.mark.parametrize(
    "words",
    [
        ["trian"],
        ["train", "--sede", "3"],
        ["train", "--seed", "x"],
        ["train", "--seed", "-1"],
        ["train", "--threads", "0"],
        ["train", "--threads", "100000"],
        ["train", "--add-edges", "many"],
        ["train", "cora", "citeseer"],
        ["data", "gett"],
        ["cite"],
    ],
)
def test_words_that_are_no_command_are_refused(run, place, words):
    ran = run(*words)
    assert ran.code == 2
    assert "Traceback" not in ran.err
    assert "Error" in ran.err
    assert list(place.iterdir()) == []


def test_a_folder_in_use_is_refused_and_left_as_it_is(run, place):
    (place / "mine").mkdir()
    (place / "mine" / "notes.txt").write_text("mine")
    ran = run("train", "wine", "--out", "mine")
    assert ran.code == 2
    assert "mine is not empty. Choose another --out" in ran.err
    assert files(place) == {"mine/notes.txt": b"mine"}


@pytest.mark.parametrize("out", ["file", "file/below"])
def test_a_file_in_the_way_of_the_folder_is_refused(run, place, out):
    (place / "file").write_text("mine")
    ran = run("train", "wine", *QUICK, "--out", out)
    assert ran.code == 2
    assert "a file is in the way. Choose another folder with --out." in ran.err
    assert (place / "file").read_text() == "mine"


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (PermissionError(13, "Permission denied"), "permission is missing"),
        (OSError(28, "No space left on device"), "the disk is full. Free some room"),
    ],
)
def test_an_output_that_cannot_be_written_is_refused_in_a_sentence(
    run, place, monkeypatch, error, words
):
    def refuse(*_args, **_kwargs):
        raise error

    monkeypatch.setattr(folder_module.os, "fsync", refuse)
    ran = run("train", "wine", *QUICK, "--out", "run")
    assert ran.code == 2
    assert f"Cannot write run: {words}" in ran.err
    assert "Traceback" not in ran.err
    assert files(place) == {}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become somebody else")
def test_a_folder_of_somebody_else_is_refused_in_a_sentence(place):
    (place / "private").mkdir(mode=0o700)
    # Only what a stranger may read of Python's own library is used: no torch, no typer.
    program = (
        "import os, sys\n"
        "from bpgnn.training.folder import RunFolder\n"
        "os.setgid(65534); os.setuid(65534)\n"
        "try: RunFolder('private/run').claim()\n"
        "except Exception as error: sys.exit(f'{type(error).__name__}: {error}')"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], cwd=place, capture_output=True, text=True, timeout=120
    )
    assert ended.stderr.strip() == (
        "RunFolderError: Cannot write private/run: permission is missing. Choose a folder of "
        "your own with --out."
    )


def test_resuming_ends_as_the_undisturbed_run_did(run, place, wine_run):
    whole = run("train", "wine", *QUICK, "--json")
    resumed = run("train", "--resume", wine_run, "--json")
    assert resumed.code == 0
    assert without_times(resumed.out) == without_times(whole.out)
    again = run("train", "--resume", wine_run)
    assert again.code == 2
    assert "is finished: see result.json there" in again.err


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["--seed", "3"], "--seed"),
        (["cora"], "DATASET"),
        (["--out", "other"], "--out"),
        (["--split", "random", "--set", "k=3"], "--set, --split"),
        (["--add-edges", "0.5"], "--add-edges"),
        (["--method", "bpgnn", "--device", "cpu"], "--device, --method"),
    ],
)
def test_resuming_with_other_options_is_refused(run, wine_run, words, named):
    before = files(wine_run)
    ran = run("train", "--resume", wine_run, *words)
    assert ran.code == 2
    assert ran.err.strip().endswith(f"Leave out: {named}.")
    assert files(wine_run) == before


def truncate(path):
    path.write_bytes(path.read_bytes()[:-30])


DAMAGE = {
    "settings cut off": lambda folder: truncate(folder / "settings.json"),
    "settings of another program": lambda folder: (folder / "settings.json").write_text("{}"),
    "settings gone": lambda folder: (folder / "settings.json").unlink(),
    "a checkpoint of nonsense": lambda folder: (folder / "checkpoint.safetensors").write_text("?"),
    "an empty checkpoint": lambda folder: (folder / "checkpoint.safetensors").write_bytes(b""),
    "a checkpoint of zeros": lambda f: (f / "checkpoint.safetensors").write_bytes(bytes(9999)),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_run_folder_is_refused_in_a_sentence(run, wine_run, name):
    DAMAGE[name](wine_run)
    before = files(wine_run)
    ran = run("train", "--resume", wine_run)
    assert ran.code == 2
    last = ran.err.splitlines()[-1]
    assert last.startswith("bpgnn: ")
    assert re.search("damaged|not the folder of a run", last)
    assert files(wine_run) == before


def test_a_run_on_other_data_is_not_resumed(run, wine_run):
    stored = json.loads((wine_run / "settings.json").read_text())
    (wine_run / "settings.json").write_text(json.dumps({**stored, "add_edges": 0.5}))
    ran = run("train", "--resume", wine_run)
    assert ran.code == 2
    assert "was trained on other data than is here now" in ran.err


def test_stopping_by_hand_says_how_to_go_on(run, monkeypatch):
    def interrupted(*_args, **_kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(fit_module, "fit", interrupted)
    ran = run("train", "wine")
    assert ran.code == 130
    assert "Go on with: bpgnn train --resume runs/wine-bpgnn-tuned-seed0" in ran.out


def test_data_that_are_not_to_be_had_are_a_failure_and_no_bad_input(run, monkeypatch):
    def away(*_args, **_kwargs):
        raise DataUnavailableError("Put pubmed.npz here.")

    monkeypatch.setattr(catalog, "get", away)
    ran = run("data", "get", "pubmed")
    assert (ran.code, ran.err) == (1, "bpgnn: Put pubmed.npz here.\n")


def test_a_fault_of_our_own_is_a_sentence_too_and_on_request_a_traceback(run, monkeypatch):
    def broken(*_args, **_kwargs):
        raise RuntimeError("boom [/red]")

    monkeypatch.setattr(catalog, "available", broken)
    ran = run("data", "list")
    assert ran.code == 1
    assert ran.err.startswith("bpgnn: something went wrong inside: RuntimeError: boom [/red].")
    assert "Traceback" not in ran.err
    monkeypatch.setenv("BPGNN_TRACEBACK", "1")
    monkeypatch.setattr(sys, "argv", ["bpgnn", "data", "list"])
    with pytest.raises(RuntimeError, match="boom"):
        cli.main()


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (MemoryError(), "There is not enough memory for this."),
        (RuntimeError("std::bad_alloc"), "There is not enough memory for this."),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory: you"), "not enough memory"),
        (RuntimeError("CUDA out of memory. Tried"), "There is not enough memory for this."),
        (OSError(28, "No space left on device"), "The system refused: [Errno 28] No space left"),
    ],
)
def test_a_machine_that_is_too_small_is_said_in_a_sentence(run, monkeypatch, error, words):
    def too_small(*_args, **_kwargs):
        raise error

    monkeypatch.setattr(catalog, "available", too_small)
    ran = run("data", "list")
    assert ran.code == 1
    assert words in ran.err
    assert "something went wrong inside" not in ran.err


def test_data_sets_are_listed_with_their_numbers(run):
    ran = run("data", "list")
    assert ran.code == 0
    (cora,) = [line for line in ran.out.splitlines() if "cora" in line]
    for word in ("2,708", "5,278", "1,433", "7", "package"):
        assert word in cora
    assert all(name in ran.out for name in catalog.CATALOG)


def test_a_data_set_that_comes_with_a_package_needs_no_fetching(run):
    ran = run("data", "get", "cora")
    assert (ran.code, ran.out) == (0, "cora comes with a package.\n")


def test_a_path_is_printed_whole_whatever_is_in_it(run, monkeypatch):
    path = Path("/long") / ("folder" * 20) / "[red]citeseer.npz"
    monkeypatch.setattr(catalog, "get", lambda name, progress: path)
    assert run("data", "get", "citeseer").out == f"citeseer is at {path}\n"


def test_methods_are_listed_and_cited(run):
    listed = run("methods").out
    words = " ".join(re.sub("[│┃]", " ", listed).split())
    assert all(name in words for name in ("idgl-anch", "ignored", "needed", "MB", "2,708 nodes"))
    ran = run("cite", "bpgnn")
    assert ran.code == 0
    assert ran.out.startswith("@article{")
    assert ran.out.count("{") == ran.out.count("}")


def test_own_data_are_described_before_anything_is_trained(run, place):
    (place / "shop").mkdir()
    nodes = "id,age,city,kind,mail\na,31,<b>[red],x,q\nb,45,=cmd,y,q\nc,27,=cmd,,\n"
    (place / "shop" / "nodes.csv").write_text(nodes)
    (place / "shop" / "edges.csv").write_text("source,target\na,b\nb,c\nb,b\n")
    ran = run("check", "shop", "--label-column", "kind", "--drop", "mail")
    assert ran.code == 0
    assert max(len(line) for line in ran.out.splitlines()) <= 80
    for words in (
        *("shop: 3 nodes, 2 edges, 3 features, 2 classes", "neighbours: 1.3 on average, 2 at most"),
        *("homophily: 0.000 of the 1 edges", "labels: 2 nodes have one, 1 have none"),
        *("city category of 2: <b>[red], =cmd", "note: 1 self-loop was dropped"),
    ):
        assert words in ran.out
    assert re.search(r"^  bpgnn +\d+ MB  fits$", ran.out, flags=re.MULTILINE)
    assert "edges had one direction only" in " ".join(ran.out.split())
    one_way = run("check", "shop", "--label-column", "kind", "--drop", "mail", "--directed")
    assert "one direction" not in one_way.out
    refused = run("check", "shop", "--label-column", "kind")
    assert refused.code == 2
    assert "shop/nodes.csv, line 4, column 'mail': the value is missing" in refused.err


def test_methods_are_listed_for_own_data_too(run, place):
    (place / "people.csv").write_text("id,age,kind,mail\na,31,x,q\nb,45,y,q\nc,27,,\n")
    ran = run("methods", "people.csv", "--label-column", "kind", "--drop", "mail")
    assert ran.code == 0
    assert "for people, 3 nodes" in ran.out
    assert "neither a file or folder 'shop' nor a data set" in run("methods", "shop").err
    assert "has no columns to name or drop" in run("methods", "wine", "--drop", "mail").err


def test_data_of_the_catalogue_are_described_too(run, monkeypatch):
    monkeypatch.setattr("bpgnn.training.memory.free_memory", lambda _: 1000)
    out = run("check", "wine").out
    assert "wine: 178 nodes" in out
    assert "does not fit" in out
    assert "Did you mean wine?" in run("check", "wnie").err


def test_the_version_is_told(run):
    assert run("--version").out == f"bpgnn {bpgnn.__version__}\n"


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["train"],
        ["check"],
        ["predict"],
        ["graph"],
        ["explain"],
        ["explore"],
        ["methods"],
        ["cite"],
        ["data"],
        ["data", "list"],
        ["data", "get"],
    ],
)
def test_help_fits_into_80_columns_and_gives_an_example(run, words):
    ran = run(*words, "--help")
    assert ran.code == 0
    assert max(len(line) for line in ran.out.splitlines()) <= 80
    assert "Example: bpgnn" in ran.out
    assert run(*words, "-h").out == ran.out


@pytest.mark.parametrize(
    "command", cli.app.registered_commands, ids=lambda one: one.callback.__name__
)
def test_help_is_written_in_lines_that_80_columns_do_not_break(command):
    _, *lines = inspect.getdoc(command.callback).splitlines()
    assert max(map(len, lines)) <= 78


def test_help_does_not_wait_for_torch():
    program = "import sys, bpgnn.cli; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], timeout=60).returncode == 0


MAIN = "from bpgnn.cli import main; main()"
EVERY_CHECKPOINT = (
    "import functools, bpgnn.training.fit as module;"
    "module.fit = functools.partial(module.fit, checkpoint_seconds=0);"
)


def begin(program, *words, **options):
    return subprocess.Popen(
        [sys.executable, "-c", program, *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        **options,
    )


def kill(process):
    process.send_signal(signal.SIGKILL)
    process.communicate()
    return process.returncode == -signal.SIGKILL


def wait_for_lines(path, count, process):
    while process.poll() is None:
        if path.exists() and path.read_bytes().count(b"\n") >= count:
            return
        time.sleep(0.002)
    pytest.fail(f"The run ended before it could be killed: {process.stderr.read().decode()}")


def test_a_run_killed_with_sigkill_and_resumed_ends_as_an_undisturbed_one(run, place, monkeypatch):
    words = ["train", "wine", "--threads", "1", *QUICK, "--set", "max_steps=120"]
    whole = run(*words, "--out", "whole", "--json")
    process = begin(EVERY_CHECKPOINT + MAIN, *words, "--out", "killed")
    wait_for_lines(place / "killed" / "history.jsonl", random.randint(4, 12), process)
    time.sleep(random.uniform(0, 0.05))
    assert kill(process)
    assert not (place / "killed" / "result.json").exists()
    seen = []
    watched = functools.partial(fit_module.fit, checkpoint_seconds=0)
    monkeypatch.setattr(
        fit_module,
        "fit",
        lambda *args, watch, **options: watched(*args, watch=seen.append, **options),
    )
    resumed = run("train", "--resume", "killed", "--json")
    assert seen[0].step > 1, "it began anew instead of going on"
    assert without_times(resumed.out) == without_times(whole.out)
    assert (place / "killed" / "history.jsonl").read_bytes() == (
        place / "whole" / "history.jsonl"
    ).read_bytes()
    weights = [
        from_bytes((place / name / "weights.safetensors").read_bytes(), name).weights
        for name in ("whole", "killed")
    ]
    assert weights[0].keys() == weights[1].keys()
    assert all(torch.equal(weights[0][name], weights[1][name]) for name in weights[0])
    assert not list((place / "killed").glob(".*"))


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_cora_killed_at_three_random_moments_ends_as_an_undisturbed_run(place):
    words = ["train", "cora", "--set", "max_steps=80", "--threads", "1"]
    began = time.monotonic()
    process = begin(MAIN, *words, "--out", "whole")
    process.communicate()
    assert process.returncode == 0
    took = time.monotonic() - began
    moments = [random.uniform(0.15, 0.6) * took for _ in range(3)]
    for number, moment in enumerate(moments):
        more = ["train", "--resume", "killed"] if number else [*words, "--out", "killed"]
        process = begin(MAIN, *more)
        time.sleep(moment)
        if not kill(process):
            assert process.returncode == 0
            break
    if not (place / "killed" / "result.json").exists():
        # A process killed before its first file has left nothing to resume.
        started = (place / "killed" / "settings.json").exists()
        more = ["train", "--resume", "killed"] if started else [*words, "--out", "killed"]
        process = begin(MAIN, *more)
        _, said = process.communicate()
        assert process.returncode == 0, (moments, said.decode())
    results = [(place / name / "result.json").read_text() for name in ("whole", "killed")]
    assert without_times(results[0]) == without_times(results[1]), moments
