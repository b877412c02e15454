import statistics
from dataclasses import asdict

from bpgnn.experiments.run import over_seeds
from bpgnn.experiments.summary import cells


def line(method, seed, accuracy):
    command = f"bpgnn train cora --seed {seed} --threads 1 --method {method}"
    return {"command": command, "test_accuracy": accuracy, "cpu_seconds": 2.0 * seed}


def test_a_cell_is_over_the_seeds_of_one_command():
    accuracies = [0.8, 0.9, 0.82]
    lines = [line("gcn", seed, value) for seed, value in enumerate(accuracies)]
    gcn, gat = cells([*lines[:2], line("gat", 0, 0.5), lines[2]])
    assert gcn.command == "bpgnn train cora --threads 1 --method gcn"
    assert gcn.mean == 100 * statistics.mean(accuracies)
    assert gcn.deviation == statistics.stdev(100 * value for value in accuracies)
    assert (gcn.num_seeds, gcn.cpu_seconds) == (3, 2.0)
    assert (gat.mean, gat.deviation) == (50.0, None)


def test_failures_are_counted_apart_and_say_what_happened():
    failed = {"command": "bpgnn train cora --seed 1", "error": {"kind": "memory", "words": "35 GB"}}
    (cell,) = cells([failed])
    assert (cell.num_seeds, cell.num_failed, cell.mean, cell.error) == (0, 1, None, "35 GB")
    good = {"command": "bpgnn train cora --seed 0", "test_accuracy": 0.5, "cpu_seconds": 1.0}
    (cell,) = cells([failed, good])
    assert (cell.num_seeds, cell.num_failed, cell.mean) == (1, 1, 50.0)


def test_runs_with_settings_of_old_are_a_cell_of_their_own():
    lines = []
    for run in over_seeds("cora", range(4), method="gcn", changes={"hidden": (8,)}):
        settings = asdict(run.plan.settings_for("cora"))
        if run.plan.seed == 3:
            settings["dropout"] = 0.123
        accuracy = 0.1 if run.plan.seed == 3 else 0.9
        lines.append(
            {"command": run.command, "method": "gcn", "dataset": "cora", "preset": "tuned"}
            | {"seed": run.plan.seed, "test_accuracy": accuracy, "cpu_seconds": 1.0}
            | {"settings": {**settings, "hidden": [8]}}
        )
    now, then = cells(lines)
    assert (now.num_seeds, now.mean, now.is_stale) == (3, 90.0, False)
    assert (then.num_seeds, then.mean, then.is_stale) == (1, 10.0, True)
