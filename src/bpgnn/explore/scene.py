"""What the page shows, as plain arrays."""

from dataclasses import dataclass, fields
from typing import Literal, final

import numpy as np

from bpgnn.errors import InputError
from bpgnn.explore.checks import (
    check_members,
    check_numbers,
    check_pairs,
    check_shape,
    check_shares,
    check_witnesses,
    to_numbers,
    to_words,
)

Kind = Literal["kept", "added", "dropped"]
KINDS: tuple[Kind, ...] = ("kept", "added", "dropped")
PARTS = ("", "train", "validation", "test")

_WORDS = ("node_names", "class_names", "part", "features", "kind")
_WHOLE = ("labels", "predictions", "pairs", "witness_pointer", "witness_nodes")
_REAL = (
    "places",
    "confidence",
    "entropy",
    "weight",
    "frequency",
    "witness_shares",
    "witness_similarity",
)


@final
@dataclass(frozen=True)
class BeforeAfter:
    """Hold one figure on the observed graph and on the latent one.

    Args:
        words: What the figure is, such as "Accuracy on test nodes".
        before: The share from 0 to 1 on the observed graph, or None where there is none.
        after: The share from 0 to 1 on the latent graph, or None where there is none.
    """

    words: str
    before: float | None
    after: float | None

    def __post_init__(self) -> None:
        """Refuse what is not a share."""
        for value in (self.before, self.after):
            if value is not None and not 0 <= value <= 1:
                raise InputError(
                    f"The figure {self.words!r} must be from 0 to 1, or None, but got {value}."
                )


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Scene:
    """Hold a latent graph to look at: N nodes in C classes, E pairs, M witnesses.

    Lists are taken as well as arrays.

    Args:
        title: What the page is called.
        node_names: A name for each node, shape (N,).
        places: Where each node is drawn, shape (N, 2).
        class_names: A name for each class, shape (C,).
        labels: The known class of each node, −1 where unknown, shape (N,).
        predictions: The predicted class of each node, shape (N,).
        confidence: The probability of the predicted class, shape (N,).
        entropy: The entropy of the predicted probabilities, shape (N,).
        part: `train`, `validation`, `test` or nothing for each node, shape (N,).
        features: A short text for each node, such as its strongest values; may be empty, (N,).
        pairs: Pairs of nodes (i, j), each once and in either order, shape (2, E).
        kind: `kept` (observed and latent), `added` (latent only) or `dropped` (observed, but in
            none of the sampled graphs), shape (E,).
        weight: The probability P̃ of each pair, shape (E,).
        frequency: The share of the sampled graphs that have the pair, shape (E,).
        witness_pointer: Where the witnesses of each pair begin and end, shape (E + 1,).
        witness_nodes: The nodes k that vouch for the pairs, one pair after another, shape (M,).
        witness_shares: What part of the pair's P̃ comes from each witness, shape (M,).
        witness_similarity: P_kj, how much each witness resembles the far end, shape (M,).
        figures: Figures before and after, such as homophily and accuracy.

    Raises:
        InputError: If the arrays do not fit together.

    Example:
        >>> scene = Scene(
        ...     title="Two papers",
        ...     node_names=["a", "b"],
        ...     places=[[0.0, 0.0], [1.0, 1.0]],
        ...     class_names=["maths", "physics"],
        ...     labels=[0, -1],
        ...     predictions=[0, 1],
        ...     confidence=[0.9, 0.6],
        ...     entropy=[0.3, 0.7],
        ...     part=["train", ""],
        ...     features=["set: 1", ""],
        ...     pairs=[[0], [1]],
        ...     kind=["added"],
        ...     weight=[0.8],
        ...     frequency=[1.0],
        ...     witness_pointer=[0, 0],
        ...     witness_nodes=[],
        ...     witness_shares=[],
        ...     witness_similarity=[],
        ... )
        >>> scene.num_nodes, scene.num_pairs
        (2, 1)
    """

    title: str
    node_names: np.ndarray
    places: np.ndarray
    class_names: np.ndarray
    labels: np.ndarray
    predictions: np.ndarray
    confidence: np.ndarray
    entropy: np.ndarray
    part: np.ndarray
    features: np.ndarray
    pairs: np.ndarray
    kind: np.ndarray
    weight: np.ndarray
    frequency: np.ndarray
    witness_pointer: np.ndarray
    witness_nodes: np.ndarray
    witness_shares: np.ndarray
    witness_similarity: np.ndarray
    figures: tuple[BeforeAfter, ...] = ()

    def __post_init__(self) -> None:
        """Turn lists into arrays and refuse what does not fit together."""
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name in _WORDS:
                value = to_words(field.name, value)
            elif field.name in _WHOLE:
                value = to_numbers(field.name, value, np.int64)
            elif field.name in _REAL:
                value = to_numbers(field.name, value, np.float64)
            elif field.name == "figures":
                value = tuple(value)
            object.__setattr__(self, field.name, value)
        self._check_nodes()
        self._check_pairs()

    @property
    def num_nodes(self) -> int:
        """Count the nodes."""
        return self.node_names.size

    @property
    def num_classes(self) -> int:
        """Count the classes."""
        return self.class_names.size

    @property
    def num_pairs(self) -> int:
        """Count the pairs."""
        return self.kind.size

    def _check_nodes(self) -> None:
        if self.num_nodes == 0 or self.num_classes == 0:
            raise InputError(
                "A scene needs at least one node and one class, but got "
                f"{self.num_nodes} nodes and {self.num_classes} classes."
            )
        check_shape("places", self.places, (self.num_nodes, 2))
        check_numbers("places", self.places)
        for name in ("labels", "predictions", "confidence", "entropy", "part", "features"):
            check_shape(name, getattr(self, name), (self.num_nodes,))
        check_members("labels", self.labels, -1, self.num_classes)
        check_members("predictions", self.predictions, 0, self.num_classes)
        check_shares("confidence", self.confidence)
        check_numbers("entropy", self.entropy, low=0)
        _check_known("part", self.part, PARTS)

    def _check_pairs(self) -> None:
        check_pairs(self.pairs, self.num_nodes)
        for name in ("kind", "weight", "frequency"):
            check_shape(name, getattr(self, name), (self.pairs.shape[1],))
        _check_known("kind", self.kind, KINDS)
        check_shares("weight", self.weight)
        check_shares("frequency", self.frequency)
        check_witnesses(self.witness_pointer, self.witness_nodes, self.num_pairs, self.num_nodes)
        for name in ("witness_shares", "witness_similarity"):
            check_shape(name, getattr(self, name), self.witness_nodes.shape)
            check_shares(name, getattr(self, name))


def _check_known(name: str, values: np.ndarray, known: tuple[str, ...]) -> None:
    strange = values[~np.isin(values, known)]
    if strange.size:
        allowed = ", ".join(repr(word) for word in known)
        raise InputError(f"`{name}` must hold {allowed}, but it holds {str(strange[0])!r}.")
