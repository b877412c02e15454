"""A grid of runs: whatever happens on the way, the store ends the same."""

import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from dataclasses import asdict
from functools import partial
from pathlib import Path

import pytest

from bpgnn.errors import InputError
from bpgnn.experiments.execute import execute, failure
from bpgnn.experiments.run import Run, over_seeds
from bpgnn.experiments.runner import run_missing
from bpgnn.experiments.store import Store
from bpgnn.experiments.timing import Timing
from bpgnn.report.table import entry
from bpgnn.training.plan import Plan
from bpgnn.training.run import load_for

GRID = over_seeds("cora", range(6))


def quick(run, deadline):
    """Stand for a run: what comes out depends on the run alone."""
    return {
        "command": run.command,
        "method": "bpgnn",
        "seed": run.plan.seed,
        "test_accuracy": 0.9,
        "cpu_seconds": 1.0,
        "value": run.plan.seed,
    }


def slow(run, deadline):
    time.sleep(0.05)
    return quick(run, deadline)


def slower(run, deadline):
    time.sleep(1.0)
    return quick(run, deadline)


def killed_at_two(run, deadline):
    if run.plan.seed == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return quick(run, deadline)


def killed_once(marker, run, deadline):
    if run.plan.seed == 2 and not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return quick(run, deadline)


def noted(folder, execute, run, deadline):
    """Leave a file for every run that was asked for, since it is made in another process."""
    count = len(list(folder.glob("*.asked")))
    (folder / f"{count} {run.dataset} {run.plan.seed}.asked").touch()
    return execute(run, deadline)


def asked(folder):
    return [one.stem.split(maxsplit=1)[1] for one in sorted(folder.glob("*.asked"))]


def never(run, deadline):
    raise AssertionError("nothing is missing")


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "runs.jsonl")


def values(store):
    return {line["seed"]: line.get("value") for line in store.read().values()}


@pytest.mark.parametrize("jobs", [1, 2])
def test_every_run_is_made_once(store, jobs):
    found = run_missing(GRID + GRID[:2], store, jobs=jobs, execute=quick)
    assert values(store) == {seed: seed for seed in range(6)}
    assert len(store.path.read_text().splitlines()) == 6
    assert (found.total, found.done, found.failed, found.running) == (6, 6, 0, 0)


def test_asking_again_runs_only_what_is_missing(store, tmp_path):
    run_missing(GRID[:4], store, execute=quick)
    run_missing(GRID[:4], store, execute=never)
    run_missing(GRID, store, execute=partial(noted, tmp_path, quick))
    assert asked(tmp_path) == ["cora 4", "cora 5"]


def test_what_was_made_with_other_settings_is_made_again(store, tmp_path):
    now = {**asdict(Plan().settings_for("cora")), "of_old": 1}
    with store.writing() as append:
        known = {"dataset": "cora", "preset": "tuned"}
        append({**quick(GRID[0], None), **known, "settings": now})
        append({**quick(GRID[1], None), **known, "settings": {**now, "k": 99}})
    run_missing(GRID[:2], store, execute=partial(noted, tmp_path, quick))
    assert asked(tmp_path) == ["cora 1"]


def test_progress_is_told_when_runs_begin_and_end(store):
    seen = []
    run_missing(GRID, store, execute=slow, watch=seen.append)
    assert [one.done for one in seen if one.latest] == [1, 2, 3, 4, 5, 6]
    assert max(one.running for one in seen) == 1
    assert seen[0].seconds_left is None


def test_the_time_left_goes_by_runs_of_the_same_kind(store):
    with store.writing() as append:
        for name, seconds in (("gcn", 10.0), ("bpgnn", 100.0)):
            for steps, share in ((1000, 1.0), (10, 0.01)):
                append(
                    {"command": f"{name} {steps}", "method": name, "dataset": "cora"}
                    | {"preset": "tuned", "seed": 0, "cpu_seconds": 1.0}
                    | {"wall_seconds": share * seconds}
                    | {"settings": {"max_steps": steps}}
                )
    seen = []
    assert Plan().settings_for("cora").max_steps == 1000
    run_missing(GRID[:2], store, execute=quick, watch=seen.append)
    assert seen[0].seconds_left == pytest.approx(200.0)


