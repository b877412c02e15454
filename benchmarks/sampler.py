"""What does one sampled graph cost, by each sampler, against N, D, k and temperature?

    python benchmarks/sampler.py                 measure what is missing, print the table
    python benchmarks/sampler.py --table         print what is there
    python benchmarks/sampler.py --figure docs/sampler-cost.png

A cell of the table is CPU-seconds / peak MB beyond what was loaded. Each is measured in a process
of its own, once for memory and as often as two seconds hold for time; the median counts. Cells are
measured from the cheapest to the dearest and kept, one JSON line each, so that a stopped run goes
on where it was. Marked with ~ is what was extrapolated from a smaller N, because it would take
more than ten CPU-minutes, more memory than is free, or more than is left of the hour: quadratic,
`lazy` by the power 1.2 in up to 8 dimensions; memory of `dense` quadratic, of `blocked` not at
all, of the
others linear.

Points and graphs: Cora's, Photo's and PubMed's, with the latent points of a BPGNN trained for a
while; else a block model of mean degree 10, with points around 20 centres. Temperatures: rows of P
have, in the median, about 2 effective neighbours (sharp), 50 (middle) or N/2 (flat).

Samplers: `dense` is what the authors' layer computes, in float32 and N by N, written as well as
plain torch allows (parts/tasks.py; the library's own `dense` is a reference in float64 and log
space, and slower). `blocked` and `lazy` are the library's, one of which `auto` takes. KeOps, where
pykeops is installed, only looks for the k nearest points by its argKmin, without noise or
product: the cheapest conceivable quadratic pass.
"""

import argparse
import importlib.util
import itertools
import tempfile
import time
from dataclasses import asdict, replace
from pathlib import Path

from parts.inputs import REAL, TEMPERATURES, WARM_UP, any_inputs, load_inputs
from parts.known import Known
from parts.measure import circumstances, cost_of, free_megabytes, in_fresh_process, limit_cpu
from parts.store import append_line, print_table, short
from parts.tasks import ANY, TASKS, Cell, auto_choice, task_for

from bpgnn.errors import DataUnavailableError

ROOT = Path(__file__).parent.parent


def list_rows(arguments: argparse.Namespace) -> list[Cell]:
    """List the rows of the table, as cells of no sampler."""
    chosen = (arguments.sizes, arguments.dims, arguments.k, arguments.temperatures)
    return [Cell("", *values) for values in itertools.product(*chosen)]


def cell_of(row: Cell, sampler: str) -> Cell:
    """Name a sampler's cell in a row; one without temperature has the same in several rows."""
    return replace(row, sampler=sampler, temperature=ANY if sampler == "keops" else row.temperature)


def measure_cell(cell: Cell, cache: Path, seconds: float, limit: float) -> dict:
    """Measure one cell, in a process of its own."""
    inputs = load_inputs(cell.num_nodes, cell.dim, cache)
    for size in WARM_UP if cell.sampler == "lazy" else WARM_UP[:1]:
        task_for(cell, any_inputs(size))()  # compiles, and loads what is loaded late
    task = task_for(cell, inputs)
    limit_cpu(limit)
    return {
        **asdict(cell),
        **cost_of(task, seconds=seconds)._asdict(),
        "sharpness": inputs.sharpness.get(cell.temperature),
        "effective_neighbours": inputs.effective.get(cell.temperature),
        "auto": auto_choice(cell),
        **circumstances(),
    }


def run_missing(arguments: argparse.Namespace) -> None:
    """Measure cells from the cheapest to the dearest, as far as limits and time allow."""
    end = time.monotonic() + 60 * arguments.minutes
    known = Known(arguments.results)
    rows = list_rows(arguments)
    cells = {cell_of(row, sampler) for row in rows for sampler in arguments.samplers}
    left = [cell for cell in cells if arguments.again or cell not in known]
    while left:
        left.sort(key=lambda cell: (known.expected(cell).seconds, str(cell)), reverse=True)
        cell = left.pop()
        expected = known.expected(cell)
        if expected.seconds > min(arguments.limit, end - time.monotonic()):
            break
        if expected.megabytes > 0.9 * free_megabytes():
            continue
        inputs = (cell, arguments.cache, arguments.seconds, arguments.limit)
        try:
            found = in_fresh_process(measure_cell, *inputs, threads=arguments.threads)
        except DataUnavailableError as error:
            print(f"N = {cell.num_nodes:,} is left out. {error}")
            left = [other for other in left if other.num_nodes != cell.num_nodes]
            continue
        found = found or {**asdict(cell), "seconds": None, "megabytes": None}
        append_line(arguments.results, found)
        known = Known(arguments.results)
        print(f"{_place(cell)} {_shown(known, cell)}", flush=True)


