"""Commands that begin with a finished run.

The library is imported inside the commands: torch takes a second to load, and help should not.
"""

import warnings
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from bpgnn.console import say, say_notes
from bpgnn.errors import InputError

if TYPE_CHECKING:
    from bpgnn.data.files.own import OwnData
    from bpgnn.training.fit import Fit

RunArgument = Annotated[
    Path, typer.Argument(metavar="RUN", help="A folder that `bpgnn train` has written.")
]


def predict(
    run: RunArgument,
    new_data: Annotated[
        Path | None,
        typer.Argument(
            metavar="NEW_DATA",
            help="Nodes that came later, in files like those of the training; all if left out.",
        ),
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="File to write: .csv or .parquet.")
    ] = Path("predictions.csv"),
    id_column: Annotated[
        str | None, typer.Option(help="Column of the new ids; as in training if left out.")
    ] = None,
) -> None:
    """Write each node's label, the probability of each class, and how open that is.

    Without NEW_DATA, for every node of the training, labelled or not. The entropy
    is that of the mean over sampled graphs, in nats.

    NEW_DATA has the columns of the training but for labels; its edges, if there
    are any, join new nodes with those of the training. Where neither has edges,
    each new node is joined with its nearest.

    Example: bpgnn predict runs/shop-bpgnn-tuned-seed0 -o labels.csv

    Example: bpgnn predict runs/shop-bpgnn-tuned-seed0 later -o later.csv
    """
    from bpgnn.data.files.new_nodes import read_new
    from bpgnn.data.files.write import write_table
    from bpgnn.explain.export import classes_of, names_of, prediction_table
    from bpgnn.training.newcomers import nearest_known, predict_newcomers

    console = Console()
    fitted, own = _opened(run)
    names, probabilities = names_of(fitted.dataset), fitted.probabilities
    if new_data is not None:
        new = read_new(new_data, own, id_column=id_column)
        say_notes(console, new.notes)
        edges, weight = new.edges.flip(0), new.edge_weight
        k = fitted.dataset.num_neighbours
        if k is not None and edges.size(1) == 0:
            edges, weight = nearest_known(fitted, new.features, k), None
            say(console, f"Note: As in training, each new node is joined with its {k} nearest.")
        found = predict_newcomers(fitted, new.features, edges, weight)
        names, probabilities = list(new.ids), found.mean(0)
    table = prediction_table(names, probabilities, classes_of(fitted.dataset))
    say_notes(console, write_table(out, table))
    say(console, f"{len(names):,} predictions are in {out}")


def graph(
    run: RunArgument,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="File to write: .csv, .graphml, .npz or .parquet.")
    ] = Path("graph.csv"),
) -> None:
    """Write the latent graph: each pair with its probability, and what became of it.

    A pair is `observed` (and in a sampled graph), `added`, or `dropped`:
    observed, and in none of the sampled graphs. `frequency` is the share of
    sampled graphs that have it.

    Example: bpgnn graph runs/cora-bpgnn-tuned-seed0 -o graph.graphml
    """
    from bpgnn.explain.export import write_graph
    from bpgnn.explain.pairs import ADDED, DROPPED, OBSERVED, pairs_of

    console = Console()
    fitted, _ = _opened(run)
    if fitted.latent_graph is None:
        raise InputError(
            f"{fitted.record.method} infers no graph, so there is none to write. Train bpgnn."
        )
    pairs = pairs_of(fitted)
    say_notes(console, write_graph(out, pairs, fitted.dataset))
    counts = ", ".join(
        f"{int((pairs.kind == kind).sum()):,} {kind}" for kind in (OBSERVED, ADDED, DROPPED)
    )
    say(console, f"{len(pairs.kind):,} pairs are in {out}: {counts}")


def explain(
    run: RunArgument,
    edge: Annotated[
        tuple[str, str] | None, typer.Option(metavar="A B", help="Why A – B is likely or not.")
    ] = None,
    node: Annotated[
        str | None, typer.Option(metavar="A", help="What the prediction for A rests on.")
    ] = None,
    svg: Annotated[
        Path | None, typer.Option(help="Draw the edge's triangles to this file, too.")
    ] = None,
) -> None:
    """Say why an edge is in the latent graph, or what a node's prediction rests on.

    A and B are ids of nodes, as they are in your files.

    Example: bpgnn explain runs/shop-bpgnn-tuned-seed0 --edge ann bob
    """
    if (edge is None) == (node is None):
        raise InputError("Ask for an edge, --edge A B, or for a node, --node A.")
    if svg is not None and edge is None:
        raise InputError("Only an edge is drawn. Ask with --edge A B, or leave --svg out.")
    fitted, _ = _opened(run)
    console = Console()
    if edge is not None:
        _explain_edge(fitted, edge, svg, console)
        return
    from bpgnn.explain.export import classes_of, names_of
    from bpgnn.explain.node import explain_node
    from bpgnn.explain.words import node_in_words
    from bpgnn.randomness import generator_for

    number = _node(fitted, str(node))
    reasons = explain_node(
        fitted.method, fitted.problem, fitted.output, number, generator=generator_for(0)
    )
    say(console, node_in_words(reasons, names_of(fitted.dataset), classes_of(fitted.dataset)))


def explore(
    run: RunArgument,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="File to write; in the run if left out.")
    ] = None,
    show: Annotated[
        bool, typer.Option("--open/--no-open", help="Open the page in a browser.")
    ] = True,
) -> None:
    """Write one page to look at nodes, edges and their reasons, and open it.

    Example: bpgnn explore runs/cora-bpgnn-tuned-seed0
    """
    from bpgnn.explore.from_run import scene_of
    from bpgnn.explore.page import write_page

    fitted, own = _opened(run)
    title = f"{fitted.record.method} on {fitted.dataset.name}"
    scene = scene_of(fitted, title, own.columns)
    page = write_page(scene, out or run / "explore.html")
    say(Console(), f"The page is at {page}")
    if show:
        webbrowser.open(page.resolve().as_uri())


def _explain_edge(fitted: "Fit", edge: tuple[str, str], svg: Path | None, console: Console) -> None:
    from bpgnn.data.files.write import write_whole
    from bpgnn.explain.draw import draw_edge
    from bpgnn.explain.edge import explain_edge
    from bpgnn.explain.export import names_of
    from bpgnn.explain.words import edge_in_words

    target, source = (_node(fitted, name) for name in edge)
    reasons = explain_edge(fitted.method, fitted.output, target, source)
    names = names_of(fitted.dataset)
    say(console, edge_in_words(reasons, names))
    if svg is not None:
        write_whole(svg, draw_edge(reasons, names).encode())
        say(console, f"The drawing is at {svg}")


def _opened(run: Path) -> "tuple[Fit, OwnData]":
    from bpgnn.training.open import open_with_data

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return open_with_data(run)


def _node(fitted: "Fit", name: str) -> int:
    """Find a node by its id, or by its number where nodes have no ids."""
    from bpgnn.data.files.near import nearest_id
    from bpgnn.explain.export import names_of

    names = names_of(fitted.dataset)
    try:
        return names.index(name)
    except ValueError:
        pass
    near = nearest_id(name, names)
    cure = "Check the spelling." if near is None else f"Did you mean {near}?"
    raise InputError(f"There is no node {name!r}. {cure}")