def test_a_failing_run_is_recorded_and_does_not_stop_the_rest(store):
    runs = [
        Run("cora", Plan("gcn", seed=0, changes={"max_steps": 2})),
        Run("cora", Plan("gcn", seed=1, changes={"max_steps": 2, "no_such": 1})),
        Run("cora", Plan("slaps", changes={"generator": "fp", "k": 5000})),
        Run("cora", Plan("gcn", seed=2, changes={"max_steps": 2})),
    ]
    found = run_missing(runs, store)
    assert (found.done, found.failed) == (4, 2)
    lines = [store.read()[run.command] for run in runs]
    assert ["error" in line for line in lines] == [False, True, True, False]
    assert "no setting 'no_such'" in lines[1]["error"]["words"]
    assert lines[1]["error"]["kind"] == "refused"
    run_missing(runs, store, execute=never)


def test_failed_runs_are_made_again_on_request(store):
    with store.writing() as append:
        append({**quick(GRID[0], None), "error": {"kind": "failed", "words": "?"}})
    run_missing(GRID[:1], store, execute=never)
    assert run_missing(GRID[:1], store, execute=quick, retry=True).failed == 0
    assert "error" not in store.read()[GRID[0].command]


def test_a_worker_that_is_killed_costs_nothing(store, tmp_path):
    killed = partial(killed_once, tmp_path / "marker")
    found = run_missing(GRID, store, jobs=2, execute=killed)
    assert values(store) == {seed: seed for seed in range(6)}
    assert found.failed == 0


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_run_that_kills_its_worker_each_time_is_given_up(store, jobs):
    run_missing(GRID, store, jobs=jobs, execute=killed_at_two)
    lines = store.read()
    assert lines.pop(GRID[2].command)["error"]["kind"] == "killed"
    assert {line["value"] for line in lines.values()} == {0, 1, 3, 4, 5}


def test_time_runs_out_within_a_run(store):
    long = Run("cora", Plan("gcn", changes={"max_steps": 10**6, "patience": 10**6}))
    begun = time.monotonic()
    seen = []
    found = run_missing([long], store, hours=1 / 3600, watch=seen.append)
    assert time.monotonic() - begun < 30
    assert (found.done, store.read()) == (0, {})
    assert (seen[0].running, seen[-1].running) == (0, 0)
    assert max(one.running for one in seen) == 1


def test_a_run_that_takes_too_long_is_a_line_that_says_what_a_step_took():
    long = Run("cora", Plan("gcn", changes={"max_steps": 10**6, "patience": 10**6}))
    line = execute(long, run_hours=1 / 3600)
    assert line["error"]["kind"] == "time"
    assert re.search(r"at step \d+ of at most 1000000: [\d.]+ seconds", line["error"]["words"])
    assert entry([long], [line]).note == "OOT"


def test_what_a_step_took_leaves_loading_out(monkeypatch):
    def load_slowly(*arguments):
        end = time.process_time() + 2
        while time.process_time() < end:
            pass
        return load_for(*arguments)

    # What the first step of a process imports counts, too.
    execute(Run("wine", Plan("mlp", changes={"max_steps": 1})))
    monkeypatch.setattr("bpgnn.experiments.execute.load_for", load_slowly)
    words = execute(Run("wine", Plan("mlp")), run_hours=1e-9)["error"]["words"]
    assert float(words.split()[-4]) < 1


def test_a_run_that_was_out_of_time_is_made_again_with_more_of_it(store):
    late = Run("cora", Plan("gcn"))
    with store.writing() as append:
        append(failure(late, "time", "Given up.", hours=1.0))
    for hours in (None, 0.5, 1.0):
        run_missing([late], store, run_hours=hours, execute=never)
    assert run_missing([late], store, run_hours=2.0, execute=quick).failed == 0


