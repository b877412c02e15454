"""Commands of many runs: experiments, what they come to, and the search for settings.

The library is imported inside the commands: torch takes a second to load, and help should not.
"""

import csv
import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Table
from rich.text import Text

from bpgnn.console import say, stoppable
from bpgnn.errors import BPGNNError, DataUnavailableError, InputError, nearest

if TYPE_CHECKING:
    from bpgnn.experiments.recheck import Recheck
    from bpgnn.experiments.runner import Progress as GridProgress
    from bpgnn.experiments.summary import Cell

StoreOption = Annotated[
    Path | None,
    typer.Option(
        help="File of results, one line a run; results/runs.jsonl if left out, or "
        "results/fast.jsonl with --fast.",
        show_default=False,
    ),
]

JobsOption = Annotated[
    int | None,
    typer.Option(help="Runs at a time on this machine; one a core if left out.", min=1),
]

_GO_ON = "The same command goes on with what is missing."
_STORE = Path("results/runs.jsonl")
_FAST_STORE = Path("results/fast.jsonl")
_REPORT = Path("report")


class Form(StrEnum):
    """How results are shown."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"


def reproduce(
    names: Annotated[
        list[str], typer.Argument(metavar="EXPERIMENT…", help="Names from above, or `all`.")
    ],
    seeds: Annotated[
        int | None,
        typer.Option(help="Seeds of each cell; by experiment if left out.", min=1),
    ] = None,
    fast: Annotated[
        bool, typer.Option("--fast", help="A few steps each: to try the whole, not to believe it.")
    ] = False,
    jobs: JobsOption = None,
    cluster: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="A Dask scheduler to run on instead.")
    ] = None,
    hours: Annotated[
        float | None, typer.Option(help="Give up what is not finished after this time.", min=0.0)
    ] = None,
    run_hours: Annotated[
        float | None,
        typer.Option(help="Processor time after which one run is out of time (OOT).", min=0.0),
    ] = None,
    retry: Annotated[bool, typer.Option("--retry", help="Make failed runs again.")] = False,
    store: StoreOption = None,
    out: Annotated[Path, typer.Option(help="Folder of the report.")] = _REPORT,
) -> None:
    """Make the runs of the paper's experiments that are missing, and write the report.

    Experiments: datasets, results, robustness, homophily, layers, aggregation,
    speed, residual, recovery, ablation, labels, no-graph, splits.

    Example: bpgnn reproduce robustness --seeds 3
    """
    import joblib

    from bpgnn.experiments.registry import EXPERIMENTS
    from bpgnn.experiments.runner import run_missing
    from bpgnn.experiments.store import Store
    from bpgnn.report.extra import require

    wanted = _experiments_among(names)
    # Said before hours of work and not after.
    require("The report at the end", "jinja2", "matplotlib")
    store = _store_for(store, fast=fast)
    asked = {name: EXPERIMENTS[name].runs(seeds, fast=fast) for name in wanted}
    runs = [run for found in asked.values() for run in found]
    needs = {
        run.command: figure
        for name, found in asked.items()
        if (figure := EXPERIMENTS[name].needs) is not None
        for run in found
    }
    console = Console()
    with stoppable(console, _GO_ON), _grid_bar(console) as watch:
        end = run_missing(
            runs,
            Store(store),
            jobs=jobs or joblib.cpu_count(),
            cluster=cluster,
            hours=hours,
            run_hours=run_hours,
            retry=retry,
            needs=needs,
            watch=watch,
        )
    missing = end.total - end.done
    say(
        console,
        f"{end.done - end.failed} runs are in {store}, {end.failed} failed, {missing} are missing.",
    )
    if end.failed:
        say(console, "With --retry, the same command makes the failed ones again.")
    if missing:
        say(console, _GO_ON)
    try:
        _write_report(out, seeds, store, console, fast=fast)
    except BPGNNError as error:
        # The runs are safe; a page can be written at any time.
        say(console, f"No report was written. {error}")
    if end.unavailable:
        raise DataUnavailableError(" ".join(end.unavailable))


def results(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="WORD…", help="Only runs with all of these words."),
    ] = None,
    form: Annotated[
        Form, typer.Option("--as", help="A table of cells, or all runs as CSV or JSON.")
    ] = Form.TABLE,
    store: Annotated[Path, typer.Option(help="File of results, one line a run.")] = _STORE,
) -> None:
    """Show the results that are there.

    CSV and JSON have a field `is_stale`: whether a run had other settings than
    its command has now. Tables show such runs apart.

    Example: bpgnn results cora --as csv
    """
    from bpgnn.experiments.store import Store
    from bpgnn.experiments.summary import cells, has_words, is_stale

    _refuse_without_results(store)
    every = Store(store).read().values()
    lines = [line for line in every if has_words(line, words or [])]
    if form is not Form.TABLE:
        marked = [{**line, "is_stale": is_stale(line)} for line in lines]
        if form is Form.CSV:
            _write_csv(marked, every)
        else:
            sys.stdout.write(json.dumps(marked, indent=2) + "\n")
    elif lines:
        _print_cells(cells(lines))
    elif not every:
        raise InputError(f"There is no run in {store} yet. Make some with: bpgnn reproduce")
    else:
        raise InputError(f"No run in {store} has all of these words: {' '.join(words or [])}.")


def report(
    out: Annotated[Path, typer.Option(help="Folder to write to.")] = _REPORT,
    seeds: Annotated[int | None, typer.Option(help="Seeds that a cell should have.", min=1)] = None,
    fast: Annotated[
        bool, typer.Option("--fast", help="Report the runs that were made with --fast.")
    ] = False,
    store: StoreOption = None,
) -> None:
    """Set what is in the store beside the paper's figures: a page, Markdown and drawings.

    Example: bpgnn report --out report
    """
    store = _store_for(store, fast=fast)
    _refuse_without_results(store)
    _write_report(out, seeds, store, Console(), fast=fast)


def recheck(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="EXPERIMENT…", help="Of which experiments; of all if left out."),
    ] = None,
    number: Annotated[int, typer.Option("--cells", help="Cells to draw.", min=1)] = 5,
    seeds: Annotated[
        int, typer.Option(help="Seeds of each to make again, if it has as many.", min=1)
    ] = 3,
    draw: Annotated[int, typer.Option(help="Which draw; any whole number.", min=0)] = 0,
    longest: Annotated[
        float | None,
        typer.Option(help="Leave out cells with runs of more processor seconds.", min=0.0),
    ] = None,
    jobs: JobsOption = None,
    store: Annotated[Path, typer.Option(help="File of the results to be checked.")] = _STORE,
    out: Annotated[
        Path | None,
        typer.Option(
            help="File of the runs made now; those it has are not made again. If left out, "
            "results/recheck-CODE.jsonl, CODE being a hash of the source.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Draw cells of the tables at random, make them again, and compare.

    A cell agrees if the means of the same seeds are no more than three standard
    errors of their difference apart. The command fails if one does not.

    Example: bpgnn recheck --cells 5 --longest 300
    """
    import joblib

    from bpgnn.experiments.recheck import compared, drawn_cells
    from bpgnn.experiments.registry import EXPERIMENTS
    from bpgnn.experiments.runner import run_missing
    from bpgnn.experiments.store import Store
    from bpgnn.training.record import versions

    wanted = _experiments_among(names or ["all"])
    _refuse_without_results(store)
    out = out or Path(f"results/recheck-{versions()['code']}.jsonl")
    if out.resolve() == store.resolve():
        raise InputError("--out must name another file than --store: one is checked by the other.")
    every = [run for name in wanted for run in EXPERIMENTS[name].runs()]
    lines, made, console = Store(store).read(), Store(out, "--out"), Console()
    cells = drawn_cells(every, lines, number, draw=draw, longest=longest)
    again = [run for cell in cells for run in cell[:seeds]]
    with stoppable(console, _GO_ON), _grid_bar(console) as watch:
        jobs = jobs or joblib.cpu_count()
        end = run_missing(again, made, jobs=jobs, retry=True, watch=watch)
    now = made.read()
    found = {cell[0].command: compared(cell, cell[:seeds], lines, now) for cell in cells}
    _print_rechecks(found)
    agreeing = sum(one.agrees for one in found.values())
    say(console, f"{agreeing} of {number} cells agree. What was made now is in {out}")
    if end.unavailable:
        raise DataUnavailableError(" ".join(end.unavailable))
    if agreeing < number:
        sys.exit(1)


