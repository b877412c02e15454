"""A search over settings, judged by hidden labels."""

from collections.abc import Mapping, Sequence
from typing import Any, Self, final

import numpy as np
from rich.console import Console
from scipy.stats import rankdata
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.model_selection import ParameterGrid
from sklearn.utils.validation import check_is_fitted

from bpgnn.errors import InputError, nearest
from bpgnn.model_selection.cross_validate import cross_validate_nodes, read_folds
from bpgnn.model_selection.fitting import fit_whole, found_labels, node_classifier
from bpgnn.model_selection.scoring import Scoring, read_scoring

Grid = Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]]

_NOT_REFIT = (
    "Nothing was fitted with all labels, since `refit` is False. Search with refit=True, or fit an "
    "estimator with `best_params_` yourself."
)


@final
class NodeGridSearch(MetaEstimatorMixin, BaseEstimator):
    """Try all settings of a grid, each by cross-validation that hides labels.

    All of them are judged on the same folds. X and the graph are handed to every fit as they
    are; see :func:`cross_validate_nodes`.

    Args:
        estimator: A node classifier, or a pipeline that ends with one.
        grid: Values by parameter, as in scikit-learn's `ParameterGrid`: all their combinations
            are tried. A list of grids tries one after the other. A pipeline's parameters are
            named `step__parameter`.
        cv: Folds, as for :func:`cross_validate_nodes`.
        scoring: Scores, as for :func:`cross_validate_nodes`.
        refit: Fit the best once more with all labels; where there are several scores, the name
            of the one that says which is best.
        verbose: Show a line for each setting.

    Attributes:
        best_params_: The best settings.
        best_score_: Their mean score.
        best_estimator_: The estimator with them, fitted with all labels.
        cv_results_: Settings, scores by fold, means, deviations, ranks and times, as in
            scikit-learn's `GridSearchCV`.

    Example:
        >>> from sklearn.datasets import load_iris
        >>> from bpgnn.estimator.classifier import LatentGraphClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = LatentGraphClassifier("gcn", random_state=0)
        >>> search = NodeGridSearch(model, {"max_steps": [1, 40]}, cv=2).fit(X, y)
        >>> search.best_params_
        {'max_steps': 40}
    """

    best_params_: dict[str, Any]
    best_score_: float
    best_index_: int
    best_estimator_: Any
    cv_results_: dict[str, Any]

    def __init__(
        self,
        estimator: Any,
        grid: Grid,
        *,
        cv: Any = 5,
        scoring: Scoring = "accuracy",
        refit: bool | str = True,
        verbose: int = 0,
    ) -> None:
        """Keep the choices."""
        self.estimator = estimator
        self.grid = grid
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.verbose = verbose

    def fit(self, X: Any, y: Any, graph: Any = None) -> Self:
        """Try every setting, and fit the best one with all labels.

        Args:
            X: Features of all nodes.
            y: Labels of all nodes, some may be missing.
            graph: The graph of all nodes, if there is one.

        Returns:
            Itself, with the best settings and all results.
        """
        scores = list(read_scoring(self.scoring))
        judge = self._judge(scores)
        candidates = self._candidates()
        *_, folds = read_folds(self.cv, X, y)
        console = Console() if self.verbose > 0 else None
        found = []
        for number, candidate in enumerate(candidates, start=1):
            model = self._with(candidate)
            row = cross_validate_nodes(model, X, y, graph, cv=folds, scoring=self.scoring)
            found.append(row)
            if console is not None:
                words = ", ".join(f"{name} {row[f'test_{name}'].mean():.4f}" for name in scores)
                line = f"{number} of {len(candidates)}: {words} {candidate}"
                console.print(line, markup=False, highlight=False, soft_wrap=True)
        self.cv_results_ = _table(candidates, found, scores)
        self.best_index_ = int(self.cv_results_[f"rank_test_{judge}"].argmin())
        self.best_score_ = float(self.cv_results_[f"mean_test_{judge}"][self.best_index_])
        self.best_params_ = candidates[self.best_index_]
        if self.refit:
            self.best_estimator_ = fit_whole(self._with(self.best_params_), X, y, graph)
        return self

    def predict(self, X: Any, **edges: Any) -> np.ndarray:  # (M,)
        """Label new nodes with the best estimator; `edges_new` is handed on."""
        return self._best().predict(X, **edges)

    def predict_proba(self, X: Any, **edges: Any) -> np.ndarray:  # (M, C)
        """Give new nodes probabilities with the best estimator; `edges_new` is handed on."""
        return self._best().predict_proba(X, **edges)

    @property
    def classes_(self) -> np.ndarray:  # (C,)
        """The labels, in order."""
        return node_classifier(self._best()).classes_

    @property
    def transduction_(self) -> np.ndarray:  # (N,)
        """The label that the best estimator gave each node."""
        return found_labels(self._best())

    @property
    def label_distributions_(self) -> np.ndarray:  # (N, C)
        """The probability that the best estimator gave each class, for each node."""
        return node_classifier(self._best()).label_distributions_

    @property
    def latent_graph_(self) -> Any:
        """The best estimator's mean of the sampled graphs."""
        return node_classifier(self._best()).latent_graph_

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "best_estimator_")

    def _best(self) -> Any:
        searched = hasattr(self, "best_params_")
        check_is_fitted(self, msg=_NOT_REFIT if searched else None)
        return self.best_estimator_

    def _with(self, candidate: dict[str, Any]) -> Any:
        """Make a fresh estimator; values are copied, so that no fit changes the grid's."""
        fresh: Any = clone(self.estimator)
        values = {name: clone(value, safe=False) for name, value in candidate.items()}
        return fresh.set_params(**values)

    def _judge(self, scores: list[str]) -> str:
        """Name the score that says which is best."""
        if len(scores) == 1:
            return scores[0]
        if self.refit not in scores:
            raise InputError(
                "With several scores, `refit` must name the one that says which is best: "
                f"{', '.join(scores)}. It is {self.refit!r}."
            )
        return str(self.refit)

    def _candidates(self) -> list[dict[str, Any]]:
        try:
            candidates = list(ParameterGrid(self.grid))
        except (TypeError, ValueError) as error:
            raise InputError(
                f"`grid` must name parameters and lists of values to try. {error}"
            ) from None
        known = self.estimator.get_params(deep=True)
        for name in {name: None for candidate in candidates for name in candidate}:
            if name not in known:
                raise InputError(
                    f"{type(self.estimator).__name__} has no parameter {name!r}."
                    f"{nearest(name, known)}"
                )
        return candidates


def _table(
    candidates: list[dict[str, Any]], found: list[dict[str, Any]], scores: list[str]
) -> dict[str, Any]:
    """Lay results out as scikit-learn does: one array a column, one entry a setting."""
    table: dict[str, Any] = {}
    for name in ("fit_time", "score_time"):
        times = np.array([row[name] for row in found])
        table |= {f"mean_{name}": times.mean(1), f"std_{name}": times.std(1)}
    for name in {name: None for candidate in candidates for name in candidate}:
        column = np.ma.MaskedArray(np.empty(len(candidates), object), mask=True)
        for place, candidate in enumerate(candidates):
            if name in candidate:
                column[place] = candidate[name]
        table[f"param_{name}"] = column
    table["params"] = candidates
    for name in scores:
        values = np.array([row[f"test_{name}"] for row in found])
        for fold in range(values.shape[1]):
            table[f"split{fold}_test_{name}"] = values[:, fold]
        means = values.mean(1)
        # Rounded, as in scikit-learn, so that equal scores are not parted by the last bit.
        ranks = rankdata(-means.round(12), method="min").astype(np.int32)
        table |= {
            f"mean_test_{name}": means,
            f"std_test_{name}": values.std(1),
            f"rank_test_{name}": ranks,
        }
    return table
