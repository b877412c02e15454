"""Cross-validation that hides labels and keeps every node and edge."""

import time
from collections.abc import Iterable
from typing import Any

import numpy as np
from rich.console import Console
from sklearn.base import clone

from bpgnn.errors import InputError
from bpgnn.estimator.labels import read_labels
from bpgnn.model_selection.fitting import fit_whole, found_labels, node_classifier
from bpgnn.model_selection.folds import NodeKFold
from bpgnn.model_selection.hide import hide_labels
from bpgnn.model_selection.scoring import Hidden, Scoring, read_scoring

Folds = list[tuple[np.ndarray, np.ndarray]]


def cross_validate_nodes(
    estimator: Any,
    X: Any,
    y: Any,
    graph: Any = None,
    *,
    cv: Any = 5,
    scoring: Scoring = "accuracy",
    return_estimator: bool = False,
    verbose: int = 0,
) -> dict[str, Any]:
    """Judge a node classifier by labels it has not seen.

    Each fold's labels are hidden in turn, a fresh estimator is fitted on all of X and the whole
    graph, and the labels that it gives the hidden nodes are compared with the true ones.

    Args:
        estimator: A node classifier, or a pipeline that ends with one, which gets the graph.
        X: Features of all nodes, handed on as they are.
        y: Labels of all nodes, some may be missing.
        graph: The graph of all nodes, handed on as it is; see :meth:`BPGNNClassifier.fit`.
        cv: A number of folds, drawn the same every time; a :class:`NodeKFold` or another
            splitter; or pairs of nodes that train and nodes that are tested.
        scoring: `accuracy`, `balanced_accuracy`, `f1_macro`, `f1_micro`, `f1_weighted`,
            `matthews_corrcoef` or `neg_log_loss`; a function of true and found labels; or
            several of them by name.
        return_estimator: Return the fitted estimators too.
        verbose: Show a line for each fold.

    Returns:
        As scikit-learn's `cross_validate`: an array of `test_score`, or of `test_NAME` for each
        name, with one number a fold; `fit_time` and `score_time` in seconds; `estimator`.

    Example:
        >>> from sklearn.datasets import load_iris
        >>> from bpgnn.estimator.classifier import LatentGraphClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = LatentGraphClassifier("gcn", max_steps=40, random_state=0)
        >>> found = cross_validate_nodes(model, X, y, cv=2)
        >>> bool(found["test_score"].mean() > 0.8)
        True
    """
    scores = read_scoring(scoring)
    classes, codes, folds = read_folds(cv, X, y)
    console = Console() if verbose > 0 else None
    rows, models = [], []
    for number, (train, test) in enumerate(folds, start=1):
        model = clone(estimator)
        begun = time.perf_counter()
        fit_whole(model, X, hide_labels(y, _all_but(train, len(codes))), graph)
        fitted = time.perf_counter()
        hidden = _hidden(model, classes[codes[test]], test)
        row = {f"test_{name}": score(hidden) for name, score in scores.items()}
        times = {"fit_time": fitted - begun, "score_time": time.perf_counter() - fitted}
        rows.append({**times, **row})
        models.append(model)
        if console is not None:
            words = ", ".join(f"{name[5:]} {value:.4f}" for name, value in row.items())
            console.print(f"fold {number} of {len(folds)}: {words} ({fitted - begun:.1f} s)")
    found: dict[str, Any] = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    return {**found, "estimator": models} if return_estimator else found


def read_folds(cv: Any, X: Any, y: Any) -> tuple[np.ndarray, np.ndarray, Folds]:  # (C,), (N,)
    """Read which nodes train and which are tested, fold by fold.

    Args:
        cv: A number, a splitter or pairs, as for :func:`cross_validate_nodes`.
        X: Features, for splitters that look at them.
        y: Labels, some missing.

    Returns:
        The classes as an estimator names them, the class number of each node, -1 where missing,
        and the folds.
    """
    whole = hide_labels(y, [])
    classes, numbers = read_labels(whole, len(whole))
    codes = numbers.numpy()
    if isinstance(cv, int | np.integer):
        cv = NodeKFold(int(cv), random_state=0)
    if hasattr(cv, "split") and not isinstance(cv, str):
        # Scikit-learn's splitters cannot read None among texts; -1 all of them can.
        cv = cv.split(X, codes)
    if not isinstance(cv, Iterable) or isinstance(cv, str):
        raise InputError(
            f"`cv` must be a number of folds, a splitter such as NodeKFold, or pairs of nodes that "
            f"train and nodes that are tested, but got {cv!r}."
        )
    folds = [_checked(pair, codes) for pair in cv]
    if not folds:
        raise InputError("`cv` has no folds. Give a number of them, or at least one pair.")
    return classes, codes, folds


def _checked(pair: Any, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Leave the labelled nodes of a fold, and refuse one that would test what it trains with."""
    try:
        train, test = (np.arange(len(codes))[np.asarray(part)] for part in pair)
    except (TypeError, ValueError, IndexError):
        raise InputError(
            "`cv` must yield pairs of nodes that train and nodes that are tested, as numbers from "
            f"0 to {len(codes) - 1} or masks."
        ) from None
    if len(np.intersect1d(train, test)) > 0:
        raise InputError("A fold of `cv` tests nodes that it trains with. Part the two.")
    train, test = (part[codes[part] >= 0] for part in (train, test))
    if len(train) == 0 or len(test) == 0:
        raise InputError("A fold of `cv` has no labelled node to train with, or none to test.")
    return train, test


def _all_but(train: np.ndarray, num_nodes: int) -> np.ndarray:  # (N,)
    """Mark what a fold must not see: every label that is not among those it trains with."""
    hidden = np.ones(num_nodes, bool)
    hidden[train] = False
    return hidden


def _hidden(model: Any, truth: np.ndarray, test: np.ndarray) -> Hidden:
    found, last = found_labels(model), node_classifier(model)
    chances = getattr(last, "label_distributions_", None)
    return Hidden(
        truth=truth,
        found=found[test],
        probabilities=None if chances is None else np.asarray(chances)[test],
        classes=np.asarray(getattr(last, "classes_", np.unique(found))),
    )
