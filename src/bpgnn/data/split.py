"""Which nodes train, validate and test."""

from dataclasses import replace
from typing import Literal, get_args

import numpy as np
import torch
from torch import Tensor

from bpgnn.data.dataset import Dataset, Split
from bpgnn.errors import InputError
from bpgnn.randomness import numpy_generator_for

SplitKind = Literal["complete", "public", "random"]

NUM_VALIDATION = 500
NUM_TEST = 500
_STREAM, _FEWER = 0x5B117, 0xFE3E5


def split(
    dataset: Dataset,
    kind: SplitKind,
    *,
    seed: int = 0,
    train: float = 0.6,
    validation: float = 0.2,
    test: float = 0.2,
) -> Split:
    """Choose which nodes train, validate and test.

    `complete` is the paper's: in stored order the last 500 nodes test, the 500 before them
    validate, and all others train. `public` is the split published with the data. `random` is
    drawn by `seed`, in such a way that every class has a training node if there is room.
    Nodes without a label are in no part.

    Args:
        dataset: The data.
        kind: `complete`, `public` or `random`.
        seed: Seed of the `random` split.
        train: Share of the labelled nodes that train, for `random`.
        validation: Share that validates, for `random`.
        test: Share that tests, for `random`.

    Returns:
        Three masks that do not overlap.

    Example:
        >>> from bpgnn.data.synthetic import block_model
        >>> parts = split(block_model(100, seed=0), "random", seed=1)
        >>> int(parts.train.sum()), int(parts.validation.sum()), int(parts.test.sum())
        (60, 20, 20)
    """
    if kind == "complete":
        return _complete(dataset)
    if kind == "public":
        return _public(dataset)
    if kind == "random":
        return _random(dataset, seed, (train, validation, test))
    raise InputError(f"`kind` must be one of {', '.join(get_args(SplitKind))}, but got {kind!r}.")


def with_fewer_labels(parts: Split, labels: Tensor, count: int, *, seed: int) -> Split:  # (N,)
    """Keep some training nodes of each class, drawn by `seed`; the other parts stay.

    Args:
        parts: Which nodes train, validate and test.
        labels: Class numbers.
        count: Training nodes of each class; a class with fewer keeps all.
        seed: The same seed keeps the same nodes, and more of them for a larger count.

    Example:
        >>> from bpgnn.data.synthetic import block_model
        >>> data = block_model(100, seed=0)
        >>> few = with_fewer_labels(data.chosen_split(), data.labels, 3, seed=0)
        >>> int(few.train.sum())
        12
    """
    known = labels.cpu().numpy()
    order = numpy_generator_for(seed, _FEWER).permutation(np.flatnonzero(parts.train.cpu()))
    kept = [order[known[order] == number][:count] for number in np.unique(known[order])]
    return replace(parts, train=_mask(np.concatenate(kept), known.size))


def is_possible(dataset: Dataset, kind: SplitKind) -> bool:
    """Tell whether a data set is large enough for a split, or comes with it.

    Example:
        >>> from bpgnn.data.synthetic import block_model
        >>> [is_possible(block_model(100), kind) for kind in ("complete", "public", "random")]
        [False, False, True]
    """
    if kind == "complete":
        return dataset.num_nodes > NUM_VALIDATION + 2 * NUM_TEST
    return kind == "random" or dataset.public_split is not None


def _complete(dataset: Dataset) -> Split:
    num_nodes = dataset.num_nodes
    held_out = NUM_VALIDATION + NUM_TEST
    if not is_possible(dataset, "complete"):
        raise InputError(
            f"The split 'complete' keeps {held_out} nodes for validation and test, and needs "
            f"more than {held_out + NUM_TEST} nodes, but {dataset.name} has {num_nodes}. "
            "Use the split 'random'."
        )
    position = torch.arange(num_nodes, device=dataset.labels.device)
    labelled = dataset.labels >= 0
    testing = position >= num_nodes - NUM_TEST
    training = position < num_nodes - held_out
    return Split(
        "complete", training & labelled, ~training & ~testing & labelled, testing & labelled
    )


def _public(dataset: Dataset) -> Split:
    if dataset.public_split is None:
        raise InputError(
            f"No public split was published with {dataset.name}. Use the split 'random'"
            + (" or 'complete'." if dataset.num_nodes > 1500 else ".")
        )
    return dataset.public_split


def _random(dataset: Dataset, seed: int, shares: tuple[float, float, float]) -> Split:
    labels = dataset.labels.cpu().numpy()
    labelled = np.flatnonzero(labels >= 0)
    num_train, num_validation, num_test = _part_sizes(shares, labelled.size)
    generator = numpy_generator_for(seed, _STREAM)
    order = generator.permutation(labelled)
    _, first_of_class = np.unique(labels[order], return_index=True)
    first_of_class = np.sort(first_of_class)
    order = np.concatenate([order[first_of_class], np.delete(order, first_of_class)])
    ends = np.cumsum([num_train, num_validation, num_test])
    return Split(
        "random",
        _mask(order[: ends[0]], labels.size),
        _mask(order[ends[0] : ends[1]], labels.size),
        _mask(order[ends[1] : ends[2]], labels.size),
    )


def _part_sizes(shares: tuple[float, float, float], num_labelled: int) -> tuple[int, int, int]:
    total = sum(shares)
    if not all(0 < share < 1 for share in shares) or total > 1 + 1e-9:
        raise InputError(
            "`train`, `validation` and `test` must be positive shares of at most 1 together, "
            f"but got {shares[0]}, {shares[1]} and {shares[2]}."
        )
    if num_labelled < 3:
        raise InputError(
            "A random split needs at least 3 labelled nodes, one for each part, but there are "
            f"{num_labelled}. Label more nodes."
        )
    num_validation = max(1, round(shares[1] * num_labelled))
    num_test = max(1, round(shares[2] * num_labelled))
    room = num_labelled - num_validation - num_test
    num_train = room if total > 1 - 1e-9 else min(room, max(1, round(shares[0] * num_labelled)))
    if num_train < 1:
        raise InputError(
            f"With {num_labelled} labelled nodes, {num_validation} for validation and {num_test} "
            "for test leave none for training. Choose a larger share `train`."
        )
    return num_train, num_validation, num_test


def _mask(nodes: np.ndarray, num_nodes: int) -> Tensor:
    mask = torch.zeros(num_nodes, dtype=torch.bool)
    mask[torch.from_numpy(nodes)] = True
    return mask