def test_a_failure_says_with_what_and_where_and_counts_for_the_settings_it_had(store):
    run = Run("cora", Plan("gcn"))
    line = failure(run, "memory", "It would take 90 GB.")
    assert {"settings", "versions", "machine", "threads"} <= line.keys()
    assert run.agrees(line)
    assert not Run("cora", Plan("gcn", changes={"hidden": "7"})).agrees(line)


def without_cora(run, deadline):
    if run.dataset != "cora":
        return quick(run, deadline)
    return failure(run, "unavailable", "Cora is not to be had.")


def test_data_that_cannot_be_had_are_told_and_their_runs_stay_missing(store, tmp_path):
    runs = [*GRID, *over_seeds("citeseer", range(2))]
    found = run_missing(runs, store, execute=partial(noted, tmp_path, without_cora))
    assert (found.done, found.failed, found.unavailable) == (2, 0, ("Cora is not to be had.",))
    assert asked(tmp_path) == ["cora 0", "citeseer 0", "citeseer 1"]
    assert len(store.read()) == 2
    assert run_missing(runs, store, execute=quick).done == 8


@pytest.mark.parametrize(
    "job", [Run("citeseer", Plan("gcn", changes={"max_steps": 2})), Timing("sparse", 100)]
)
def test_a_file_that_is_not_the_data_set_says_nothing_of_the_run(job, tmp_path, monkeypatch):
    (tmp_path / f"{job.dataset}.npz").write_bytes(b"not an archive")
    monkeypatch.setenv("BPGNN_DATA", str(tmp_path))
    assert execute(job)["error"]["kind"] == "unavailable"


def test_a_line_that_is_older_than_a_figure_is_made_again(store):
    run = GRID[0]
    old = {**quick(run, None), "latent_graph": {"kept": 1}}
    with store.writing() as append:
        append(old)
    new = {**old, "latent_graph": {"kept": 1, "test_pairs": {}}}
    needs = {run.command: "test_pairs"}
    for figures, wanted in (({}, old), (needs, new), (needs, new)):
        run_missing([run], store, needs=figures, execute=lambda *_: new)
        assert store.read()[run.command] == wanted


def lacking_beside_others(marker, run, deadline):
    """Lack memory at the first attempt only."""
    if run.plan.seed == 2 and not marker.exists():
        marker.touch()
        return failure(run, "memory", "It would take 90 GB.")
    return quick(run, deadline)


def test_a_run_that_lacked_memory_beside_others_is_made_again_alone(store, tmp_path):
    lacking = partial(lacking_beside_others, tmp_path / "marker")
    assert run_missing(GRID, store, jobs=2, execute=lacking).failed == 0
    assert len(store.path.read_text().splitlines()) == 6


def test_what_torch_says_of_memory_is_understood(monkeypatch):
    def fit(*arguments, **options):
        raise RuntimeError(
            "[enforce fail at alloc_cpu.cpp:1] DefaultCPUAllocator: not enough "
            "memory: you tried to allocate 9 bytes."
        )

    monkeypatch.setattr("bpgnn.experiments.execute.fit", fit)
    assert execute(Run("cora", Plan("gcn")))["error"]["kind"] == "memory"


def test_workers_end_with_the_process_that_hands_out_runs(tmp_path):
    code = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parents[2])!r})
