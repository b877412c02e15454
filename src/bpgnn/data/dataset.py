"""One form for every data set: features, graph, labels, split, names."""

import warnings
from dataclasses import dataclass, field, replace
from typing import Any, Literal, final

import numpy as np
import scipy.sparse
import torch
from torch import Tensor

from bpgnn.data.counted import counted
from bpgnn.data.sparse import rows_from_scipy, rows_of
from bpgnn.data.tensors import tensor_of
from bpgnn.errors import InputError, RepairWarning
from bpgnn.graph import Graph, with_both_directions

FeatureKind = Literal["counts", "table", "alike"]


@final
@dataclass(frozen=True, eq=False)
class Split:
    """Say which nodes train, validate and test.

    Args:
        name: How the split was made: `complete`, `public`, `random` or a user's own word.
        train: Mask of the training nodes, shape (N,).
        validation: Mask of the nodes for early stopping, shape (N,); without any, training
            goes on to its last step.
        test: Mask of the nodes for the final figure, shape (N,); without any there is none.
    """

    name: str
    train: Tensor
    validation: Tensor
    test: Tensor

    def __post_init__(self) -> None:
        """Refuse masks that are not Boolean or overlap, and training without nodes."""
        for part in ("train", "validation", "test"):
            mask = getattr(self, part)
            if mask.dtype != torch.bool or mask.dim() != 1 or mask.shape != self.train.shape:
                raise InputError(
                    f"The {part} mask must be a Boolean vector with one entry a node, but "
                    f"got {mask.dtype} of shape {tuple(mask.shape)}."
                )
        if not bool(self.train.any()):
            raise InputError(
                "The train mask is empty. Mark at least one training node, or take a `random` "
                "split."
            )
        for one, other in (("train", "validation"), ("train", "test"), ("validation", "test")):
            shared = int((getattr(self, one) & getattr(self, other)).sum())
            if shared:
                raise InputError(
                    f"The {one} and {other} masks overlap in {shared} nodes. A node may be "
                    "in one of the three masks only."
                )


@final
@dataclass(frozen=True, eq=False)
class Dataset:
    """Hold nodes with features, some labels, and a graph that may be doubtful or missing.

    Args:
        name: What people call it.
        features: Raw values, shape (N, F), dense or in torch's sparse CSR layout.
        labels: Class numbers from 0, or -1 where unknown, shape (N,).
        graph: The observed graph without self-loops, or None.
        split: Which nodes train, validate and test; None until one is chosen.
        public_split: The split published with the data, or None.
        class_names: One name a class.
        node_names: One name a node, or none at all.
        feature_kind: `counts` (each row is divided by its sum before use), `table` (each
            column is standardised) or `alike` (columns of one unit, such as pixels: all are
            divided by the same number).
        notes: What was repaired or is worth knowing, one sentence each.
        true_graph: The graph as it was before edges were added or dropped to see what that
            does; never shown to a method.
        num_neighbours: Nearest that each node chose where they stand in for a graph, or None.
    """

    name: str
    features: Tensor
    labels: Tensor
    graph: Graph | None
    split: Split | None = None
    public_split: Split | None = None
    class_names: tuple[str, ...] = ()
    node_names: tuple[str, ...] = ()
    feature_kind: FeatureKind = "counts"
    notes: tuple[str, ...] = field(default=())
    true_graph: Graph | None = None
    num_neighbours: int | None = None

    def __post_init__(self) -> None:
        """Check that the parts fit together."""
        _check_features(self.features)
        _check_labels(self.labels, self.num_nodes)
        if self.graph is not None and self.graph.num_nodes != self.num_nodes:
            raise InputError(
                f"The graph has {self.graph.num_nodes} nodes, but there are {self.num_nodes} "
                "rows of features. Give every node a row."
            )
        if self.class_names and len(self.class_names) < self.num_classes:
            raise InputError(
                f"`class_names` must name {self.num_classes} classes, but it has "
                f"{len(self.class_names)} names."
            )
        if self.node_names and len(self.node_names) != self.num_nodes:
            raise InputError(
                f"`node_names` must name {self.num_nodes} nodes, but it has "
                f"{len(self.node_names)} names."
            )
        if self.split is not None:
            _check_split(self.split, self.labels)

    @property
    def num_nodes(self) -> int:
        """Count the nodes, N."""
        return self.features.size(0)

    @property
    def num_features(self) -> int:
        """Count the columns of the features, F."""
        return self.features.size(1)

    @property
    def num_classes(self) -> int:
        """Count the classes, C."""
        return max(int(self.labels.max()) + 1, len(self.class_names))

    @property
    def num_pairs(self) -> int:
        """Count the undirected pairs that the observed graph joins."""
        return 0 if self.graph is None else self.graph.undirected_pairs().size(1)

    def chosen_split(self) -> Split:
        """Return the split, or say that none was chosen."""
        if self.split is None:
            raise InputError(
                f"The data set {self.name} has no split yet. Choose one with "
                "`with_split(split(dataset, 'random', seed=0))`."
            )
        return self.split

    def with_split(self, split: Split) -> "Dataset":
        """Return the same data under another split."""
        return replace(self, split=split)

    def with_graph(self, graph: Graph | None, *notes: str) -> "Dataset":
        """Return the same data with another observed graph."""
        return replace(self, graph=graph, notes=self.notes + notes, num_neighbours=None)


