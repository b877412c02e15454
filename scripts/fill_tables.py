"""Write the tables of measured figures in README.md and docs/ from results/.

    python scripts/fill_tables.py           write them
    python scripts/fill_tables.py --check   only say whether they are up to date

A table stands between `<!-- table: NAME -->` and `<!-- end of table -->`. Only runs with today's
settings count.
"""

import argparse
import json
import re
import statistics
import sys
from collections.abc import Callable
from pathlib import Path

from bpgnn.experiments.paper.systems import SYSTEMS
from bpgnn.experiments.run import Run, over_seeds
from bpgnn.experiments.store import Line, Store
from bpgnn.report.table import lines_of

ROOT = Path(__file__).parent.parent
PAGES = ("README.md", "docs/results.md", "docs/which-method.md")
SEEDS = range(10)

CLEAN = ("cora", "citeseer", "pubmed", "photo")
NAMES = ("Cora", "CiteSeer", "PubMed", "Photo")
NOISY = (
    ("cora", {"add_edges": 0.75}),
    ("citeseer", {"add_edges": 0.75}),
    ("cora", {"drop_edges": 0.75}),
    ("citeseer", {"drop_edges": 0.75}),
)
PLAIN = {"changes": {"boolean_layers": 0}}
TUNED: dict[str, dict] = {
    "our GCN, tuned (`bpgnn train cora --method gcn`)": {"method": "gcn"},
    "BPGNN's network, no latent graph (`--set boolean_layers=0`)": PLAIN,
    "**BPGNN** (`bpgnn train cora`)": {},
}
PAPERS_GCN: dict[str, dict] = {
    "our GCN with the paper's settings (`--method gcn --preset paper`)": {
        "method": "gcn",
        "preset": "paper",
    },
}
UNTUNED: dict[str, dict] = {
    **PAPERS_GCN,
    "BPGNN as its paper has it, until it stops (`--preset paper`)": {"preset": "paper"},
}

# What each paper prints for Cora, CiteSeer and PubMed.
PUBLISHED = {
    "mlp": ("56.1", "56.7", "71.4"),
    "gcn": ("81.5", "70.3", "79.0"),
    "gat": ("83.0", "72.5", "79.0"),
    "knn-gcn": ("66.5", "68.3", "70.4"),
    "slaps": ("73.4", "72.6", "74.4"),
    "lds": ("84.1", "75.0", "out of memory"),
    "idgl": ("84.5", "74.1", "–"),
    "idgl-anch": ("84.4", "72.0", "83.0"),
    "ddgm-e": ("84.6", "74.8", "87.6"),
    "ddgm-h": ("84.4", "74.6", "86.6"),
    "grcn": ("84.2", "73.6", "79.0"),
}

Lines = dict[str, Line]


def good(runs: list[Run], lines: Lines) -> list[Line]:
    """Return the lines of runs that came to an end."""
    return [line for line in lines_of(runs, lines) if "error" not in line]


def figure(runs: list[Run], lines: Lines) -> str:
    """Write mean, standard deviation and number of seeds, in percent."""
    seen = [100 * line["test_accuracy"] for line in good(runs, lines)]
    if not seen:
        return "–"
    spread = f" ± {statistics.stdev(seen):.1f}" if len(seen) > 1 else ""
    return f"{statistics.mean(seen):.1f}{spread} ({len(seen)})"


def cost(runs: list[Run], lines: Lines) -> str:
    """Write the mean processor time in seconds."""
    seen = [line["cpu_seconds"] for line in good(runs, lines)]
    return f"{statistics.mean(seen):.0f}" if seen else "–"


def table(head: list[str], rows: list[list[str]]) -> str:
    """Write a table in Markdown."""
    body = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in body)


def clean(lines: Lines) -> str:
    """Set BPGNN, its control and the GCN beside the paper, on the graphs as they are."""
    printed = [
        ["the paper's GCN", "78.74", "67.74", "83.60", "92.82"],
        ["the paper's BPGNN", "87.10", "76.34", "88.40", "93.40"],
    ]
    measured = [
        [name, *(figure(over_seeds(data, SEEDS, **own), lines) for data in CLEAN)]
        for name, own in {**TUNED, **UNTUNED}.items()
    ]
    return table(["", *NAMES], [*printed, *measured])


def noisy(lines: Lines) -> str:
    """Set the same beside each other where edges were added or deleted."""
    rows = [
        [name, *(figure(over_seeds(data, SEEDS, **own, **noise), lines) for data, noise in NOISY)]
        for name, own in {**TUNED, **PAPERS_GCN}.items()
    ]
    head = [
        f"{data}, 75 % {verb}" for verb in ("added", "deleted") for data in ("Cora", "CiteSeer")
    ]
    return table(["", *head], rows)


def published(lines: Lines) -> str:
    """Set each method under its authors' settings beside its own paper."""
    rows = []
    for method, printed in PUBLISHED.items():
        name = f"`{method}`" + (" (split `complete`)" if method.startswith("ddgm") else "")
        row = [name]
        for data, own in zip(CLEAN[:3], printed, strict=True):
            row += [figure(_published(method, data), lines), own]
        rows.append(row)
    head = [word for name in NAMES[:3] for word in (name, "its paper")]
    return table(["", *head], rows)


