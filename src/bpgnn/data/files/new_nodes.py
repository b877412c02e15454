"""Nodes that came after training, read as the others were."""

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import final

import numpy as np
import torch
from torch import Tensor

from bpgnn.data.counted import counted
from bpgnn.data.files.arrays import (
    edge_array,
    edge_numbers,
    feature_array,
    has_numbers_as_ids,
    id_array,
    plain_arrays,
    weight_array,
)
from bpgnn.data.files.columns import Columns, encode_with_notes
from bpgnn.data.files.csv_table import read_csv
from bpgnn.data.files.edges import positions, read_ends
from bpgnn.data.files.folder import read_tables, unread_tables
from bpgnn.data.files.meet import with_known_ends
from bpgnn.data.files.own import OwnData
from bpgnn.data.files.parquet_table import read_parquet
from bpgnn.data.files.refuse import listed
from bpgnn.data.files.roles import find_id, named_column, read_ids
from bpgnn.data.files.table import FileTable
from bpgnn.errors import InputError, nearest
from bpgnn.graph import check_edges


@final
@dataclass(frozen=True, eq=False)
class NewNodes:
    """Hold nodes to predict, with edges to those that were there in training.

    Args:
        ids: One id a new node.
        features: Encoded as the training's were, shape (M, F).
        edges: New nodes and the known ones that each is joined to, shape (2, E).
        edge_weight: Positive weights, shape (E,), or None.
        notes: What was left out or is worth knowing.
    """

    ids: tuple[str, ...]
    features: Tensor
    edges: Tensor
    edge_weight: Tensor | None = None
    notes: tuple[str, ...] = ()


def read_new(
    path: str | os.PathLike[str], like: OwnData, *, id_column: str | None = None
) -> NewNodes:
    """Read new nodes, and their edges to nodes that were there in training.

    Labels need not be there. Further columns are ignored with a note. Edges may name either
    end first; those between two new nodes or two known ones are left out with a note.

    Args:
        path: A folder with tables of nodes and perhaps edges, or a table of nodes. Where the
            training read an `.npz` file, another one with `features`, perhaps `ids`, and
            `edges` whose first row holds new nodes and whose second known ones, as node
            numbers or ids.
        like: The data of the training.
        id_column: The column of ids; as in training if left out.

    Returns:
        The new nodes.

    Raises:
        InputError: If a column or a cell is missing, or an edge leads nowhere.
    """
    place = Path(path)
    if not place.exists():
        raise InputError(f"There is no file or folder {path}. Check the path.")
    if like.columns is None:
        return _from_arrays(place, like)
    if place.is_dir():
        nodes, edges = read_tables(place, like.ids)
    elif place.suffix.lower() == ".parquet":
        nodes, edges = read_parquet(place), None
    elif place.suffix.lower() in (".csv", ".tsv"):
        nodes, edges = read_csv(place), None
    else:
        raise InputError(
            f"{path}: new nodes are read from a table (.csv, .tsv, .parquet) or a folder with "
            "nodes.csv and perhaps edges.csv."
        )
    new = _from_tables(nodes, edges, like, like.columns, id_column)
    return replace(new, notes=unread_tables(place) + new.notes)


def _from_tables(
    nodes: FileTable,
    edges: FileTable | None,
    like: OwnData,
    columns: Columns,
    id_column: str | None,
) -> NewNodes:
    id_name = _id_name(nodes, like, id_column)
    if nodes.num_rows == 0:
        raise InputError(f"{nodes.path} has no rows below the columns' names. Add one a node.")
    ids = tuple(map(str, range(nodes.num_rows))) if id_name is None else read_ids(nodes, id_name)
    for name in columns.names:
        if name not in nodes.columns:
            raise InputError(
                f"{nodes.path} lacks the column {name!r}, which was a feature in training."
                f"{nearest(name, nodes.columns)} Add or rename it."
            )
    features, notes = encode_with_notes(columns, nodes.columns, where=nodes.where)
    used = {*columns.names, id_name, like.label_name}
    if extra := [name for name in nodes.columns if name not in used]:
        notes += (
            f"Not used in {nodes.path}: columns that were not there in training, {listed(extra)}.",
        )
    if edges is None:
        return NewNodes(ids, features, torch.empty(2, 0, dtype=torch.long), None, notes)
    index, weight, more = _joined(edges, ids, like.ids)
    return NewNodes(ids, features, index, weight, notes + more)