def make_dataset(
    name: str,
    features: Tensor | np.ndarray | scipy.sparse.sparray | scipy.sparse.spmatrix,  # (N, F)
    labels: Tensor | np.ndarray,  # (N,)
    edge_index: Tensor | np.ndarray | None = None,  # (2, E)
    *,
    edge_weight: Tensor | np.ndarray | None = None,  # (E,)
    directed: bool = False,
    split: Split | None = None,
    class_names: tuple[str, ...] = (),
    node_names: tuple[str, ...] = (),
    feature_kind: FeatureKind = "table",
) -> Dataset:
    """Make a data set from one's own arrays; repair the graph and say so.

    Self-loops are dropped, duplicates merged, and unless `directed` the missing direction of
    each edge is added. Each repair is a :class:`RepairWarning` and one of the `notes`.

    Args:
        name: What to call it.
        features: Values, shape (N, F), a tensor, an array or a scipy matrix; whole numbers become
            32-bit floats, and every sparse layout CSR.
        labels: Class numbers from 0, or -1 where unknown, shape (N,).
        edge_index: Sources and targets, shape (2, E), or None where there is no graph.
        edge_weight: Positive weights, shape (E,), or None.
        directed: Whether an edge without its twin is meant so.
        split: Which nodes train, validate and test.
        class_names: One name a class.
        node_names: One name a node.
        feature_kind: `counts`, `table` or `alike`, see :class:`Dataset`.

    Returns:
        The checked data set.

    Example:
        >>> data = make_dataset(
        ...     "pair", torch.eye(2), torch.tensor([0, 1]), torch.tensor([[0, 1], [1, 0]])
        ... )
        >>> data.num_nodes, data.num_pairs
        (2, 1)
    """
    features = _feature_tensor(features)
    _check_features(features)
    graph, notes = None, []
    if edge_index is not None:
        edges = tensor_of(edge_index, name="edge_index")
        weight = None if edge_weight is None else tensor_of(edge_weight, name="edge_weight")
        graph, notes = _repaired(edges, features.size(0), weight, directed=directed)
    for note in notes:
        warnings.warn(note, RepairWarning, stacklevel=2)
    if graph is not None and (isolated := int((_degree(graph) == 0).sum())):
        notes.append(isolated_note(isolated))
    return Dataset(
        name=name,
        features=features,
        labels=tensor_of(labels, name="labels"),
        graph=graph,
        split=split,
        class_names=class_names,
        node_names=node_names,
        feature_kind=feature_kind,
        notes=tuple(notes),
    )


def isolated_note(number: int) -> str:
    """Say how many nodes have no neighbour, and what is done with them.

    Example:
        >>> isolated_note(3)
        '3 nodes have no neighbour; each serves as its own.'
    """
    what = counted(number, "node has", "nodes have")
    return f"{what} no neighbour; each serves as its own."


def _feature_tensor(features: Any) -> Tensor:  # (N, F)
    if scipy.sparse.issparse(features):
        return rows_from_scipy(features)
    rows = rows_of(tensor_of(features, name="features"))
    return rows if rows.is_floating_point() or rows.is_complex() else rows.float()


