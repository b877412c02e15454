"""Words typed at a prompt, turned into calls.

The library is imported inside the commands: torch takes a second to load, and help should not.
"""

import json
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
)
from rich.table import Table

from bpgnn import __version__
from bpgnn.commands import explain, explore, graph, predict
from bpgnn.console import say, say_notes, stoppable
from bpgnn.errors import (
    BPGNNError,
    DataUnavailableError,
    InputError,
    is_out_of_memory,
    nearest,
)
from bpgnn.experiment_commands import recheck, report, reproduce, results, tune

if TYPE_CHECKING:
    from bpgnn.data.dataset import Dataset
    from bpgnn.data.download import Progress as DownloadProgress
    from bpgnn.data.files.own import OwnData
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


app.command()(reproduce)
app.command()(results)
app.command()(report)
app.command()(recheck)
app.command()(tune)


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
        with stoppable(console, f"Go on with: bpgnn train --resume {folder.path}"):
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
