"""People's own data, with what is needed to read more of the same."""

import warnings
from dataclasses import dataclass, replace
from typing import final

from torch import Tensor

from bpgnn.data.dataset import Dataset, make_dataset
from bpgnn.data.files.columns import Columns
from bpgnn.errors import RepairWarning


@final
@dataclass(frozen=True, eq=False)
class OwnData:
    """Hold a data set that was read from somebody's files.

    Args:
        dataset: The data: `node_names` are the ids, `class_names` the labels in order.
        columns: What the columns of features were, or None where features came as numbers.
        id_name: The column of ids, or None where nodes are called by their number.
        label_name: The column of labels, or None where labels came as an array.
    """

    dataset: Dataset
    columns: Columns | None = None
    id_name: str | None = None
    label_name: str | None = None

    @property
    def ids(self) -> tuple[str, ...]:
        """Return the ids of the nodes, in order."""
        return self.dataset.node_names


def repaired_dataset(
    name: str,
    features: Tensor,  # (N, F)
    labels: Tensor,  # (N,)
    edge_index: Tensor | None,  # (2, E)
    *,
    edge_weight: Tensor | None,  # (E,)
    directed: bool,
    class_names: tuple[str, ...],
    node_names: tuple[str, ...],
    notes: tuple[str, ...] = (),
) -> Dataset:
    """Make a data set whose repairs are notes alone; see :func:`bpgnn.make_dataset`.

    Args:
        name: What to call it.
        features: Values, shape (N, F).
        labels: Class numbers from 0, or -1 where unknown, shape (N,).
        edge_index: Sources and targets, shape (2, E), or None where there is no graph.
        edge_weight: Positive weights, shape (E,), or None.
        directed: Whether an edge without its twin is meant so.
        class_names: One name a class.
        node_names: One name a node.
        notes: What is worth knowing already.

    Returns:
        The checked data set.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RepairWarning)
        dataset = make_dataset(
            name,
            features,
            labels,
            edge_index,
            edge_weight=edge_weight,
            directed=directed,
            class_names=class_names,
            node_names=node_names,
            feature_kind="table",
        )
    return replace(dataset, notes=notes + dataset.notes)
