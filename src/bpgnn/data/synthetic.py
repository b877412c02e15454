"""Seeded graphs of any size with a known answer, for tests and benchmarks."""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from bpgnn.data.dataset import Dataset
from bpgnn.data.split import split
from bpgnn.errors import InputError
from bpgnn.graph import Graph
from bpgnn.randomness import numpy_generator_for

_STREAM = 0x5B3


def block_model(
    num_nodes: int,
    *,
    num_classes: int = 4,
    mean_degree: float = 10.0,
    num_features: int = 16,
    wrong_edges: float = 0.2,
    feature_noise: float = 1.0,
    seed: int = 0,
) -> Dataset:
    """Draw a stochastic block model with features and a chosen share of wrong edges.

    Classes have equal sizes, up to one node. Of the round(N · mean_degree / 2) undirected
    edges, round(share · edges) join two classes and the others stay within one; within each
    kind every set of pairs is equally likely. A node's features are its class's mean, a random
    direction of length one, plus normal noise. Time and memory grow with nodes and edges.

    Args:
        num_nodes: Number of nodes N.
        num_classes: Number of classes C, at least 2.
        mean_degree: Mean number of neighbours.
        num_features: Number of features F.
        wrong_edges: Share of the edges that join two classes, from 0 to 1.
        feature_noise: Standard deviation of the noise in each feature.
        seed: The same seed gives the same data.

    Returns:
        A data set with a `random` split; its notes state the share of wrong edges realised.

    Example:
        >>> data = block_model(60, num_classes=3, mean_degree=4, wrong_edges=0.25, seed=0)
        >>> data.num_nodes, data.num_pairs, data.notes[0]
        (60, 120, 'Of 120 undirected edges 30 join two classes, a share of 0.2500.')
    """
    _check_sizes(num_nodes, num_classes, num_features)
    _check_shares(mean_degree, wrong_edges, feature_noise)
    generator = numpy_generator_for(seed, _STREAM)
    labels = generator.permutation(np.arange(num_nodes) % num_classes)
    num_pairs = round(num_nodes * mean_degree / 2)
    num_wrong = round(wrong_edges * num_pairs)
    members = _Members(labels, num_classes)
    _check_room(members, num_pairs - num_wrong, num_wrong)
    pairs = np.concatenate(
        [
            members.pairs_within(num_pairs - num_wrong, generator),
            members.pairs_between(num_wrong, generator),
        ]
    )
    share = num_wrong / num_pairs if num_pairs else 0.0
    note = f"Of {num_pairs} undirected edges {num_wrong} join two classes, a share of {share:.4f}."
    dataset = Dataset(
        name="block_model",
        features=_class_features(labels, num_classes, num_features, feature_noise, generator),
        labels=torch.from_numpy(labels),
        graph=_graph_of_pairs(pairs, num_nodes),
        class_names=tuple(f"class {number}" for number in range(num_classes)),
        feature_kind="table",
        notes=(note,),
    )
    return replace(dataset, split=split(dataset, "random", seed=seed))


class _Members:
    """Know the nodes of each class, to draw pairs of them."""

    def __init__(self, labels: np.ndarray, num_classes: int) -> None:
        self.labels = labels
        self.sizes = np.bincount(labels, minlength=num_classes)
        self.nodes = np.argsort(labels, kind="stable")
        self.starts = np.cumsum(self.sizes) - self.sizes

    @property
    def num_within(self) -> int:
        return int((self.sizes * (self.sizes - 1) // 2).sum())

    @property
    def num_between(self) -> int:
        num_nodes = self.labels.size
        return num_nodes * (num_nodes - 1) // 2 - self.num_within

    def pairs_within(self, count: int, generator: np.random.Generator) -> np.ndarray:
        chances = self.sizes * (self.sizes - 1.0)

        def draw(size: int) -> tuple[np.ndarray, np.ndarray]:
            group = generator.choice(self.sizes.size, size=size, p=chances / chances.sum())
            place = generator.random((2, size)) * self.sizes[group]
            one, other = self.nodes[self.starts[group] + place.astype(np.int64)]
            return one, other

        return _distinct_pairs(draw, count, self.num_within, self.labels.size)

    def pairs_between(self, count: int, generator: np.random.Generator) -> np.ndarray:
        def draw(size: int) -> tuple[np.ndarray, np.ndarray]:
            one, other = generator.integers(self.labels.size, size=(2, size))
            differ = self.labels[one] != self.labels[other]
            return one[differ], other[differ]

        return _distinct_pairs(draw, count, self.num_between, self.labels.size)


def _distinct_pairs(
    draw: Callable[[int], tuple[np.ndarray, np.ndarray]], count: int, available: int, num_nodes: int
) -> np.ndarray:
    """Draw until `count` different pairs are there, in the order of drawing."""
    found = np.empty(0, dtype=np.int64)
    while found.size < count:
        # As many as will do on average, given that some are already taken.
        chance = (available - found.size) / available
        one, other = draw(int(1.1 * (count - found.size) / chance) + 16)
        low, high = np.minimum(one, other), np.maximum(one, other)
        found = np.concatenate([found, (low * num_nodes + high)[low != high]])
        _, first = np.unique(found, return_index=True)
        found = found[np.sort(first)]
    return found[:count]


def _graph_of_pairs(pairs: np.ndarray, num_nodes: int) -> Graph:
    low, high = (torch.from_numpy(end) for end in np.divmod(pairs, num_nodes))
    both = torch.stack([torch.cat([low, high]), torch.cat([high, low])])
    return Graph.from_edge_index(both, num_nodes)


def _class_features(
    labels: np.ndarray,
    num_classes: int,
    num_features: int,
    noise: float,
    generator: np.random.Generator,
) -> Tensor:  # (N, F)
    means = generator.standard_normal((num_classes, num_features), dtype=np.float32)
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    features = generator.standard_normal((labels.size, num_features), dtype=np.float32)
    features *= noise
    features += means[labels]
    return torch.from_numpy(features)


def _check_sizes(num_nodes: int, num_classes: int, num_features: int) -> None:
    if num_classes < 2:
        raise InputError(f"`num_classes` must be 2 or more, but got {num_classes}.")
    if num_nodes < 3 * num_classes:
        raise InputError(
            f"`num_nodes` must be at least {3 * num_classes}, three nodes for each of "
            f"{num_classes} classes, but got {num_nodes}."
        )
    if num_features < 1:
        raise InputError(f"`num_features` must be 1 or more, but got {num_features}.")


def _check_shares(mean_degree: float, wrong_edges: float, feature_noise: float) -> None:
    if not 0 <= wrong_edges <= 1:
        raise InputError(
            f"`wrong_edges` must be a share between 0 and 1 of all edges, but got {wrong_edges}."
        )
    for name, value in (("mean_degree", mean_degree), ("feature_noise", feature_noise)):
        if not math.isfinite(value) or value < 0:
            raise InputError(f"`{name}` must be a finite number from 0 up, but got {value}.")


def _check_room(members: _Members, num_within: int, num_wrong: int) -> None:
    for where, wanted, available in (
        ("within a class", num_within, members.num_within),
        ("between two classes", num_wrong, members.num_between),
    ):
        if wanted > available:
            raise InputError(
                f"These settings ask for {wanted} edges {where}, but only {available} pairs of "
                "nodes are there to join. Lower `mean_degree`, or raise `num_nodes`."
            )
