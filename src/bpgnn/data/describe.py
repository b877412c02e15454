"""What there is to know of a data set before a method is trained on it."""

import textwrap
from dataclasses import dataclass
from typing import final

import torch

from bpgnn.data.dataset import Dataset
from bpgnn.data.files.columns import Column, Columns

_WIDTH = 79
# A line a class or column; the rest of a long list is one line.
_MOST_LINES = 20


@final
@dataclass(frozen=True)
class Description:
    """Say how large a data set is, and how good its graph and labels look.

    Args:
        name: What it is called.
        num_nodes: Nodes, N.
        num_features: Features, F.
        num_pairs: Undirected pairs that are joined, or None where there is no graph.
        mean_degree: Mean number of neighbours, or None.
        max_degree: Most neighbours of a node, or None.
        num_isolated: Nodes without a neighbour, or None.
        homophily: Share of the joined pairs with the same label, among those whose labels are
            both known; None where there is none.
        num_known_pairs: Pairs whose labels are both known.
        class_counts: Classes with the number of their nodes.
        num_unlabelled: Nodes without a label.
        columns: The columns that features came from, if they came from a table.
        notes: What was repaired on reading.
    """

    name: str
    num_nodes: int
    num_features: int
    num_pairs: int | None
    mean_degree: float | None
    max_degree: int | None
    num_isolated: int | None
    homophily: float | None
    num_known_pairs: int
    class_counts: tuple[tuple[str, int], ...]
    num_unlabelled: int
    columns: tuple[Column, ...] = ()
    notes: tuple[str, ...] = ()


def describe(dataset: Dataset, columns: Columns | None = None) -> Description:
    """Count what there is to know of a data set.

    Args:
        dataset: The data.
        columns: The columns that its features came from, where there were any.

    Returns:
        The figures.

    Example:
        >>> from bpgnn.data.dataset import make_dataset
        >>> edges = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
        >>> found = describe(make_dataset("path", torch.eye(3), torch.tensor([0, 0, 1]), edges))
        >>> found.num_pairs, found.max_degree, found.homophily
        (2, 2, 0.5)
    """
    labels = dataset.labels
    names = dataset.class_names or tuple(map(str, range(dataset.num_classes)))
    counts = torch.bincount(labels[labels >= 0], minlength=len(names)).tolist()
    pairs = degree = None
    homophily, num_known = None, 0
    if dataset.graph is not None:
        pairs = dataset.graph.undirected_pairs()
        degree = torch.bincount(pairs.reshape(-1), minlength=dataset.num_nodes)
        ends = labels[pairs]
        known = (ends >= 0).all(dim=0)
        num_known = int(known.sum())
        if num_known:
            homophily = float((ends[0] == ends[1])[known].double().mean())
    return Description(
        name=dataset.name,
        num_nodes=dataset.num_nodes,
        num_features=dataset.num_features,
        num_pairs=None if pairs is None else pairs.size(1),
        mean_degree=None if degree is None else float(degree.double().mean()),
        max_degree=None if degree is None else int(degree.max()),
        num_isolated=None if degree is None else int((degree == 0).sum()),
        homophily=homophily,
        num_known_pairs=num_known,
        class_counts=tuple(zip(names, counts, strict=True)),
        num_unlabelled=int((labels < 0).sum()),
        columns=() if columns is None else columns.items,
        notes=dataset.notes,
    )


def in_lines(found: Description) -> list[str]:
    r"""Write a description in lines of at most 79 letters.

    Example:
        >>> from bpgnn.data.synthetic import block_model
        >>> print(*in_lines(describe(block_model(40)))[:2], sep="\n")
        block_model: 40 nodes, 200 edges, 16 features, 4 classes
        neighbours: 10.0 on average, 14 at most; 0 nodes have none
    """
    edges = "no graph" if found.num_pairs is None else f"{found.num_pairs:,} edges"
    sizes = f"{edges}, {found.num_features:,} features, {len(found.class_counts)} classes"
    lines = [f"{found.name}: {found.num_nodes:,} nodes, {sizes}"]
    if found.mean_degree is not None:
        lines.append(
            f"neighbours: {found.mean_degree:.1f} on average, {found.max_degree:,} at most; "
            f"{found.num_isolated:,} nodes have none"
        )
        lines.append(_homophily_line(found))
    lines += _label_lines(found) + _column_lines(found)
    lines += [f"note: {note}" for note in found.notes]
    return [part for line in lines for part in _wrapped(line)]


def _homophily_line(found: Description) -> str:
    if found.homophily is None:
        return "homophily: unknown, as no edge joins two labelled nodes"
    return (
        f"homophily: {found.homophily:.3f} of the {found.num_known_pairs:,} edges between "
        "labelled nodes join the same label"
    )


def _label_lines(found: Description) -> list[str]:
    labelled = found.num_nodes - found.num_unlabelled
    lines = [f"labels: {labelled:,} nodes have one, {found.num_unlabelled:,} have none"]
    shown = found.class_counts[:_MOST_LINES]
    width = max((len(name) for name, _ in shown), default=0)
    for name, count in shown:
        share = f" ({count / labelled:6.1%})" if labelled else ""
        lines.append(f"  {name:<{min(width, 40)}} {count:>9,}{share}")
    return lines + _rest(len(found.class_counts), "classes")


def _column_lines(found: Description) -> list[str]:
    if not found.columns:
        return []
    lines = [f"columns: {len(found.columns):,}"]
    shown = found.columns[:_MOST_LINES]
    width = max(len(column.name) for column in shown)
    for column in shown:
        kind = column.kind
        if kind == "category":
            kind = f"category of {len(column.categories):,}: {', '.join(column.categories)}"
        line = f"  {column.name:<{min(width, 40)}} {kind}"
        lines.append(line if len(line) <= _WIDTH else line[: _WIDTH - 1] + "…")
    return lines + _rest(len(found.columns), "columns")


def _rest(count: int, what: str) -> list[str]:
    return [f"  and {count - _MOST_LINES:,} more {what}"] if count > _MOST_LINES else []


def _wrapped(line: str) -> list[str]:
    # A name in a file may hold anything, also what moves a terminal's cursor.
    plain = "".join(letter if letter.isprintable() else " " for letter in line)
    if len(plain) <= _WIDTH:
        return [plain]
    return textwrap.wrap(plain, _WIDTH, subsequent_indent="  ", break_on_hyphens=False)
