"""What does one training step cost, beside one of the same GNN on the observed graph?

    python benchmarks/training_step.py                    measure what is missing, print the table
    python benchmarks/training_step.py pubmed 100000      only these
    python benchmarks/training_step.py --table            print what is there
    python benchmarks/training_step.py --figure docs/step-cost.png

A case is a data set, or a number of nodes for a block model with 32 dense features and mean degree
10. BPGNN has the widths of the paper (preset `paper`: D = 4, hidden 32, 16, 8, k = 5) with one
Boolean layer, the GCN none; `cora:tuned` takes the preset `tuned`. A step is forward, sampling,
backward and Adam, at the start of training. Both sides step by turns in one process for each case:
CPU-seconds are a median, MB the peak of the first step beyond what was there before it. Each case
is one JSON line, so that a stopped run goes on where it was.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import torch
from parts.inputs import WARM_UP
from parts.measure import (
    circumstances,
    cpu_seconds,
    in_fresh_process,
    limit_cpu,
    resident,
    run_once,
)
from parts.store import append_line, print_table, read_lines, short

from bpgnn.data.dataset import Dataset
from bpgnn.data.synthetic import block_model
from bpgnn.errors import DataUnavailableError
from bpgnn.method import MethodSettings
from bpgnn.methods.registry import METHODS
from bpgnn.randomness import generator_for, seeded_globally
from bpgnn.training.plan import Plan
from bpgnn.training.problem import make_problem

ROOT = Path(__file__).parent.parent
CASES = ["cora:tuned", "cora", "citeseer", "photo", "pubmed", "100000", "1000000"]
SIDES = {"bpgnn": 1, "gcn": 0}
"""How many Boolean layers each side has."""

Step = Callable[[], None]


def load_case(data: str) -> Dataset:
    """Load a data set by name, or draw one of so many nodes."""
    if data.isdigit():
        return block_model(int(data), num_classes=20, num_features=32, mean_degree=10)
    # This loads scikit-learn, which takes longer than many steps.
    from bpgnn.training.run import load_for

    return load_for(Plan(), data, None)


def settings_for(data: str, preset: str, boolean_layers: int) -> MethodSettings:
    """Look up the settings of one side."""
    changes = {"boolean_layers": boolean_layers}
    return Plan(preset=preset or "paper", changes=changes).settings_for(data)


def make_step(dataset: Dataset, settings: MethodSettings) -> Step:
    """Make a training step of a fresh model."""
    problem = make_problem(dataset, settings)
    with seeded_globally(0):
        method = METHODS["bpgnn"].build(settings, problem)
    optimizer = torch.optim.Adam(method.parameter_groups(), lr=settings.learning_rate)
    generator = generator_for(0, 1)

    def step() -> None:
        output = method(problem, generator=generator)
        losses = method.losses(output, problem)
        optimizer.zero_grad()
        torch.stack(list(losses.values())).sum().backward()
        optimizer.step()
        method.observe(output, problem)

    return step


def measure_case(case: str, seconds: float, limit: float) -> dict:
    """Measure both sides of a case, in a process of its own."""
    data, _, preset = case.partition(":")
    for size in map(str, WARM_UP):  # compiles, and loads what is loaded late
        for boolean_layers in SIDES.values():
            make_step(load_case(size), settings_for(size, preset, boolean_layers))()
    dataset = load_case(data)
    settings = {side: settings_for(data, preset, layers) for side, layers in SIDES.items()}
    steps = {side: make_step(dataset, chosen) for side, chosen in settings.items()}
    limit_cpu(limit)
    before = resident("VmHWM")
    times, megabytes, peak = _by_turns(steps, seconds)
    return {
        "case": case,
        "num_nodes": dataset.num_nodes,
        "num_features": dataset.features.size(1),
        "num_pairs": dataset.num_pairs,
        "seconds": {side: statistics.median(found) for side, found in times.items()},
        "megabytes": megabytes,
        "steps": len(times["gcn"]),
        "whole_process_megabytes": max(before, peak),
        "settings": {side: asdict(chosen) for side, chosen in settings.items()},
        **circumstances(),
    }


def _by_turns(
    steps: dict[str, Step], seconds: float
) -> tuple[dict[str, list[float]], dict[str, float], float]:
    """Let both sides step by turns while `seconds` last.

    Returns:
        The times of each side, by how much its step raises memory, and the most that was held.
    """
    times: dict[str, list[float]] = {side: [] for side in steps}
    megabytes, peak = {}, 0.0
    start = time.process_time()
    for side, step in steps.items():
        first, megabytes[side] = run_once(step)
        peak = max(peak, resident("VmHWM"))
        times[side].append(first)
    # The first steps fetch memory that later ones find there, so they count for time only
    # where no later ones fit.
    if time.process_time() - start < seconds / 3:
        times = {side: [] for side in steps}
        while time.process_time() - start < seconds or not times["gcn"]:
            for side, step in steps.items():
                times[side].append(cpu_seconds(step))
    return times, megabytes, peak


def run_missing(arguments: argparse.Namespace) -> None:
    """Measure the cases that are not in the file."""
    there = {line["case"] for line in read_lines(arguments.results)}
    for case in arguments.cases:
        if case in there and not arguments.again:
            continue
        inputs = (case, arguments.seconds, arguments.limit)
        try:
            found = in_fresh_process(measure_case, *inputs, threads=arguments.threads)
        except DataUnavailableError as error:
            print(f"{case} is left out. {error}")
            continue
        if found is None:
            print(f"{case} was ended: more than {arguments.limit:g} CPU-seconds, or no memory.")
            continue
        append_line(arguments.results, found)
        print(f"{case}: {found['seconds']}", flush=True)


def stored(arguments: argparse.Namespace) -> list[dict]:
    """Read the cases that were asked for; of two lines for one the later counts."""
    found = {line["case"]: line for line in read_lines(arguments.results)}
    return [found[case] for case in arguments.cases if case in found]


def show_table(arguments: argparse.Namespace) -> None:
    """Print the table of what is there."""
    head = ["", "N", "BPGNN, CPU-seconds", "GCN", "ratio", "BPGNN, peak MB", "GCN", "ratio"]
    rows = []
    for line in stored(arguments):
        name = "block model" if line["case"].isdigit() else line["case"].replace(":", ", ")
        cells = [name, f"{line['num_nodes']:,}"]
        for costs in (line["seconds"], line["megabytes"]):
            ratio = costs["bpgnn"] / costs["gcn"] if costs["gcn"] > 0 else float("nan")
            cells += [short(costs["bpgnn"]), short(costs["gcn"]), short(ratio)]
        rows.append(cells)
    print_table(head, rows)


def draw_figure(arguments: argparse.Namespace) -> None:
    """Draw time and memory of both sides against N."""
    # matplotlib is an extra, and measuring needs none.
    from parts.draw import BLUE, ORANGE, Line, Point, draw_lines, label_ends, new_figure, save

    found = [line for line in stored(arguments) if ":" not in line["case"]]
    found.sort(key=lambda line: line["num_nodes"])
    figure, panels = new_figure(1, 2, share_rows=False)
    names = {"seconds": "CPU-seconds a step", "megabytes": "peak MB of a step"}
    for panel, (what, title) in zip(panels[0], names.items(), strict=True):
        lines = [
            Line(label, *look, [Point(line["num_nodes"], line[what][side]) for line in found])
            for side, label, look in (
                ("bpgnn", "BPGNN", (BLUE, "o")),
                ("gcn", "GCN", (ORANGE, "s")),
            )
        ]
        draw_lines(panel, lines)
        panel.set_title(title, fontsize=10)
        panel.set_xlabel("nodes N")
        label_ends(panel, lines)
    save(figure, arguments.figure)


def read_arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("cases", nargs="*", default=CASES, help=f"by default: {' '.join(CASES)}")
    add("--seconds", type=float, default=15, help="CPU-seconds to go on stepping in")
    add("--threads", type=int, default=1)
    add("--limit", type=float, default=1800, help="most CPU-seconds a case may take")
    add("--again", action="store_true", help="measure even what is there; the later line counts")
    add("--results", type=Path, default=ROOT / "results" / "training_step.jsonl")
    add("--table", action="store_true", help="print what is there, without measuring")
    add("--figure", type=Path, help="draw what is there, without measuring")
    return parser.parse_args()


def main() -> None:
    """Measure, print or draw."""
    arguments = read_arguments()
    if arguments.figure is not None:
        draw_figure(arguments)
    elif not arguments.table:
        run_missing(arguments)
    if arguments.table or arguments.figure is None:
        show_table(arguments)


if __name__ == "__main__":
    main()
