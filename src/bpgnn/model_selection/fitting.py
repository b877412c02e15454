"""Fits on all of X and the whole graph, also at the end of a pipeline."""

from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from bpgnn.errors import InputError


def fit_whole(estimator: Any, X: Any, y: Any, graph: Any) -> Any:
    """Fit an estimator, and hand the graph to the last step if it is a pipeline.

    Where scikit-learn's metadata routing is switched on, that step is made to ask for it.

    Args:
        estimator: A node classifier, or a scikit-learn pipeline that ends with one.
        X: Features of all nodes.
        y: Labels of all nodes, some missing.
        graph: The graph of all nodes; not handed on if None.

    Returns:
        The estimator.
    """
    if graph is None:
        return estimator.fit(X, y)
    last = node_classifier(estimator)
    if not has_fit_parameter(last, "graph"):
        raise InputError(
            f"{type(last).__name__} takes no graph: its `fit` has no parameter of that name. Leave "
            "the graph out, or use BPGNNClassifier, LatentGraphClassifier or another that does."
        )
    if not isinstance(estimator, Pipeline):
        return estimator.fit(X, y, graph=graph)
    if get_config()["enable_metadata_routing"]:
        last.set_fit_request(graph=True)
        return estimator.fit(X, y, graph=graph)
    return estimator.fit(X, y, **{f"{estimator.steps[-1][0]}__graph": graph})


def node_classifier(estimator: Any) -> Any:
    """Return the fitted node classifier: the estimator itself, or a pipeline's last step."""
    return estimator[-1] if isinstance(estimator, Pipeline) else estimator


def found_labels(estimator: Any) -> np.ndarray:  # (N,)
    """Return the label that each node was given in the fit."""
    last = node_classifier(estimator)
    if not hasattr(last, "transduction_"):
        raise InputError(
            f"{type(last).__name__} does not label the nodes it was fitted on: it has no "
            "`transduction_`. Use BPGNNClassifier, LatentGraphClassifier or another of that kind."
        )
    return np.asarray(last.transduction_)
