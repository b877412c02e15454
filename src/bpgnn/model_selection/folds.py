"""Folds of the labelled nodes."""

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any, final

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold

from bpgnn.errors import InputError
from bpgnn.estimator.labels import read_labels


@final
@dataclass(frozen=True)
class NodeKFold:
    """Part the labelled nodes into folds, each of which is tested once.

    Nodes without a label are in no fold: they can neither teach nor be judged. It is a
    scikit-learn splitter; for the rest of a graph's sake, hand it to
    :func:`cross_validate_nodes`, which hides labels, and not to `cross_validate`, which cuts
    rows out.

    Args:
        n_splits: Number of folds.
        stratified: Give every fold about the same share of each class.
        shuffle: Draw the folds, instead of taking nodes in order.
        random_state: Where the draw comes from.

    Example:
        >>> folds = NodeKFold(2, shuffle=False)
        >>> for train, test in folds.split(None, [0, 1, -1, 0, 1]):
        ...     print(train.tolist(), test.tolist())
        [3, 4] [0, 1]
        [0, 1] [3, 4]
    """

    n_splits: int = 5
    _: KW_ONLY
    stratified: bool = True
    shuffle: bool = True
    random_state: Any = None

    def __post_init__(self) -> None:
        """Refuse what is no number of folds."""
        whole = isinstance(self.n_splits, int | np.integer) and not isinstance(self.n_splits, bool)
        if not whole or self.n_splits < 2:
            raise InputError(
                f"`n_splits` must be a whole number from 2 up, but got {self.n_splits!r}."
            )

    def split(self, X: Any, y: Any, groups: Any = None) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the nodes that train and the nodes that are tested, in the order of X.

        Args:
            X: Not looked at; scikit-learn's splitters have it.
            y: Labels, some of them missing (see :meth:`BPGNNClassifier.fit`).
            groups: Not looked at.
        """
        del X, groups
        if y is None:
            raise InputError("Folds are made of labelled nodes: hand in `y`, one label a node.")
        codes = read_labels(y, len(y))[1].numpy()
        known = np.flatnonzero(codes >= 0)
        self._check_enough(codes[known])
        kind = StratifiedKFold if self.stratified else KFold
        seed = self.random_state if self.shuffle else None
        folds = kind(self.n_splits, shuffle=self.shuffle, random_state=seed)
        for train, test in folds.split(known, codes[known]):
            yield known[train], known[test]

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of folds; nothing that is handed in changes it."""
        del X, y, groups
        return int(self.n_splits)

    def _check_enough(self, codes: np.ndarray) -> None:
        # Scikit-learn only warns of a class that some fold would lack; its score would then be
        # of another problem than that of the other folds.
        counts = np.bincount(codes)
        if self.stratified and counts.min() < self.n_splits:
            raise InputError(
                f"{self.n_splits} folds with a share of every class need as many labels of each, "
                f"but one class has {counts.min()} only. Make fewer folds, or set "
                "stratified=False."
            )
        if len(codes) < self.n_splits:
            raise InputError(
                f"{self.n_splits} folds need as many labelled nodes, but there are {len(codes)}. "
                "Make fewer folds."
            )
