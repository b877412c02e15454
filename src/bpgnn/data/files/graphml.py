"""Graphs in GraphML, as Gephi, yEd and networkx write them."""

import os
import warnings
from collections.abc import Collection
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import ParseError

import numpy as np

from bpgnn.data.files.names import ID_NAMES
from bpgnn.data.files.node_table import own_from_tables
from bpgnn.data.files.own import OwnData
from bpgnn.data.files.roles import named_column
from bpgnn.data.files.table import FileTable
from bpgnn.errors import InputError

# What the nodes' own ids in the file are called beside their attributes.
_ID = "node id"


def read_graphml(
    path: str | os.PathLike[str],
    *,
    id_column: str | None = None,
    label_column: str | None = None,
    drop: Collection[str] = (),
    directed: bool = False,
) -> OwnData:
    """Read a GraphML file: nodes' attributes are features, one of them the label.

    Ids are those of the file; the attribute `weight` of edges is used, others are not.

    Args:
        path: The file.
        id_column: An attribute to call nodes by instead.
        label_column: The attribute that holds labels; found by name if left out.
        drop: Attributes to leave out.
        directed: Whether an edge without its twin is meant so.

    Returns:
        The data.

    Raises:
        InputError: If the file is damaged, or an attribute cannot be used.
    """
    graph = _parsed(Path(path))
    nodes = _node_table(str(path), graph)
    id_name = _ID if id_column is None else named_column(nodes, id_column, "--id-column")
    names = dict(zip(graph.nodes, nodes.columns[id_name].tolist(), strict=True))
    return own_from_tables(
        Path(path).stem,
        nodes,
        _edge_table(str(path), graph, names),
        id_column=id_name,
        label_column=label_column,
        drop={*drop, *_other_ids(nodes, id_name)},
        directed=directed,
    )


def _other_ids(nodes: FileTable, id_name: str) -> list[str]:
    """List attributes that name nodes a second time, as some programs write them."""
    return [
        name
        for name, values in nodes.columns.items()
        if name != id_name
        and name.casefold() in (*ID_NAMES, _ID)
        and len(set(values.tolist())) == nodes.num_rows
    ]


def _parsed(path: Path) -> Any:
    import networkx as nx

    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror or error}).") from error
    if b"<!ENTITY" in content:
        raise InputError(f"{path} defines entities of its own, which GraphML has no use for.")
    try:
        with warnings.catch_warnings():
            # It warns of keys without a type, which it takes for text, as we do.
            warnings.simplefilter("ignore")
            return nx.parse_graphml(content, node_type=str)
    except (
        ParseError,
        nx.NetworkXException,
        AttributeError,
        LookupError,
        TypeError,
        ValueError,
    ) as error:
        raise InputError(
            f"{path} is damaged or no GraphML file ({error}). Export it again."
        ) from error


def _node_table(path: str, graph: Any) -> FileTable:
    attributes = dict.fromkeys(name for _, own in graph.nodes(data=True) for name in own)
    columns = {_ID: _objects(graph.nodes)}
    for name in attributes:
        columns[name] = _objects(own.get(name) for _, own in graph.nodes(data=True))
    return FileTable(path, columns, [repr(node) for node in graph.nodes], "node", "attribute")


def _edge_table(path: str, graph: Any, names: dict[str, object]) -> FileTable:
    edges = list(graph.edges(data=True))
    columns = {
        "source": _objects(names[edge[0]] for edge in edges),
        "target": _objects(names[edge[1]] for edge in edges),
    }
    if any("weight" in edge[2] for edge in edges):
        columns["weight"] = _objects(edge[2].get("weight") for edge in edges)
    rows = [f"{edge[0]!r} to {edge[1]!r}" for edge in edges]
    return FileTable(path, columns, rows, "edge", "attribute")


def _objects(values: Any) -> np.ndarray:  # (N,)
    items = list(values)
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array