def _id_name(nodes: FileTable, like: OwnData, id_column: str | None) -> str | None:
    if id_column is not None:
        return named_column(nodes, id_column, "--id-column")
    if like.id_name is not None and like.id_name in nodes.columns:
        return like.id_name
    features = set() if like.columns is None else set(like.columns.names)
    others = nodes.without({*features, like.label_name or ""})
    return find_id(replace(nodes, columns=others), None)


def _joined(
    edges: FileTable, new: tuple[str, ...], known: tuple[str, ...]
) -> tuple[Tensor, Tensor | None, tuple[str, ...]]:
    """Pair new nodes with known ones, whichever end of an edge each is."""
    new_ids = {text: number for number, text in enumerate(new)}
    known_ids = {text: number for number, text in enumerate(known)}
    both = new_ids.keys() | known_ids.keys()
    ends = with_known_ends(read_ends(edges, both), both, "the ids, new or known")
    sources, targets = ends.sources[1], ends.targets[1]
    new_source, new_target = positions(sources, new_ids), positions(targets, new_ids)
    known_source, known_target = positions(sources, known_ids), positions(targets, known_ids)
    forward = (new_source >= 0) & (known_target >= 0)
    backward = (new_target >= 0) & (known_source >= 0)
    # A node that is both new and known is not its own neighbour.
    loops = np.array([one == other for one, other in zip(sources, targets, strict=True)], bool)
    forward, backward = forward & ~loops, backward & ~loops
    index = np.concatenate(
        [
            np.stack([new_source[forward], known_target[forward]]),
            np.stack([new_target[backward], known_source[backward]]),
        ],
        axis=1,
    )
    weight = None
    if ends.weight is not None:
        weight = torch.cat([ends.weight[torch.from_numpy(way)] for way in (forward, backward)])
    notes = ends.notes
    if left := int((~forward & ~backward).sum()):
        why = "edges must join a new node with a known one"
        what = counted(left, "edge was", "edges were")
        notes += (f"{what} left out of {edges.path}: {why}.",)
    return torch.from_numpy(index), weight, notes


def _from_arrays(path: Path, like: OwnData) -> NewNodes:
    if path.suffix.lower() != ".npz":
        raise InputError(
            f"{path}: the training read arrays, so new nodes must come as an .npz file too, "
            f"with `features` of {like.dataset.num_features:,} columns."
        )
    arrays = plain_arrays(path)
    try:
        features = feature_array(arrays)
        if features.size(1) != like.dataset.num_features:
            raise InputError(
                f"`features` must have {like.dataset.num_features:,} columns as in training, but "
                f"it has {features.size(1):,}."
            )
        ids, edges = id_array(arrays, features.size(0)), edge_array(arrays)
        if edges is None:
            return NewNodes(ids, features, torch.empty(2, 0, dtype=torch.long))
        new = edge_numbers(edges[0], ids, may_be_ids=has_numbers_as_ids(arrays))
        # Ids of the training are kept as text: whether they were numbers is not known any more.
        known = edge_numbers(edges[1], like.ids, may_be_ids=True)
        index, weight = torch.stack([new, known]), weight_array(arrays)
        for end, count in zip(index, (len(ids), like.dataset.num_nodes), strict=True):
            check_edges(torch.stack([end, end]), count, weight, name="edges")
        return NewNodes(ids, features, index, weight)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
