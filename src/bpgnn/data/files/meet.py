"""Edges brought together with the nodes that they name."""

from collections.abc import Collection
from dataclasses import replace

import numpy as np
import torch

from bpgnn.data.counted import counted
from bpgnn.data.files.cells import texts_of
from bpgnn.data.files.edges import EdgeEnds, end_columns, known_share, refuse_unknown
from bpgnn.data.files.near import plain
from bpgnn.data.files.refuse import shown
from bpgnn.data.files.table import FileTable
from bpgnn.errors import InputError

# Up to this share of edges may lead to nobody and be left out; more is a mistake of the whole.
_STRAY = 0.05


def joined_column(nodes: FileTable, edges: FileTable, first: str | None, not_it: str) -> str | None:
    """Find the column of nodes whose cells the edges name.

    Args:
        nodes: The nodes.
        edges: The edges.
        first: The column that looks like the one; kept if the edges name it, or no other.
        not_it: A column that has another part already.

    Returns:
        Its name.

    Example:
        >>> cells = {"name": np.array(["Ann", "Bob"]), "key": np.array(["a", "b"])}
        >>> nodes = FileTable("nodes.csv", cells, [2, 3])
        >>> edges = FileTable("edges.csv", {"u": np.array(["a"]), "v": np.array(["b"])}, [2])
        >>> joined_column(nodes, edges, "name", "label")
        'key'
    """
    others = [name for name in nodes.columns if name not in (first, not_it)]
    for name in ([] if first is None else [first]) + others:
        if _is_joined(edges, texts_of(nodes.columns[name].tolist())):
            return name
    return first


def _is_joined(edges: FileTable, texts: list[str]) -> bool:
    ids = set(texts)
    if edges.num_rows == 0 or len(ids) < len(texts):
        return False
    ids.update([plain(text) for text in texts])
    return all(known_share(edges, name, ids) >= 0.5 for name in end_columns(edges, ids))


def with_known_ends(ends: EdgeEnds, ids: Collection[str], known_from: str) -> EdgeEnds:
    """Keep the edges whose ends are nodes, each end written as its node's id is.

    A whole number may be written otherwise, `12.0` or `007` for `12` or `7`, where only one id
    can be meant. The edges that lead to nobody are left out with a note if they are few.

    Args:
        ends: What :func:`~bpgnn.data.files.edges.read_ends` gave.
        ids: What nodes are called.
        known_from: Where those ids come from, for messages.

    Returns:
        The edges that are left.

    Raises:
        InputError: If more than one edge in twenty leads to nobody.

    Example:
        >>> table = FileTable("edges.csv", {}, [2])
        >>> with_known_ends(EdgeEnds(table, ("u", ["1.0"]), ("v", ["2"])), {"1", "2"}, "").sources
        ('u', ['1'])
    """
    known = set(ids)
    (source, sources), (target, targets) = ends.sources, ends.targets
    unknown = _strangers(sources, targets, known)
    if not unknown.any():
        return ends
    sources, targets, notes = _as_written(ends, known)
    ends = replace(ends, sources=(source, sources), targets=(target, targets))
    unknown = _strangers(sources, targets, known)
    count = int(unknown.sum())
    if count > _STRAY * len(sources):
        _refuse_wrong_column(ends, unknown, known_from)
        refuse_unknown(ends, int(unknown.argmax()), count, known, known_from)
    keep = np.flatnonzero(~unknown)
    if count:
        notes += (_stray_note(ends, unknown, known, known_from),)
    return replace(
        ends,
        sources=(source, [sources[row] for row in keep]),
        targets=(target, [targets[row] for row in keep]),
        weight=None if ends.weight is None else ends.weight[torch.from_numpy(keep)],
        notes=ends.notes + notes,
    )


def _strangers(sources: list[str], targets: list[str], known: set[str]) -> np.ndarray:  # (E,)
    ends = zip(sources, targets, strict=True)
    return np.array([one not in known or other not in known for one, other in ends], dtype=bool)


def _as_written(ends: EdgeEnds, known: set[str]) -> tuple[list[str], list[str], tuple[str, ...]]:
    """Write whole numbers as the ids have them; note if that changed any."""
    numbers: dict[str, str | None] = {}
    for own in known:
        bare = plain(own)
        numbers[bare] = None if bare in numbers else own
    changed: dict[str, str] = {}

    def written(word: str) -> str:
        meant = word if word in known else numbers.get(plain(word))
        if meant is not None and meant != word:
            changed[word] = meant
        return word if meant is None else meant

    sources, targets = (
        [written(word) for word in words[1]] for words in (ends.sources, ends.targets)
    )
    if not changed:
        return sources, targets, ()
    word, meant = next(iter(changed.items()))
    note = f"{ends.table.path} writes {shown(word)} for {shown(meant)}: taken for the same number."
    return sources, targets, (note,)


def _refuse_wrong_column(ends: EdgeEnds, unknown: np.ndarray, known_from: str) -> None:
    if not unknown.all() or len(unknown) == 1:
        return
    columns = " and ".join(repr(name) for name in (ends.sources[0], ends.targets[0]))
    raise InputError(
        f"{ends.table.path}: no edge in the columns {columns} has both ends among {known_from}; "
        f"the first joins {shown(ends.sources[1][0])} and {shown(ends.targets[1][0])}. Name the "
        "column that holds such ids with --id-column, or call the ends of edges source and target."
    )


def _stray_note(ends: EdgeEnds, unknown: np.ndarray, known: set[str], known_from: str) -> str:
    row = int(unknown.argmax())
    name, words = ends.sources if ends.sources[1][row] not in known else ends.targets
    place = ends.table.where(name, row)
    what = counted(int(unknown.sum()), "edge was", "edges were")
    return (
        f"{what} left out, as an end is not among {known_from}; the first is {shown(words[row])} "
        f"({place})."
    )
