"""Tables of edges, whose ends are ids of nodes."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import final

import numpy as np
import torch
from torch import Tensor

from bpgnn.data.files.cells import is_number, numbers_of, texts_of
from bpgnn.data.files.names import END_NAMES
from bpgnn.data.files.near import nearest_id, plain
from bpgnn.data.files.refuse import listed, shown
from bpgnn.data.files.table import FileTable
from bpgnn.errors import InputError

# Edges that are looked at to find the columns of ends.
_FIRST = 1000


@final
@dataclass(frozen=True, eq=False)
class EdgeEnds:
    """Hold the two ends of each edge as text.

    Args:
        table: The file.
        sources: Name of the column of sources, and its ids.
        targets: Name of the column of targets, and its ids.
        weight: Positive weights, shape (E,), or None.
        notes: What is worth knowing.
    """

    table: FileTable
    sources: tuple[str, list[str]]
    targets: tuple[str, list[str]]
    weight: Tensor | None = None
    notes: tuple[str, ...] = ()


def read_ends(table: FileTable, ids: Collection[str] = ()) -> EdgeEnds:
    """Find the columns of an edge table: its ends, and weights if there are any.

    The ends are the columns called source and target, from and to, or src and dst; where there
    are none, the first two whose cells are mostly ids, or else the first two.

    Args:
        table: The edges.
        ids: What nodes are called, as far as that is known.

    Returns:
        The ends as text.

    Example:
        >>> table = FileTable(
        ...     "edges.csv", {"from": np.array(["a"]), "to": np.array(["b"])}, rows=[2]
        ... )
        >>> read_ends(table).targets
        ('to', ['b'])
    """
    source, target = end_columns(table, ids)
    weight = table.find("weight")
    weight = None if weight in (source, target) else weight
    others = [name for name in table.columns if name not in (source, target, weight)]
    note = f"Not used in {table.path}: {table.column_word} {listed(others)}."
    if (source.casefold(), target.casefold()) not in END_NAMES:
        note += f" Edges join {source!r} and {target!r}."
    return EdgeEnds(
        table,
        (source, texts_of(table.columns[source].tolist())),
        (target, texts_of(table.columns[target].tolist())),
        None if weight is None else _weights(table, weight),
        (note,) if others else (),
    )


def edge_index_of(
    ends: EdgeEnds, ids: Mapping[str, int], known_from: str = "the nodes"
) -> Tensor:  # (2, E)
    """Number the ends of edges; an id that no node has is refused with the nearest.

    Args:
        ends: What :func:`read_ends` gave.
        ids: The number of each id.
        known_from: Where those ids come from, for messages.

    Returns:
        Sources and targets, shape (2, E).

    Example:
        >>> ends = EdgeEnds(FileTable("edges.csv", {}, [2]), ("from", ["a"]), ("to", ["b"]))
        >>> edge_index_of(ends, {"a": 0, "b": 1}).tolist()
        [[0], [1]]
    """
    index = [positions(words, ids) for _, words in (ends.sources, ends.targets)]
    unknown = (index[0] < 0) | (index[1] < 0)
    if unknown.any():
        refuse_unknown(ends, int(unknown.argmax()), int(unknown.sum()), ids, known_from)
    return torch.from_numpy(np.stack(index))


def positions(words: Sequence[str], ids: Mapping[str, int]) -> np.ndarray:  # (E,)
    """Look ids up, -1 for one that is not there.

    Example:
        >>> positions(["b", "c"], {"a": 0, "b": 1}).tolist()
        [1, -1]
    """
    return np.fromiter(map(ids.get, words, repeat(-1)), dtype=np.int64, count=len(words))


def refuse_unknown(
    ends: EdgeEnds, row: int, count: int, ids: Collection[str], known_from: str
) -> None:
    """Refuse an edge whose end is no known id."""
    name, words = ends.sources if ends.sources[1][row] not in ids else ends.targets
    word, place = words[row], ends.table.where(name, row)
    if not word:
        raise InputError(f"{place}: the id is missing. Fill it in, or remove the row.")
    others = "" if count == 1 else f" (and {count - 1:,} more edges have such an end)"
    near = nearest_id(word, ids)
    meant = "" if near is None else f" Did you mean {shown(near)}?"
    raise InputError(
        f"{place}: {shown(word)} is not among {known_from}{others}.{meant} "
        "Add that node, or remove the edge."
    )


def end_columns(table: FileTable, ids: Collection[str] = ()) -> tuple[str, str]:
    """Name the columns of sources and targets; see :func:`read_ends`.

    Example:
        >>> cells = {name: np.array([name]) for name in ("day", "a", "b")}
        >>> end_columns(FileTable("edges.csv", cells, [2]), {"a", "b"})
        ('a', 'b')
    """
    for first, second in END_NAMES:
        source, target = table.find(first), table.find(second)
        if source is not None and target is not None:
            return source, target
    names = list(table.columns)
    if len(names) < 2:
        raise InputError(
            f"{table.path} must have two columns of ids, source and target, but it has "
            f"{len(names)}: {listed(names)}. Put a comma, semicolon or tab between them."
        )
    share = {name: known_share(table, name, ids) for name in names}
    joining = [name for name in names if share[name] >= 0.5]
    # Where ids are numbers, so may be the edges' own; two columns beside it are likelier ends.
    others = [name for name in joining if not _counts_up(table.columns[name][:_FIRST])]
    joining = others if len(others) >= 2 else joining
    best = sorted(joining, key=share.__getitem__, reverse=True)[:2]
    first, second, *_ = [name for name in names if len(best) < 2 or name in best]
    return first, second


def known_share(table: FileTable, name: str, ids: Collection[str]) -> float:
    """Tell what share of a column's first cells are ids.

    Example:
        >>> known_share(FileTable("e.csv", {"to": np.array(["a", "z"])}, [2, 3]), "to", {"a"})
        0.5
    """
    words = texts_of(table.columns[name][:_FIRST].tolist())
    return sum(word in ids or plain(word) in ids for word in words) / max(len(words), 1)


def _counts_up(cells: np.ndarray) -> bool:
    numbers = numbers_of(texts_of(cells.tolist()))
    return numbers is not None and bool((np.diff(numbers) == 1).all())


def _weights(table: FileTable, name: str) -> Tensor:  # (E,)
    texts = texts_of(table.columns[name].tolist())
    values = np.array([float(text) if is_number(text) else np.nan for text in texts])
    with np.errstate(over="ignore", under="ignore"):
        weights = values.astype(np.float32)
    bad = ~((weights > 0) & np.isfinite(weights))
    if bad.any():
        row = int(bad.argmax())
        raise InputError(
            f"{table.where(name, row)}: a weight must be a positive number, but this one is "
            f"{shown(texts[row])}. Correct it, or remove the edge."
        )
    return torch.from_numpy(weights)