def _place(cell: Cell) -> str:
    size = f"N = {cell.num_nodes:<9,} D = {cell.dim:<2} k = {cell.k:<2}"
    return f"{cell.sampler:8} {size} {cell.temperature:6}"


def show_table(arguments: argparse.Namespace) -> None:
    """Print the table of what is known."""
    known = Known(arguments.results)
    head = ["N", "D", "k", "temperature", *TASKS, "`auto` takes"]
    rows = []
    for row in list_rows(arguments):
        place = [f"{row.num_nodes:,}", str(row.dim), str(row.k), row.temperature]
        costs = [_shown(known, cell_of(row, sampler)) for sampler in TASKS]
        rows.append([*place, *costs, known.auto.get(replace(row, sampler="auto"), "–")])
    print_table(head, rows)


def _shown(known: Known, cell: Cell) -> str:
    if cell in known.ended:
        return "too long, or out of memory"
    cost = known.cost(cell)
    if cost is None:
        return "–"
    if cost.measured:
        return f"{short(cost.seconds)} / {short(cost.megabytes)}"
    return "~" + " / ".join(short(float(f"{part:.2g}")) for part in cost[:2])


def draw_figure(arguments: argparse.Namespace) -> None:
    """Draw time and memory against N, a column of panels for each temperature."""
    # matplotlib is an extra, and measuring needs none.
    from parts.draw import draw_lines, label_ends, new_figure, note, save

    known = Known(arguments.results)
    figure, panels = new_figure(2, len(arguments.temperatures))
    for column, temperature in enumerate(arguments.temperatures):
        number = {"sharp": "2", "middle": "50", "flat": "N/2"}[temperature]
        panels[0, column].set_title(f"{temperature}: {number} effective neighbours", fontsize=10)
        panels[1, column].set_xlabel("nodes N")
        for panel, what in zip(panels[:, column], ("seconds", "megabytes"), strict=True):
            draw_lines(panel, _lines(known, arguments, temperature, what))
    panels[0, 0].set_ylabel("CPU-seconds")
    panels[1, 0].set_ylabel("peak MB beyond the data")
    for panel, what in zip(panels[:, -1], ("seconds", "megabytes"), strict=True):
        label_ends(panel, _lines(known, arguments, arguments.temperatures[-1], what))
    note(panels[0, 0], f"D = {arguments.dims[0]}, k = {arguments.k[0]}\nhollow: extrapolated")
    save(figure, arguments.figure)


def _lines(known: Known, arguments: argparse.Namespace, temperature: str, what: str) -> list:
    """Follow each sampler over N, at the first D and k that were asked for."""
    from parts.draw import BLUE, GREEN, GREY, ORANGE, Line, Point

    looks = {
        "dense": ("dense", ORANGE, "s"),
        "blocked": ("blocked", GREEN, "^"),
        "lazy": ("lazy", BLUE, "o"),
        "keops": ("KeOps: nearest only", GREY, "D"),
    }
    lines = []
    for sampler, look in looks.items():
        points = []
        for size in sorted(arguments.sizes):
            row = Cell("", size, arguments.dims[0], arguments.k[0], temperature)
            cost = known.cost(cell_of(row, sampler))
            if cost is not None and getattr(cost, what) > 0:
                points.append(Point(size, getattr(cost, what), cost.measured))
        lines.append(Line(*look, points))
    return lines


def read_arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    sizes = [*REAL, 100_000, 1_000_000]
    add("--sizes", nargs="+", type=int, default=sizes, metavar="N", help="any N; see above")
    add("--dims", nargs="+", type=int, default=[4, 16], metavar="D")
    add("--k", nargs="+", type=int, default=[5, 10], metavar="K")
    add("--temperatures", nargs="+", choices=TEMPERATURES, default=list(TEMPERATURES))
    add("--samplers", nargs="+", choices=list(TASKS), default=_available())
    add("--threads", type=int, default=1)
    add("--seconds", type=float, default=2, help="CPU-seconds to repeat a cell in")
    add("--limit", type=float, default=600, help="most CPU-seconds a cell may take")
    add("--minutes", type=float, default=55, help="begin no cell that would end later")
    add("--again", action="store_true", help="measure even what is there; the later line counts")
    add("--results", type=Path, default=ROOT / "results" / "sampler.jsonl")
    folder = Path(tempfile.gettempdir()) / "bpgnn-benchmarks"
    add("--cache", type=Path, default=folder, help="where points and graphs are kept")
    add("--table", action="store_true", help="print what is there, without measuring")
    add("--figure", type=Path, help="draw what is there, without measuring")
    return parser.parse_args()


def _available() -> list[str]:
    keops = importlib.util.find_spec("pykeops") is not None
    return [sampler for sampler in TASKS if sampler != "keops" or keops]


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
