"""Classifiers in scikit-learn's manner."""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, Self, final

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_consistent_length, check_is_fitted
from torch import Tensor
from typing_extensions import override

from bpgnn.data.catalog import with_neighbours
from bpgnn.data.dataset import Dataset, Split
from bpgnn.data.files.columns import Columns
from bpgnn.data.prepare import guess_kind
from bpgnn.errors import InputError
from bpgnn.estimator.features import (
    read_new_features,
    read_training_features,
    row_names,
    row_of,
)
from bpgnn.estimator.graphs import read_edges, read_graph
from bpgnn.estimator.labels import check_order, known_labels, read_labels
from bpgnn.estimator.save import (
    classes_from_json,
    classes_to_json,
    plain,
    read_model,
    write_model,
)
from bpgnn.estimator.validation import hold_out
from bpgnn.estimator.weights import read_class_weight
from bpgnn.explain.edge import EdgeReasons, explain_edge
from bpgnn.graph import Graph
from bpgnn.training.bar import training_bar
from bpgnn.training.fit import Evaluation, Fit, fit
from bpgnn.training.logs.log import watched_by
from bpgnn.training.newcomers import nearest_known, predict_newcomers
from bpgnn.training.plan import Plan
from bpgnn.training.sized import sized

# Steps where no labels are kept aside to say when to stop. Measured on digits, 20 labels a
# class: 98.3 % after 150 steps.
_STEPS = 150


