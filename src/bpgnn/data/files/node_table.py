"""A table of nodes and perhaps one of edges, made into one data set."""

from collections.abc import Collection
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from bpgnn.data.files.columns import encode, learn_columns
from bpgnn.data.files.doubts import class_doubts, column_doubts, row_numbers
from bpgnn.data.files.edges import edge_index_of, read_ends
from bpgnn.data.files.meet import joined_column, with_known_ends
from bpgnn.data.files.names import ID_NAMES
from bpgnn.data.files.own import OwnData, repaired_dataset
from bpgnn.data.files.refuse import listed
from bpgnn.data.files.roles import (
    find_id,
    find_label,
    named_column,
    read_ids,
    read_labels,
    refuse_no_id,
)
from bpgnn.data.files.table import FileTable
from bpgnn.errors import InputError

HOW_TO_DROP = "drop the column with --drop NAME (`drop` in Python)"


def own_from_tables(
    name: str,
    nodes: FileTable,
    edges: FileTable | None,
    *,
    id_column: str | None = None,
    label_column: str | None = None,
    drop: Collection[str] = (),
    directed: bool = False,
) -> OwnData:
    """Make one's own data of a table of nodes and, if there is one, a table of edges.

    Args:
        name: What to call the data.
        nodes: One row a node: an id, a label or none, and features.
        edges: One row an edge, or None.
        id_column: The column of ids; found by name if left out.
        label_column: The column of labels; found by name if left out.
        drop: Columns to leave out.
        directed: Whether an edge without its twin is meant so.

    Returns:
        The data.

    Raises:
        InputError: If a column or a cell cannot be used; with its place and the cure.
    """
    if nodes.num_rows == 0:
        raise InputError(f"{nodes.path} has no rows below the columns' names. Add one a node.")
    if len(nodes.columns) == 1 and nodes.column_word == "column":
        raise InputError(
            f"{nodes.path} has one column only, {listed(list(nodes.columns))}. Put a comma, "
            "semicolon or tab between ids, labels and features."
        )
    kept = replace(
        nodes, columns=nodes.without({named_column(nodes, name, "--drop") for name in drop})
    )
    label_name = find_label(kept, label_column)
    id_name = find_id(kept, id_column, label_name)
    if edges is not None and id_column is None:
        id_name = joined_column(kept, edges, id_name, label_name)
    notes = _id_notes(kept, id_name, id_column)
    if id_name is None and edges is not None:
        refuse_no_id(kept)
    ids = tuple(map(str, range(kept.num_rows))) if id_name is None else read_ids(kept, id_name)
    labels, classes = read_labels(kept.path, label_name, kept.columns[label_name].tolist())
    counted = row_numbers(kept.without({label_name, id_name or label_name}))
    features = _features(kept, {label_name, id_name or label_name, *counted})
    columns = learn_columns(features, where=kept.where, how_to_drop=HOW_TO_DROP)
    notes += _doubts(kept, counted, labels, classes) + column_doubts(columns.items, features)
    edge_index = weight = None
    if edges is not None:
        source = f"the ids in {kept.column_word} {id_name!r} of {kept.path}"
        ends = with_known_ends(read_ends(edges, frozenset(ids)), ids, source)
        edge_index = edge_index_of(ends, dict(zip(ids, range(len(ids)), strict=True)), source)
        weight, notes = ends.weight, notes + ends.notes
    dataset = repaired_dataset(
        name,
        encode(columns, features, where=kept.where),
        labels,
        edge_index,
        edge_weight=weight,
        directed=directed,
        class_names=classes,
        node_names=ids,
        notes=notes,
    )
    return OwnData(dataset, columns, id_name, label_name)


def _doubts(
    nodes: FileTable, counted: list[str], labels: Tensor, classes: tuple[str, ...]
) -> tuple[str, ...]:
    sizes = torch.bincount(labels[labels >= 0], minlength=len(classes)).tolist()
    unclear = class_doubts(dict(zip(classes, sizes, strict=True)))
    if not counted:
        return unclear
    return (f"Not used in {nodes.path}: {listed(counted)}, which numbers the rows.", *unclear)


def _features(nodes: FileTable, others: set[str]) -> dict[str, np.ndarray]:
    features = nodes.without(others)
    if not features:
        raise InputError(
            f"{nodes.path} has no {nodes.column_word} of features beside ids and labels. Give "
            "every node at least one, for instance its degree."
        )
    return features


def _id_notes(nodes: FileTable, name: str | None, given: str | None) -> tuple[str, ...]:
    if name is None:
        return ("There is no column of ids: nodes are called by their number, from 0.",)
    if given is not None or name.casefold() in ID_NAMES:
        return ()
    return (
        f"The {nodes.column_word} {name!r} is taken for the ids. Name another with --id-column.",
    )
