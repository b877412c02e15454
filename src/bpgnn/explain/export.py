"""Predictions and latent graphs as tables and files."""

import io
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bpgnn.data.dataset import Dataset
from bpgnn.data.files.write import write_table, write_whole
from bpgnn.errors import InputError
from bpgnn.explain.pairs import Pairs

ENDINGS = (".csv", ".graphml", ".npz", ".parquet")
# All but what XML 1.0 calls a Char.
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def names_of(dataset: Dataset) -> list[str]:
    """Name every node: its id, or its number where it has none."""
    return list(dataset.node_names or map(str, range(dataset.num_nodes)))


def classes_of(dataset: Dataset) -> list[str]:
    """Name every class, by its number where it has no name."""
    return list(dataset.class_names or map(str, range(dataset.num_classes)))


def entropy(probabilities: Tensor) -> Tensor:  # (N, C) -> (N,)
    """Measure how open predictions are, in nats: 0 if sure, log C at most.

    Example:
        >>> entropy(torch.tensor([[1.0, 0.0], [0.5, 0.5]])).tolist()
        [0.0, 0.6931471805599453]
    """
    return torch.special.entr(probabilities.double()).sum(1)


def prediction_table(
    names: list[str],
    probabilities: Tensor,  # (N, C)
    classes: list[str],
) -> dict[str, Any]:
    """Make columns: id, label, probability of each class, entropy over the sampled graphs."""
    best = probabilities.argmax(1).tolist()
    shares = {
        f"probability of {name}": probabilities[:, number].double().numpy()
        for number, name in enumerate(classes)
    }
    return {
        "id": np.array(names, dtype=object),
        "label": np.array([classes[number] for number in best], dtype=object),
        **shares,
        "entropy": entropy(probabilities).numpy(),
    }


def write_graph(path: str | os.PathLike[str], pairs: Pairs, dataset: Dataset) -> tuple[str, ...]:
    """Write the pairs of a latent graph as CSV, GraphML, NPZ or Parquet.

    Args:
        path: Its ending says which.
        pairs: The pairs.
        dataset: Whose nodes they join.

    Returns:
        What is worth knowing, see :func:`~bpgnn.data.files.write.write_table`.
    """
    path, names = Path(path), names_of(dataset)
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise InputError(f"{path} must end in one of: {', '.join(ENDINGS)}.")
    if ending == ".graphml":
        write_whole(path, _as_graphml(pairs, dataset, names))
        return ()
    columns = {
        "source": np.array([names[node] for node in pairs.nodes[0].tolist()], dtype=object),
        "target": np.array([names[node] for node in pairs.nodes[1].tolist()], dtype=object),
        "probability": pairs.probability.numpy(),
        "frequency": pairs.frequency.numpy(),
        "kind": pairs.kind.astype(object),
    }
    if ending == ".npz":
        sink = io.BytesIO()
        arrays: dict[str, Any] = {
            name: cells.astype(str) if cells.dtype == object else cells
            for name, cells in columns.items()
        }
        np.savez_compressed(sink, edge_index=pairs.nodes.numpy(), **arrays)
        write_whole(path, sink.getvalue())
        return ()
    return write_table(path, columns)


def _as_graphml(pairs: Pairs, dataset: Dataset, names: list[str]) -> bytes:
    import networkx as nx  # comes with torch

    names, classes = _distinct(names), classes_of(dataset)
    graph = nx.Graph()
    for name, label in zip(names, dataset.labels.tolist(), strict=True):
        graph.add_node(name, label=_in_xml(classes[label]) if label >= 0 else "")
    rows = zip(
        pairs.nodes[0].tolist(),
        pairs.nodes[1].tolist(),
        pairs.probability.tolist(),
        pairs.frequency.tolist(),
        pairs.kind.tolist(),
        strict=True,
    )
    for one, other, probability, frequency, kind in rows:
        graph.add_edge(
            names[one],
            names[other],
            weight=probability,
            frequency=frequency,
            kind=str(kind),
        )
    sink = io.BytesIO()
    nx.write_graphml(graph, sink)
    return sink.getvalue()


def _distinct(names: list[str]) -> list[str]:
    """Write names as XML can hold them, and no two alike; what needs no change has none."""
    unchanged, used, found = set(names), set(), []
    for name in names:
        plain = word = _in_xml(name)
        number = 2
        while word in used or (word != name and word in unchanged):
            word, number = f"{plain} ({number})", number + 1
        used.add(word)
        found.append(word)
    return found


def _in_xml(text: str) -> str:
    return _NOT_XML.sub("", text) or "?"