class _NodeClassifier(ClassifierMixin, BaseEstimator, ABC):
    """Label all nodes of a graph, or of a table, from the labels of some."""

    # What every one of them is made with; each sets it itself, as scikit-learn wants.
    num_neighbors: int
    max_steps: int | None
    validation_share: float | Literal["auto"]
    class_weight: Any
    settings: Mapping[str, Any] | None
    random_state: Any
    device: str
    verbose: int
    callbacks: Sequence[Callable[[Evaluation], None]]

    classes_: np.ndarray
    transduction_: np.ndarray
    label_distributions_: np.ndarray
    latent_graph_: Graph | None
    fit_: Fit
    columns_: Columns | None
    is_neighbour_graph_: bool
    n_features_in_: int
    feature_names_in_: np.ndarray

    @abstractmethod
    def _plan(self) -> tuple[str, str, dict[str, Any]]:
        """Name the method, its preset and the settings that differ."""

    def fit(self, X: Any, y: Any, graph: Any = None) -> Self:
        """Learn from the labelled nodes, and label all of them.

        Args:
            X: Features, one row a node: an array, a scipy sparse matrix or a pandas frame of
                numbers and categories. Missing values and dates are refused.
            y: Labels. Missing ones are -1 among numbers, and None, NaN, or a text that says nothing
                ("", "NA", "N/A", "NaN" or "null") among others.
            graph: A scipy sparse matrix (weights are kept), an array of edges of shape (2, E) or
                (E, 2), a list of tuples, a frame of pairs, a networkx graph or PyG's `Data`,
                whose edges go both ways; None joins each node with its nearest. An array of
                two by two is read as (2, E).

        Returns:
            Itself, with `transduction_`, `label_distributions_`, `latent_graph_`, `classes_`.
        """
        self._check_choices()
        features, columns = read_training_features(self, X)
        num_nodes = features.size(0)
        check_order(row_names(X), y)
        classes, labels = read_labels(y, num_nodes)
        kind = guess_kind(features) if columns is None else "table"
        observed = None if graph is None else read_graph(graph, num_nodes, row_names(X))
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        split = hold_out(labels, self.validation_share, seed)
        dataset = Dataset(
            name="own",
            features=features,
            labels=labels,
            graph=observed,
            split=split,
            class_names=tuple(str(name) for name in classes),
            node_names=_texts(row_names(X)),
            feature_kind=kind,
        )
        if graph is None:
            dataset = with_neighbours(dataset, min(self.num_neighbors, num_nodes - 1))
        weights = read_class_weight(self.class_weight, classes)
        found = self._train(dataset, split, seed, weights)
        self.classes_, self.columns_, self.is_neighbour_graph_ = classes, columns, graph is None
        return self._keep(found)

    def predict_proba(self, X: Any, edges_new: Any = None) -> np.ndarray:  # (M, C)
        """Give new nodes a probability of each class; nothing of the training changes.

        Args:
            X: Features of the new nodes, with the columns of the training.
            edges_new: Pairs (row of the training's X, row of this X), each of weight one: a list
                of tuples, a frame, or an array of shape (2, E) or (E, 2); one of two by two is
                read as (2, E). If None, each is joined with its nearest where the training had
                no graph, and has itself alone where it had.

        Returns:
            Probabilities in the order of `classes_`; rows do not depend on one another.
        """
        check_is_fitted(self, "fit_")
        features = read_new_features(self, X, self.columns_)
        edges = None
        if edges_new is not None:
            edges = read_edges(edges_new, self.fit_.dataset.num_nodes, features.size(0))
        elif self.is_neighbour_graph_:
            edges = nearest_known(self.fit_, features, self.num_neighbors)
        return predict_newcomers(self.fit_, features, edges).mean(0).cpu().numpy()

    def predict(self, X: Any, edges_new: Any = None) -> np.ndarray:  # (M,)
        """Label new nodes; see :meth:`predict_proba`."""
        return self.classes_of(self.predict_proba(X, edges_new))

    @override
    def score(self, X: Any, y: Any, sample_weight: Any = None, edges_new: Any = None) -> float:
        """Measure the accuracy on new nodes; see :meth:`predict_proba`.

        Rows whose label is missing, in the manner of :meth:`fit`, are not counted.
        """
        found = self.predict(X, edges_new)
        truth, missing = known_labels(y)
        check_consistent_length(found, missing, sample_weight)
        if len(truth) == 0:
            raise InputError("No row of `y` has a label, so there is nothing to measure.")
        weight = None if sample_weight is None else np.asarray(sample_weight)[~missing]
        return float(accuracy_score(truth, found[~missing], sample_weight=weight))

    def classes_of(self, probabilities: np.ndarray) -> np.ndarray:  # (M, C) -> (M,)
        """Name the most probable class of each row."""
        return self.classes_[probabilities.argmax(1)]

    def explain_edge(self, target: int | str, source: int | str) -> EdgeReasons:
        """Say why the latent edge from one node to another is as likely as it is.

        Args:
            target: The row of X that would get the message: its number, or as text its name in
                the index of a frame.
            source: The row of X that would send it.

        Returns:
            Who speaks for the edge, and with what share.
        """
        check_is_fitted(self, "fit_")
        names = self.fit_.dataset.node_names
        rows = [row_of(node, names) for node in (target, source)]
        return explain_edge(self.fit_.method, self.fit_.output, *rows)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted classifier to one file; no code runs when it is loaded.

        Callbacks, and a `random_state` that is not a number, are left out.
        """
        check_is_fitted(self, "fit_")
        values = {
            "estimator": type(self).__name__,
            "parameters": plain(self.get_params(deep=False)),
            "classes": classes_to_json(self.classes_),
            "is_neighbour_graph": self.is_neighbour_graph_,
            "names": [str(name) for name in getattr(self, "feature_names_in_", ())],
            "num_features": int(self.n_features_in_),
        }
        write_model(path, self.fit_, self.columns_, values)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a classifier that was saved, here or elsewhere."""
        fitted, columns, values = read_model(path)
        try:
            if values["estimator"] != cls.__name__:
                raise InputError(f"{path} holds a {values['estimator']}. Load it with that class.")
            model = cls(**values["parameters"])
            model.classes_ = classes_from_json(values["classes"], fitted.problem.num_classes)
            model.is_neighbour_graph_ = bool(values["is_neighbour_graph"])
            model.n_features_in_ = int(values["num_features"])
            names = np.array([str(name) for name in values["names"]], dtype=object)
        except InputError:
            raise
        except (LookupError, TypeError, ValueError) as error:
            raise InputError(f"{path} is damaged ({error}). Save the model again.") from None
        if len(names) > 0:
            model.feature_names_in_ = names
        model.columns_ = columns
        return model._keep(fitted)

    @override
    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _check_choices(self) -> None:
        """Refuse what no method would, since none of them sees it."""
        count = self.num_neighbors
        whole = isinstance(count, int | np.integer) and not isinstance(count, bool)
        if not whole or count < 1:
            raise InputError(
                f"`num_neighbors` must be a whole number from 1 up, but got {count!r}."
            )
        if not isinstance(self.callbacks, Sequence) or not all(map(callable, self.callbacks)):
            raise InputError(
                f"`callbacks` must be a list of functions, but got {self.callbacks!r}. Write "
                "[function] for one, and () for none."
            )
        if not isinstance(self.settings, Mapping | None):
            raise InputError(
                f"`settings` must be a dictionary of values by name, but got {self.settings!r}."
            )

    def _keep(self, found: Fit) -> Self:
        self.fit_ = found
        self.label_distributions_ = found.probabilities.double().numpy()
        self.label_distributions_ /= self.label_distributions_.sum(1, keepdims=True)
        self.transduction_ = self.classes_of(self.label_distributions_)
        self.latent_graph_ = found.latent_graph
        return self

    def _train(self, dataset: Dataset, split: Split, seed: int, class_weight: Tensor | None) -> Fit:
        method, preset, changes = self._plan()
        if self.class_weight is not None:
            changes["class_weight"] = "balanced"
        if not bool(split.validation.any()):
            changes.setdefault("max_steps", _STEPS)
        plan = Plan(method, preset, seed=seed, changes=changes, device=self.device)
        plan, _ = sized(plan, dataset.name, dataset.num_nodes)
        plan = replace(plan, changes={**(plan.changes or {}), **(self.settings or {})})
        with training_bar(plan.settings_for(dataset.name), shown=self.verbose > 0) as watch:
            return fit(
                dataset,
                plan,
                watch=watched_by([watch, *self.callbacks])
                if self.verbose or self.callbacks
                else None,
                class_weight=class_weight,
            )


