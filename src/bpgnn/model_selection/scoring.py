"""How well hidden labels were found, by name."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, cast, final

import numpy as np
from sklearn import metrics

from bpgnn.errors import InputError, nearest


@final
@dataclass(frozen=True, eq=False)
class Hidden:
    """Hold what is known of a fold's hidden nodes.

    Args:
        truth: Their true labels, shape (M,).
        found: The labels they were given, shape (M,).
        probabilities: Theirs of each class, shape (M, C); None if the estimator gives none.
        classes: The classes that the estimator has seen, in the columns' order, shape (C,).
    """

    truth: np.ndarray
    found: np.ndarray
    probabilities: np.ndarray | None
    classes: np.ndarray


Score = Callable[[Hidden], float]
Scoring = str | Callable[[Any, Any], float] | Mapping[str, str | Callable[[Any, Any], float]]


def read_scoring(scoring: Scoring) -> dict[str, Score]:
    """Look scores up by name; a single one is named `score`.

    Args:
        scoring: A name, a function of true and found labels, or several of them by name.

    Returns:
        The scores; more is better.

    Example:
        >>> list(read_scoring({"right": "accuracy", "fair": "f1_macro"}))
        ['right', 'fair']
    """
    if not isinstance(scoring, Mapping):
        return {"score": _read_one(scoring)}
    if not scoring:
        raise InputError("`scoring` is empty. Name at least one score, such as 'accuracy'.")
    return {str(name): _read_one(one) for name, one in scoring.items()}


def negative_log_loss(hidden: Hidden) -> float:
    """Average the logarithm of the probability that each true label was given.

    A class that was never seen in training has the least probability there is.
    """
    if hidden.probabilities is None:
        raise InputError(
            "The score neg_log_loss needs `label_distributions_`, which this estimator has not. "
            "Choose another score, such as 'accuracy'."
        )
    given = hidden.truth[:, None] == hidden.classes[None, :]  # (M, C)
    least = np.finfo(np.float64).eps
    chances = np.where(given, hidden.probabilities, 0.0).sum(1)
    return float(np.log(np.clip(chances, least, 1.0)).mean())


def _balanced_accuracy(truth: np.ndarray, found: np.ndarray) -> float:
    # As balanced_accuracy_score, but silent where a class is found that no hidden node has.
    return float(np.mean([np.mean(found[truth == label] == label) for label in np.unique(truth)]))


def _of_labels(score: Callable[[Any, Any], Any]) -> Score:
    def judge(hidden: Hidden) -> float:
        value = score(hidden.truth, hidden.found)
        try:
            return float(value)
        except (TypeError, ValueError):
            raise InputError(
                f"A score must be one number, but {score!r} returned {value!r}."
            ) from None

    return judge


def _f1(average: str) -> Score:
    # Scikit-learn's own default for what is undefined, said aloud so that it does not warn.
    return _of_labels(partial(metrics.f1_score, average=average, zero_division=cast(Any, 0)))


SCORES: dict[str, Score] = {
    "accuracy": _of_labels(metrics.accuracy_score),
    "balanced_accuracy": _of_labels(_balanced_accuracy),
    "f1_macro": _f1("macro"),
    "f1_micro": _f1("micro"),
    "f1_weighted": _f1("weighted"),
    "matthews_corrcoef": _of_labels(metrics.matthews_corrcoef),
    "neg_log_loss": negative_log_loss,
}


def _read_one(scoring: Any) -> Score:
    if isinstance(scoring, str):
        if scoring not in SCORES:
            raise InputError(f"There is no score {scoring!r}.{nearest(scoring, SCORES)}")
        return SCORES[scoring]
    if not callable(scoring):
        raise InputError(
            "`scoring` must be a name, a function of true and found labels, or a dictionary of "
            f"them, but got {scoring!r}."
        )
    if not _takes_two(scoring):
        raise InputError(
            f"A score must be a function of true and found labels, such as "
            f"sklearn.metrics.f1_score, but {scoring!r} does not take these two alone."
        )
    return _of_labels(scoring)


def _takes_two(score: Callable[..., Any]) -> bool:
    """Tell whether a function can be called with two values; a scorer of an estimator cannot."""
    try:
        inspect.signature(score).bind(None, None)
    except TypeError:
        return False
    except ValueError:  # some functions written in C do not say what they take
        return True
    return True