from pathlib import Path
from functools import partial
from bpgnn.experiments.runner import run_missing
from bpgnn.experiments.store import Store
from tests.experiments.test_runner import GRID, waiting
run_missing(GRID, Store(Path(sys.argv[1])), jobs=2, execute=partial(waiting, Path(sys.argv[2])))
"""
    command = [sys.executable, "-c", code, str(tmp_path / "runs.jsonl"), str(tmp_path)]
    process = subprocess.Popen(command)
    while len(found := list(tmp_path.glob("*.pid"))) < 2:
        assert process.poll() is None
        time.sleep(0.05)
    process.kill()
    process.wait()
    end = time.monotonic() + 20
    while any(is_alive(int(one.stem)) for one in found):
        assert time.monotonic() < end, "a worker outlives its parent"
        time.sleep(0.1)


def waiting(folder, run, deadline):
    (folder / f"{os.getpid()}.pid").touch()
    time.sleep(60)


def is_alive(number):
    try:
        state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_the_line_of_a_run_is_the_record_of_its_training():
    line = execute(Run("cora", Plan("gcn", changes={"max_steps": 2})))
    assert line["command"] == "bpgnn train cora --seed 0 --threads 1 --method gcn --set max_steps=2"
    assert (line["steps"], line["threads"]) == (2, 1)
    assert {"test_accuracy", "versions", "machine", "settings"} <= line.keys()


def test_no_jobs_get_a_sentence(store):
    with pytest.raises(InputError, match="`jobs` must be 1 or more, but got 0"):
        run_missing(GRID, store, jobs=0)


def test_a_missing_cluster_gets_a_sentence(store):
    with pytest.raises(InputError, match="Dask"):
        run_missing(GRID, store, cluster="tcp://127.0.0.1:1", execute=quick)


def test_a_cluster_without_dask_gets_a_sentence(store, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match=r"needs Dask.*bpgnn\[cluster\]"):
        run_missing(GRID, store, cluster="tcp://127.0.0.1:1", execute=quick)


def test_a_cluster_that_loses_a_worker_ends_with_the_same_store(store, tmp_path):
    """A real scheduler and two worker processes, of which one is killed by its run."""
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with distributed.LocalCluster(processes=True, **options) as cluster:
        killed = partial(killed_once, tmp_path / "marker")
        found = run_missing(GRID, store, cluster=cluster.scheduler_address, execute=killed)
    assert (tmp_path / "marker").exists()
    assert values(store) == {seed: seed for seed in range(6)}
    assert (found.done, found.failed) == (6, 0)


def timed(job, deadline):
    return {"command": job.command, "cpu_seconds": 1.0, "machine": "another"}


def test_a_cluster_times_nothing_twice(store):
    """Its workers may be of another kind than the machine that asks."""
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    job = Timing("lazy", 1000)
    options = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": ":0"}
    with distributed.LocalCluster(processes=False, **options) as cluster:
        for _ in range(2):
            run_missing([job], store, cluster=cluster.scheduler_address, execute=timed)
    assert len(store.path.read_text().splitlines()) == 1
    run_missing([job], store, execute=timed)
    assert len(store.path.read_text().splitlines()) == 2


def where(run, deadline):
    return {**quick(run, deadline), "value": os.getpid()}


def test_a_cluster_of_one_worker_is_used(store):
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    options = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": ":0"}
    with distributed.LocalCluster(processes=True, **options) as cluster:
        run_missing(GRID, store, cluster=cluster.scheduler_address, execute=where)
        places = {worker.pid for worker in cluster.workers.values()}
    assert set(values(store).values()) == places
    assert os.getpid() not in places


def test_a_cluster_without_workers_gets_a_sentence(store, monkeypatch):
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    monkeypatch.setattr("bpgnn.experiments.workers._WAIT", 0.2)
    options = {"n_workers": 0, "dashboard_address": ":0"}
    with (
        distributed.LocalCluster(processes=False, **options) as cluster,
        pytest.raises(InputError, match="has no workers.*dask worker .* --nthreads 1"),
    ):
        run_missing(GRID, store, cluster=cluster.scheduler_address, execute=quick)


@pytest.mark.slow
@pytest.mark.parametrize("num_workers", [1, 2])
def test_a_scheduler_that_goes_away_gets_a_sentence(store, num_workers):
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    options = {"n_workers": num_workers, "threads_per_worker": 1, "dashboard_address": ":0"}
    with distributed.LocalCluster(processes=True, **options) as cluster:

        def watch(progress):
            if progress.done == 1:
                cluster.close()

        with pytest.raises(InputError, match="scheduler at .* is gone"):
            run_missing(GRID, store, cluster=cluster.scheduler_address, execute=slow, watch=watch)
    assert store.read()


def crowded_once(place: Path, run, deadline):
    marker = place / str(run.plan.seed)
    if marker.exists():
        (place / "alone").touch()
        return slower(run, deadline)
    marker.touch()
    return failure(run, "memory", "90 GB")


@pytest.mark.slow
def test_a_scheduler_that_goes_away_while_runs_are_made_alone_leaves_them_missing(store, tmp_path):
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with distributed.LocalCluster(processes=True, **options) as cluster:

        def close():
            while not (tmp_path / "alone").exists():
                time.sleep(0.01)
            cluster.close()

        threading.Thread(target=close, daemon=True).start()
        crowded = partial(crowded_once, tmp_path)
        with pytest.raises(InputError, match="scheduler at .* is gone"):
            run_missing(GRID, store, cluster=cluster.scheduler_address, execute=crowded)
    assert all("error" not in line for line in store.read().values())


@pytest.mark.slow
@pytest.mark.parametrize("num_workers", [1, 2])
def test_a_cluster_that_loses_all_its_workers_gets_a_sentence(store, num_workers, monkeypatch):
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    monkeypatch.setattr("bpgnn.experiments.workers._PATIENCE", 2.0)
    options = {"n_workers": num_workers, "threads_per_worker": 1, "dashboard_address": ":0"}
    with distributed.LocalCluster(processes=True, **options) as cluster:

        def watch(progress):
            if progress.done == 1:
                cluster.scale(0)

        with pytest.raises(InputError, match="has no workers any more"):
            run_missing(GRID, store, cluster=cluster.scheduler_address, execute=slower, watch=watch)
    assert all("error" not in line for line in store.read().values())


def test_workers_with_several_threads_are_refused(store):
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    options = {"n_workers": 1, "threads_per_worker": 2, "dashboard_address": ":0"}
    with (
        distributed.LocalCluster(processes=False, **options) as cluster,
        pytest.raises(InputError, match="--nthreads 1"),
    ):
        run_missing(GRID, store, cluster=cluster.scheduler_address, execute=quick)


@pytest.mark.slow
def test_a_cluster_gives_up_a_run_that_kills_every_worker(store):
    dask = pytest.importorskip("dask", reason="Dask is not installed")
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    deaths = dask.config.set({"distributed.scheduler.allowed-failures": 1})
    with deaths, distributed.LocalCluster(processes=True, **options) as cluster:
        run_missing(GRID[:4], store, cluster=cluster.scheduler_address, execute=killed_at_two)
    lines = store.read()
    assert lines.pop(GRID[2].command)["error"]["kind"] == "killed"
    assert {line["value"] for line in lines.values()} == {0, 1, 3}


@pytest.mark.slow
def test_a_grid_killed_five_times_ends_as_an_undisturbed_one(tmp_path):
    """Killed with all its children, at moments drawn at random."""
    code = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parents[2])!r})
from pathlib import Path
from bpgnn.experiments.run import over_seeds
from bpgnn.experiments.runner import run_missing
from bpgnn.experiments.store import Store
from bpgnn.report.table import entry
from tests.experiments.test_runner import slow
run_missing(over_seeds("cora", range(60)), Store(Path(sys.argv[1])), jobs=2, execute=slow)
"""
    disturbed, calm = tmp_path / "disturbed.jsonl", tmp_path / "calm.jsonl"
    moments = random.Random(0)
    command = [sys.executable, "-c", code]
    kills = 0
    while kills < 5:
        process = subprocess.Popen([*command, str(disturbed)], start_new_session=True)
        before = len(Store(disturbed).read())
        while len(Store(disturbed).read()) == before and process.poll() is None:
            time.sleep(0.01)
        time.sleep(moments.uniform(0, 0.2))
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        kills += 1
    for path in (disturbed, calm):
        subprocess.run([*command, str(path)], check=True)
    lines = [sorted(path.read_text().splitlines()) for path in (disturbed, calm)]
    assert lines[0] == lines[1]
    assert len({json.loads(line)["command"] for line in lines[0]}) == 60
