import statistics

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