@final
class BPGNNClassifier(_NodeClassifier):
    """Classify nodes, or rows of a table, over graphs inferred by the Boolean product.

    "Boolean Product Graph Neural Networks", Wang, Liu and Xiang, 2024. Rows without a label are
    part of the training: hand in all rows you have, and mark what you do not know.

    Args:
        k: Latent neighbours drawn for each node, all others where there are fewer; None for the
            preset's.
        latent_dim: Dimensions of the space that edges are inferred in; None for the preset's,
            or 4 from 10 000 nodes on.
        num_neighbors: Nearest neighbours that stand in for the graph where there is none; all
            others where there are fewer.
        max_steps: Most training steps; None for the preset's, 150 without validation, 300 from
            3 000 nodes on, or 200 from 10 000.
        validation_share: Share of the labels kept aside to say when to stop; 0 trains on all.
            `auto` keeps a fifth of 500 labels or more, and none of fewer.
        class_weight: None, `balanced`, or a weight by class.
        settings: Any other setting of the method by name (`bpgnn.METHODS["bpgnn"]`).
        random_state: Where all randomness comes from.
        device: Where to compute.
        verbose: Show a progress bar.
        callbacks: Called after each step with how the training stands.

    Attributes:
        classes_: The labels, in order.
        transduction_: The label that each node was given.
        label_distributions_: The probability of each class for each node.
        latent_graph_: The mean of the sampled graphs, with weights.

    Example:
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> some = np.where(np.arange(150) % 10 == 0, y, -1)
        >>> model = BPGNNClassifier(max_steps=60, random_state=0).fit(X, some)
        >>> bool((model.transduction_ == y).mean() > 0.8)
        True
        >>> model.predict(X[:2]).tolist()
        [0, 0]
    """

    def __init__(
        self,
        *,
        k: int | None = None,
        latent_dim: int | None = None,
        num_neighbors: int = 7,
        max_steps: int | None = None,
        validation_share: float | Literal["auto"] = "auto",
        class_weight: Any = None,
        settings: Mapping[str, Any] | None = None,
        random_state: Any = None,
        device: str = "cpu",
        verbose: int = 0,
        callbacks: Sequence[Callable[[Evaluation], None]] = (),
    ) -> None:
        """Keep the choices."""
        self.k = k
        self.latent_dim = latent_dim
        self.num_neighbors = num_neighbors
        self.max_steps = max_steps
        self.validation_share = validation_share
        self.class_weight = class_weight
        self.settings = settings
        self.random_state = random_state
        self.device = device
        self.verbose = verbose
        self.callbacks = callbacks

    @override
    def _plan(self) -> tuple[str, str, dict[str, Any]]:
        chosen = {"k": self.k, "latent_dim": self.latent_dim, "max_steps": self.max_steps}
        return "bpgnn", "tuned", {name: v for name, v in chosen.items() if v is not None}


@final
class LatentGraphClassifier(_NodeClassifier):
    """Classify nodes, or rows of a table, by any method of the library.

    Args:
        method: A name among `bpgnn.METHODS`.
        preset: Its settings: `tuned`, `paper` or `published`.
        num_neighbors: Nearest neighbours that stand in for the graph where there is none; all
            others where there are fewer.
        max_steps: Most training steps; None for the preset's, or 150 without validation.
        validation_share: Share of the labels kept aside to say when to stop; 0 trains on all.
            `auto` keeps a fifth of 500 labels or more, and none of fewer.
        class_weight: None, `balanced`, or a weight by class.
        settings: Any other setting of the method by name.
        random_state: Where all randomness comes from.
        device: Where to compute.
        verbose: Show a progress bar.
        callbacks: Called after each step with how the training stands.

    Example:
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> model = LatentGraphClassifier("gcn", max_steps=60, random_state=0).fit(X, y)
        >>> bool(model.score(X, y) > 0.8)
        True
    """

    def __init__(
        self,
        method: str = "bpgnn",
        *,
        preset: str = "tuned",
        num_neighbors: int = 7,
        max_steps: int | None = None,
        validation_share: float | Literal["auto"] = "auto",
        class_weight: Any = None,
        settings: Mapping[str, Any] | None = None,
        random_state: Any = None,
        device: str = "cpu",
        verbose: int = 0,
        callbacks: Sequence[Callable[[Evaluation], None]] = (),
    ) -> None:
        """Keep the choices."""
        self.method = method
        self.preset = preset
        self.num_neighbors = num_neighbors
        self.max_steps = max_steps
        self.validation_share = validation_share
        self.class_weight = class_weight
        self.settings = settings
        self.random_state = random_state
        self.device = device
        self.verbose = verbose
        self.callbacks = callbacks

    @override
    def _plan(self) -> tuple[str, str, dict[str, Any]]:
        steps = {} if self.max_steps is None else {"max_steps": self.max_steps}
        return self.method, self.preset, steps


def _texts(names: np.ndarray | None) -> tuple[str, ...]:
    return () if names is None else tuple(str(name) for name in names)