def tune(
    method: Annotated[str, typer.Argument(help="A name from `bpgnn methods`.")],
    dataset: Annotated[str, typer.Argument(help="A name from `bpgnn data list`.")],
    hours: Annotated[float, typer.Option(help="Processor time in all.", min=0.0)] = 1.0,
    seed: Annotated[int, typer.Option(help="Of the trainings and of the search.", min=0)] = 0,
    journal: Annotated[
        Path, typer.Option(help="Where trials are kept; a stopped search goes on from there.")
    ] = Path("results/tuning.journal"),
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a JSON line of what was found alone.")
    ] = False,
) -> None:
    """Look for settings by validation loss; no test label is looked at.

    Example: bpgnn tune gcn cora --hours 0.1
    """
    from bpgnn.experiments.run import Run
    from bpgnn.experiments.tune.search import Found, search
    from bpgnn.training.plan import Plan

    console = Console(stderr=as_json)

    def watch(found: Found) -> None:
        say(
            console,
            f"{found.num_trials} trials, {found.cpu_seconds:,.0f} CPU-seconds: best validation "
            f"loss {found.validation_loss:.4f}",
        )

    with stoppable(console, "The same command goes on from the last whole trial."):
        found = search(method, dataset, hours=hours, journal=journal, seed=seed, watch=watch)
    command = Run(dataset, Plan(method, seed=seed, changes=found.changes)).command
    if as_json:
        asked = {"method": method, "dataset": dataset, "seed": seed, "hours": hours}
        sys.stdout.write(json.dumps({**asked, "command": command, **asdict(found)}) + "\n")
    else:
        say(console, command)


