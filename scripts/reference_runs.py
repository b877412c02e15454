"""Make the runs behind every figure in the README, one line each in results/runs.jsonl.

Runs that are in the file already are left out, so that a stopped script goes on where it was.

    python scripts/reference_runs.py [--only NAME …] [--jobs 2] [--hours 1]
    python scripts/reference_runs.py --table
"""

import argparse
import statistics
from pathlib import Path

from bpgnn.experiments.run import Run, over_seeds
from bpgnn.experiments.runner import Progress, run_missing
from bpgnn.experiments.store import Store

STORE = Store(Path(__file__).parent.parent / "results" / "runs.jsonl")

WHO: dict[str, dict] = {
    "": {},
    "control ": {"changes": {"boolean_layers": 0}},
    "gcn tuned ": {"method": "gcn"},
}
CHANGES: dict[str, dict] = {"added": {"add_edges": 0.75}, "deleted": {"drop_edges": 0.75}}
TEN, FIVE, THREE, ONE = range(10), range(5), range(3), range(1)
SETS = ("cora", "citeseer", "pubmed", "photo")
PUBLISHED = (
    *("mlp", "gcn", "gat", "knn-gcn", "slaps", "lds", "idgl", "idgl-anch", "ddgm-e", "ddgm-h"),
    "grcn",
)


def published(method: str, dataset: str, seeds: range = THREE, **changes: object) -> list[Run]:
    """List a method under its authors' settings and protocol, one run a seed."""
    return over_seeds(dataset, seeds, method=method, preset="published", changes=changes)


RUNS: dict[str, list[Run]] = {
    **{f"{who}{name}": over_seeds(name, TEN, **own) for who, own in WHO.items() for name in SETS},
    **{
        f"{who}{name} {word}": over_seeds(name, FIVE, **own, **change)
        for who, own in WHO.items()
        for name in SETS[:2]
        for word, change in CHANGES.items()
    },
    **{f"paper {name}": over_seeds(name, ONE, preset="paper") for name in SETS},
    "authors": over_seeds("cora", ONE, preset="authors"),
    "authors, 500 steps": over_seeds("cora", ONE, preset="authors", changes={"max_steps": 500}),
    **{
        f"{name}{word} {residual}": over_seeds(
            name, FIVE, add_edges=share, changes={"residual": residual}
        )
        for name in SETS[:2]
        for word, share in (("", 0.0), (" added", 0.75))
        for residual in ("none", "sum")
    },
    **{f"{one} {name}": published(one, name) for one in PUBLISHED for name in SETS[:2]},
    "lds cora dense": published("lds", "cora", ONE, parameters="dense"),
    **{f"{one} pubmed": published(one, "pubmed") for one in ("mlp", "gcn", "gat", "knn-gcn")},
    "idgl-anch pubmed": published("idgl-anch", "pubmed", ONE),
    "idgl-anch cora complete": over_seeds(
        "cora", THREE, method="idgl-anch", preset="published", split="complete"
    ),
    "slaps pubmed": published("slaps", "pubmed", ONE),
    "slaps cora, a search in 20 steps": published("slaps", "cora", refresh_every=20),
    "ddgm-e pubmed": published("ddgm-e", "pubmed"),
}


def print_line(progress: Progress) -> None:
    """Print a run when it is finished."""
    line = progress.latest
    if line is not None:
        outcome = line["error"]["words"] if "error" in line else f"{line['test_accuracy']:.3f}"
        print(f"{progress.done} of {progress.total}  {outcome}  {line['command']}", flush=True)


def print_table() -> None:
    """Print mean and standard deviation of each group of runs, in percent."""
    found = STORE.read()
    for name, runs in RUNS.items():
        known = [(run, found[run.command]) for run in runs if run.command in found]
        lines = [line for run, line in known if run.agrees(line)]
        seen = [100 * line["test_accuracy"] for line in lines if "error" not in line]
        if seen:
            spread = statistics.stdev(seen) if len(seen) > 1 else float("nan")
            mean = statistics.mean(seen)
            print(f"{name:24} {mean:6.2f} ± {spread:4.2f}  ({len(seen)} of {len(runs)} seeds)")


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", default=[], choices=list(RUNS))
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time")
    parser.add_argument("--hours", type=float, help="give up what is not finished by then")
    parser.add_argument("--table", action="store_true", help="print what is there and stop")
    arguments = parser.parse_args()
    if arguments.table:
        print_table()
        return
    wanted = [run for name in arguments.only or RUNS for run in RUNS[name]]
    run_missing(
        wanted, STORE, jobs=arguments.jobs, hours=arguments.hours, retry=True, watch=print_line
    )


if __name__ == "__main__":
    main()
