"""Make the runs behind every figure in the README, one line each in results/runs.jsonl.

Runs that are in the file already are left out, so that a stopped script goes on where it was.

    python scripts/reference_runs.py [--only WORD …] [--part 0/2]
    python scripts/reference_runs.py --table
"""

import argparse
import json
import statistics
from collections import defaultdict
from pathlib import Path

import torch

from bpgnn.training.fit import Plan, fit
from bpgnn.training.run import load_for

STORE = Path(__file__).parent.parent / "results" / "runs.jsonl"

Run = tuple[str, Plan]  # a data set and what to run on it


def tuned(dataset: str, seeds: range, *, add_edges: float = 0.0, **changes: object) -> list[Run]:
    """List the tuned preset with some changes, one run a seed."""
    return [(dataset, Plan(seed=seed, add_edges=add_edges, changes=changes)) for seed in seeds]


def published(method: str, dataset: str, num_seeds: int = 3, **changes: object) -> list[Run]:
    """List a method under its authors' settings and protocol, one run a seed."""
    return [
        (dataset, Plan(method=method, preset="published", seed=seed, changes=changes))
        for seed in range(num_seeds)
    ]


CONTROL = {"boolean_layers": 0}
FIVE = range(5)
PUBLISHED = (
    "mlp",
    "gcn",
    "gat",
    "knn-gcn",
    "slaps",
    "lds",
    "idgl",
    "idgl-anch",
    "ddgm-e",
    "ddgm-h",
)

RUNS: dict[str, list[Run]] = {
    "cora": tuned("cora", FIVE),
    "cora control": tuned("cora", FIVE, **CONTROL),
    "noise": tuned("cora", FIVE, add_edges=0.75),
    "noise control": tuned("cora", FIVE, add_edges=0.75, **CONTROL),
    "citeseer": tuned("citeseer", FIVE),
    "citeseer control": tuned("citeseer", FIVE, **CONTROL),
    "pubmed": tuned("pubmed", FIVE),
    "pubmed control": tuned("pubmed", FIVE, **CONTROL),
    "photo": tuned("photo", FIVE),
    "photo control": tuned("photo", FIVE, **CONTROL),
    "paper": [(dataset, Plan(preset="paper")) for dataset in ("cora", "citeseer")],
    "paper, large": [(dataset, Plan(preset="paper")) for dataset in ("photo", "pubmed")],
    "authors": [("cora", Plan(preset="authors"))],
    "authors, 500 steps": [("cora", Plan(preset="authors", changes={"max_steps": 500}))],
    "cora none": tuned("cora", FIVE, residual="none"),
    "noise none": tuned("cora", FIVE, add_edges=0.75, residual="none"),
    "cora sum": tuned("cora", FIVE, residual="sum"),
    "noise sum": tuned("cora", FIVE, add_edges=0.75, residual="sum"),
    **{
        f"{method} {dataset}": published(method, dataset)
        for method in PUBLISHED
        for dataset in ("cora", "citeseer")
    },
    "lds cora dense": published("lds", "cora", 1, parameters="dense"),
    "idgl-anch pubmed": published("idgl-anch", "pubmed", 1),
    "slaps pubmed": published("slaps", "pubmed", 1),
    "ddgm-e pubmed": published("ddgm-e", "pubmed"),
    "grcn cora": published("grcn", "cora"),
    "grcn citeseer": published("grcn", "citeseer"),
}


def command(dataset: str, plan: Plan) -> str:
    """Write the command that makes a run again."""
    words = ["bpgnn", "train", dataset, "--seed", str(plan.seed), "--threads", "1"]
    words += [] if plan.method == "bpgnn" else ["--method", plan.method]
    words += [] if plan.preset == "tuned" else ["--preset", plan.preset]
    words += ["--add-edges", str(plan.add_edges)] if plan.add_edges else []
    for name, value in (plan.changes or {}).items():
        words += ["--set", f"{name}={value}"]
    return " ".join(words)


def stored() -> dict[str, dict]:
    """Read the finished runs by their command; a torn last line does not count."""
    found = {}
    for line in STORE.read_text().splitlines() if STORE.exists() else []:
        try:
            record = json.loads(line)
        except ValueError:
            continue
        found[record["command"]] = record
    return found


def run_missing(only: list[str], part: int, parts: int) -> None:
    """Run what is not in the store; each line is appended whole."""
    torch.set_num_threads(1)
    wanted = [run for name, runs in RUNS.items() if not only or name in only for run in runs]
    for dataset, plan in wanted[part::parts]:
        line = command(dataset, plan)
        if line in stored():
            continue
        record = fit(load_for(plan, dataset, None), plan).record
        with STORE.open("a") as file:
            file.write(json.dumps({"command": line, **record.to_json()}) + "\n")
        print(f"{record.test_accuracy:.3f}  {record.cpu_seconds:6.0f} s  {line}", flush=True)


def print_table() -> None:
    """Print mean and standard deviation of each group of runs, in percent."""
    found = stored()
    values: dict[str, list[float]] = defaultdict(list)
    for name, runs in RUNS.items():
        for dataset, plan in runs:
            record = found.get(command(dataset, plan))
            if record is not None:
                values[name].append(100 * record["test_accuracy"])
    for name, runs in RUNS.items():
        seen = values[name]
        if seen:
            spread = statistics.stdev(seen) if len(seen) > 1 else float("nan")
            mean = statistics.mean(seen)
            print(f"{name:18} {mean:6.2f} ± {spread:4.2f}  ({len(seen)} of {len(runs)} seeds)")


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", default=[], choices=list(RUNS))
    parser.add_argument("--part", default="0/1", help="which share of the runs, as 0/2")
    parser.add_argument("--table", action="store_true", help="print what is there and stop")
    arguments = parser.parse_args()
    if arguments.table:
        print_table()
        return
    part, parts = (int(word) for word in arguments.part.split("/"))
    run_missing(arguments.only, part, parts)


if __name__ == "__main__":
    main()