def published_cost(lines: Lines) -> str:
    """Say what the same runs took."""
    rows = []
    for method in PUBLISHED:
        row = [f"`{method}`"]
        for data in CLEAN[:2]:
            runs = _published(method, data)
            row += [figure(runs, lines), cost(runs, lines)]
        rows.append(row)
    return table(["", "Cora %", "CPU-seconds", "CiteSeer %", "CPU-seconds"], rows)


def forms(lines: Lines) -> str:
    """Set forms of a method that should agree beside each other, on Cora."""
    cases = {
        "`lds`, observed edges and candidates": ("lds", {}),
        "`lds`, all pairs (`--set parameters=dense`)": ("lds", {"parameters": "dense"}),
        "`slaps`, a search at every step": ("slaps", {}),
        "`slaps`, a search in 20 (`--set refresh_every=20`)": ("slaps", {"refresh_every": 20}),
    }
    rows = []
    for name, (method, changes) in cases.items():
        own = {"method": method, "preset": "published", "changes": changes}
        runs = over_seeds("cora", range(3), **own)
        first = good(runs[:1], lines)
        seed = f"{100 * first[0]['test_accuracy']:.1f}" if first else "–"
        rows.append([name, figure(runs, lines), seed, cost(runs, lines)])
    return table(["", "Cora %", "seed 0", "CPU-seconds"], rows)


def tuned_cost(lines: Lines) -> str:
    """Say what BPGNN takes, and its network without a latent graph."""
    cases = [(name, data, {}) for name, data in zip(NAMES, CLEAN, strict=True)]
    cases += [("Cora, 75 % random edges added", "cora", {"add_edges": 0.75})]
    rows = []
    for name, data, noise in cases:
        row = [name]
        for own in (PLAIN, {}):
            runs = over_seeds(data, SEEDS, **own, **noise)
            row += [figure(runs, lines), cost(runs, lines)]
        rows.append(row)
    head = ["data", "no latent graph %", "CPU-seconds", "BPGNN %", "CPU-seconds"]
    return table(head, rows)


def systems(lines: Lines) -> str:
    """Set all systems beside each other, with the settings that we recommend for each."""
    rows = [
        [f"`{method}`", *(figure(over_seeds(data, SEEDS, method=method), lines) for data in CLEAN)]
        for method in SYSTEMS
    ]
    theirs = {"method": "idgl-anch", "preset": "published", "split": "complete"}
    name = "`idgl-anch` as published (`--preset published --split complete`)"
    rows.append([name, *(figure(over_seeds(data, SEEDS, **theirs), lines) for data in CLEAN)])
    return table(["", *NAMES], rows)


def searches(lines: Lines) -> str:  # noqa: ARG001  searches have a file of their own
    """Say what searches found: loss as published, loss found, trials, and time if not usual."""
    text = (ROOT / "results" / "tuning.jsonl").read_text("utf-8")
    found = {(one["method"], one["dataset"]): one for one in map(json.loads, text.splitlines())}
    rows = []
    for method in SYSTEMS:
        row = [f"`{method}`"]
        for data in CLEAN:
            one = found.get((method, data))
            row.append("–" if one is None else _search(one))
        rows.append(row)
    return table(["", *NAMES], rows)


def _search(one: Line) -> str:
    first = one["known"].get("published", one["known"].get("paper"))
    before = "–" if first is None else f"{first:.3f}"
    usual = one["hours"] == _USUAL_HOURS
    time = "" if usual else f" in {60 * one['hours']:.0f} min"
    return f"{before} → {one['validation_loss']:.3f} ({one['num_trials']}{time})"


_USUAL_HOURS = 0.1


def _published(method: str, data: str) -> list[Run]:
    return over_seeds(data, range(3), method=method, preset="published")


TABLES: dict[str, Callable[[Lines], str]] = {
    "clean": clean,
    "noisy": noisy,
    "published": published,
    "published cost": published_cost,
    "tuned cost": tuned_cost,
    "systems": systems,
    "forms": forms,
    "searches": searches,
}

_PLACE = re.compile(r"(<!-- table: ([\w ]+) -->\n).*?(<!-- end of table -->)", re.DOTALL)


def filled(text: str, lines: Lines) -> str:
    """Return a page with its tables as they should be."""
    return _PLACE.sub(lambda at: f"{at[1]}\n{TABLES[at[2]](lines)}\n\n{at[3]}", text)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    lines = Store(ROOT / "results" / "runs.jsonl").read()
    stale = []
    for page in PAGES:
        text = (ROOT / page).read_text("utf-8")
        new = filled(text, lines)
        if new != text:
            stale.append(page)
            if not check:
                (ROOT / page).write_text(new, "utf-8")
    if check and stale:
        sys.exit(f"Run python scripts/fill_tables.py: {', '.join(stale)} would change.")


if __name__ == "__main__":
    main()