def _degree(graph: Graph) -> Tensor:  # (N,)
    return graph.in_degree + torch.bincount(graph.sources, minlength=graph.num_nodes)


def _repaired(
    edge_index: Tensor, num_nodes: int, edge_weight: Tensor | None, *, directed: bool
) -> tuple[Graph, list[str]]:
    graph = Graph.from_edge_index(edge_index, num_nodes, edge_weight)
    notes = []
    if duplicates := edge_index.size(1) - graph.num_edges:
        how = "counted once" if edge_weight is None else "merged and the weights added up"
        what = counted(duplicates, "duplicate edge was", "duplicate edges were")
        notes.append(f"{what} {how}.")
    if loops := int((graph.sources == graph.targets).sum()):
        graph = graph.without_self_loops()
        what = counted(loops, "self-loop was", "self-loops were")
        notes.append(f"{what} dropped; the model adds its own.")
    if directed:
        return graph, notes
    graph, more = both_ways(graph, "; set `directed` to keep edges as they are")
    return graph, notes + more


def both_ways(graph: Graph, cure: str = "") -> tuple[Graph, list[str]]:
    """Let every edge go both ways with the larger weight, and note what that changed.

    Args:
        graph: A graph without self-loops.
        cure: How the note on missing directions ends.

    Returns:
        The undirected graph, and the notes.

    Example:
        >>> both_ways(Graph.from_edge_index(torch.tensor([[0], [1]]), 2))[1]
        ['1 edge had one direction only, and got the other.']
    """
    if graph.is_undirected:
        return graph, []
    both, notes = with_both_directions(graph), []
    if added := both.num_edges - graph.num_edges:
        what = counted(added, "edge", "edges")
        notes.append(f"{what} had one direction only, and got the other{cure}.")
    old, new = (edges.targets * graph.num_nodes + edges.sources for edges in (graph, both))
    if raised := int((both.weights[torch.searchsorted(new, old)] > graph.weights).sum()):
        what = counted(raised, "edge", "edges")
        notes.append(f"{what} had two weights, one each way; the larger was kept.")
    return both, notes


def _check_features(features: Tensor) -> None:
    if features.dim() != 2 or not features.is_floating_point():
        raise InputError(
            "`features` must be a matrix of floating-point numbers, one row a node, but got "
            f"{features.dtype} of shape {tuple(features.shape)}."
        )
    if features.size(0) == 0:
        raise InputError("`features` has no rows. There must be at least one node.")
    values = features.values() if features.layout == torch.sparse_csr else features
    bad = ~torch.isfinite(values)
    if bool(bad.any()):
        where = ""
        if features.layout == torch.strided:
            row, column = (int(index) for index in bad.nonzero()[0])
            where = f", the first in row {row}, column {column}"
        raise InputError(
            f"`features` must be finite, but {int(bad.sum())} values are NaN or "
            f"infinite{where}. Fill or drop them first."
        )


def _check_labels(labels: Tensor, num_nodes: int) -> None:
    if labels.shape != (num_nodes,):
        raise InputError(
            f"`labels` must have one entry for each of the {num_nodes} rows of features, but "
            f"its shape is {tuple(labels.shape)}."
        )
    if labels.dtype != torch.long or int(labels.min()) < -1:
        found = labels.dtype if labels.dtype != torch.long else int(labels.min())
        raise InputError(
            "`labels` must be class numbers of type int64 from 0 up, and -1 where unknown, but got "
            f"{found}."
        )


def _check_split(split: Split, labels: Tensor) -> None:
    if split.train.shape != labels.shape:
        raise InputError(
            f"The masks have {split.train.numel()} entries, but there are {labels.numel()} nodes."
        )
    classes = torch.unique(labels[split.train & (labels >= 0)])
    if classes.numel() == 0:
        raise InputError("No training node has a label. Label at least two of them.")
    if classes.numel() == 1:
        raise InputError(
            f"The training labels hold one class only ({int(classes[0])}). "
            "Classification needs at least two: label more nodes of each."
        )
    for part in ("validation", "test"):
        seen = labels[getattr(split, part)]
        if seen.numel() > 0 and not bool((seen >= 0).any()):
            raise InputError(
                f"No {part} node has a label, so there is nothing to measure. Label some of them, "
                f"or mark none: the {part} mask may be empty."
            )