@contextmanager
def _grid_bar(console: Console) -> Iterator:
    """Show runs done, running and failed, time left, and each outcome as it comes."""
    columns = (
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("{task.fields[running]} running, {task.fields[failed]} failed"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}"),
    )
    from bpgnn.training.bar import stopped_if_started

    bar = Progress(*columns, console=console)
    task = bar.add_task("", total=None, running=0, failed=0, left="")

    def watch(seen: "GridProgress") -> None:
        bar.start()
        left = f"about {_duration(seen.seconds_left)} left" if seen.seconds_left else ""
        counts = {"running": seen.running, "failed": seen.failed, "left": left}
        bar.update(task, completed=seen.done, total=seen.total, **counts)
        if seen.latest is not None:
            outcome = _outcome(seen.latest)
            words = f"{outcome}  {seen.latest['command']}"
            bar.console.print(words, markup=False, highlight=False, soft_wrap=True)

    with stopped_if_started(bar):
        yield watch


def _outcome(line: dict) -> str:
    if "error" in line:
        return line["error"]["words"]
    if "test_accuracy" in line:
        return f"{line['test_accuracy']:.4f}"
    return f"{line['cpu_seconds']:.3g} CPU-seconds"


def _duration(seconds: float) -> str:
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{max(minutes, 1)} min"


def _experiments_among(names: list[str]) -> list[str]:
    """Read names of experiments, `all` among them."""
    from bpgnn.experiments.registry import EXPERIMENTS

    for name in names:
        if name not in EXPERIMENTS and name != "all":
            raise InputError(f"There is no experiment {name!r}.{nearest(name, EXPERIMENTS)}")
    return list(EXPERIMENTS) if "all" in names else names


def _refuse_without_results(store: Path) -> None:
    if not store.exists():
        raise InputError(f"There are no results at {store}. Make some with: bpgnn reproduce")


def _print_cells(found: list["Cell"]) -> None:
    table = Table("command", "accuracy", "seeds", "CPU-seconds")
    for cell in found:
        spread = "" if cell.deviation is None else f" ± {cell.deviation:.2f}"
        accuracy = cell.error or "–" if cell.mean is None else f"{cell.mean:.2f}{spread}"
        accuracy += ", with older settings" if cell.is_stale else ""
        seeds = f"{cell.num_seeds}, {cell.num_failed} failed" if cell.num_failed else cell.num_seeds
        seconds = "" if cell.cpu_seconds is None else f"{cell.cpu_seconds:,.3g}"
        # What an error says may hold brackets.
        table.add_row(*(Text(str(part)) for part in (cell.command, accuracy, seeds, seconds)))
    Console().print(table)


def _print_rechecks(found: dict[str, "Recheck"]) -> None:
    columns = ("stored", "now", "apart", "allowed", "same", "agrees")
    table = Table("command of the first seed", *columns)
    for command, one in found.items():
        figures = ("–",) * 5
        if one.pairs:
            figures = (
                *(f"{mean:.2f}" for mean in (one.stored, one.again)),
                f"{one.again - one.stored:+.2f}",
                f"{one.allowed:.2f}",
                f"{one.num_same} of {len(one.pairs)}",
            )
        said = "".join(f"\n{words}" for words in dict.fromkeys(one.failures))
        # What an error says may hold brackets.
        table.add_row(Text(f"{command}{said}"), *figures, "yes" if one.agrees else "no")
    Console().print(table)


def _write_csv(lines: Iterable[dict], every: Iterable[dict]) -> None:
    """Write lines, with the columns of all that there are, whichever were asked for."""
    names = dict.fromkeys(name for line in every for name in _flat(line))
    last = ("is_stale", "error")
    first = [name for name in ("command", *names) if name not in last]
    writer = csv.DictWriter(sys.stdout, [*dict.fromkeys(first), *last])
    writer.writeheader()
    writer.writerows(map(_flat, lines))


def _flat(line: dict) -> dict[str, object]:
    """Leave out what has no place in a cell, such as settings."""
    latent = line.get("latent_graph") or {}
    found = {**line, **{f"latent_graph.{name}": value for name, value in latent.items()}}
    found["code"] = (line.get("versions") or {}).get("code", "")
    plain = {name: one for name, one in found.items() if not isinstance(one, dict | list)}
    plain.pop("latent_graph", None)
    return {**plain, "error": line.get("error", {}).get("words", "")}


def _store_for(store: Path | None, *, fast: bool) -> Path:
    """Choose where results are; those of a fast pass are not put among those to be believed."""
    return store or (_FAST_STORE if fast else _STORE)


def _write_report(
    out: Path, seeds: int | None, store: Path, console: Console, *, fast: bool
) -> None:
    from bpgnn.experiments.store import Store
    from bpgnn.report.registry import SECTIONS
    from bpgnn.report.source import Source
    from bpgnn.report.write import write_report

    lines = Store(store).read()
    source = Source(lines, seeds, fast)
    sections = [make(source) for make in SECTIONS.values()]
    page = write_report(out, sections, source.provenance(store.name), fast=fast)
    say(console, f"The report is at {page}")
