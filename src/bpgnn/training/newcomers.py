"""Predictions for nodes that come after training."""

import copy
from typing import cast

import torch
from torch import Tensor

from bpgnn.data.prepare import prepare_features
from bpgnn.data.tables import metric_for, neighbours_among
from bpgnn.errors import InputError
from bpgnn.graph import Graph, check_ends, check_weights, first_outside
from bpgnn.matrix import csr_matrix
from bpgnn.method import Problem
from bpgnn.methods.registry import METHODS
from bpgnn.nn.sparse import Features, SparseMatrix
from bpgnn.randomness import generator_for
from bpgnn.training.fit import Fit
from bpgnn.training.problem import scaling_of

# A stream of the run's seed; training has the ones before.
_NEWCOMERS = 3
# Newcomers at a time: the nodes of the training are gone through once for each block.
_BLOCK = 1024


def predict_newcomers(
    fitted: Fit,
    features: Tensor,  # (M, F)
    edges: Tensor | None = None,  # (2, E)
    edge_weight: Tensor | None = None,  # (E,)
) -> Tensor:  # (S, M, C)
    """Predict nodes that were not there in training, which stays as it was.

    A newcomer's neighbourhood is its given edges and itself. The nodes of the training do not
    see it, keep their sampled graphs, and are all that it draws latent neighbours from; rows
    do not depend on one another. The arithmetic is in float64, so that they do not even in the
    last digits.

    Args:
        fitted: What a training gave.
        features: Raw values of the newcomers, scaled here as those of the training were.
        edges: Nodes of the training, and the newcomers (numbered from 0) that each joins.
        edge_weight: Positive weights, or None for ones.

    Returns:
        Class probabilities, one set for each sampled graph.

    Raises:
        InputError: If the method has no answer for newcomers, or the columns do not fit.

    Example:
        >>> from bpgnn.data.synthetic import block_model
        >>> from bpgnn.training.fit import fit
        >>> from bpgnn.training.plan import Plan
        >>> data = block_model(80, seed=0)
        >>> fitted = fit(data, Plan(changes={"max_steps": 5, "k": 4}))
        >>> predict_newcomers(fitted, data.features[:3]).shape
        torch.Size([10, 3, 4])
    """
    _check(fitted, features, edges, edge_weight)
    if features.size(0) == 0:
        return fitted.output.logits.new_empty(
            len(fitted.output.logits), 0, fitted.problem.num_classes
        )
    edges = torch.empty(2, 0, dtype=torch.long) if edges is None else edges
    if edge_weight is None:
        # One edge is one edge, also beside a weighted graph, where weights of twins add up.
        edges = cast(Tensor, torch.unique(edges, dim=1))
    features = with_layout_of(fitted.dataset.features, features)
    kind = scaling_of(fitted.dataset, fitted.method.settings)
    if kind is not None:
        features = prepare_features(features, kind, like=fitted.dataset.features)
    method = copy.deepcopy(fitted.method).double().eval()
    parts = []
    for begin in range(0, features.size(0), _BLOCK):
        end = min(begin + _BLOCK, features.size(0))
        here = (edges[1] >= begin) & (edges[1] < end)
        moved = torch.stack([edges[0, here], edges[1, here] - begin])
        weight = None if edge_weight is None else edge_weight[here]
        problem = _extended(fitted.problem, _rows(features, begin, end), moved, weight)
        generator = generator_for(fitted.record.seed, _NEWCOMERS, device=moved.device)
        with torch.no_grad():
            output = method(
                problem,
                generator=generator,
                num_samples=len(fitted.output.logits),
                draws=fitted.output.draws,
            )
        parts.append(output.logits[:, fitted.problem.num_nodes :].softmax(-1))
    return torch.cat(parts, dim=1)


def nearest_known(fitted: Fit, features: Tensor, k: int) -> Tensor:  # (M, F) -> (2, M * k)
    """Join newcomers with their nearest nodes of the training, where that had no graph either.

    Args:
        fitted: What a training gave.
        features: Raw values of the newcomers, shape (M, F).
        k: Neighbours of each; all nodes of the training where these are fewer.

    Returns:
        The `edges` of :func:`predict_newcomers`.

    Raises:
        InputError: If the method has no answer for newcomers, or the columns do not fit.

    Example:
        >>> from bpgnn.data.catalog import load
        >>> from bpgnn.training.fit import fit
        >>> from bpgnn.training.plan import Plan
        >>> wine = load("wine")
        >>> fitted = fit(wine, Plan("gcn", changes={"max_steps": 1}))
        >>> nearest_known(fitted, wine.features[5:6], 1).tolist()
        [[5], [0]]
    """
    _check(fitted, features, None, None)
    if features.size(0) == 0:
        return torch.empty(2, 0, dtype=torch.long)
    data = fitted.dataset
    known = prepare_features(data.features, data.feature_kind)
    new = with_layout_of(data.features, features)
    new = prepare_features(new, data.feature_kind, like=data.features)
    return neighbours_among(new, known, min(k, data.num_nodes), metric_for(data.feature_kind))


def _check(fitted: Fit, features: Tensor, edges: Tensor | None, edge_weight: Tensor | None) -> None:
    name = fitted.record.method
    if not fitted.method.takes_newcomers:
        able = ", ".join(name for name, method in METHODS.items() if method.takes_newcomers)
        raise InputError(
            f"{name} has no answer for nodes that come after training: its graph is learned for "
            f"the nodes it has seen. Train again with all nodes, or take one of: {able}."
        )
    wanted = fitted.dataset.num_features
    if features.dim() != 2 or features.size(1) != wanted or not features.is_floating_point():
        raise InputError(
            f"`features` must have the {wanted} columns of the training, as floating-point "
            f"numbers, but got {features.dtype} of shape {tuple(features.shape)}."
        )
    values = features.values() if features.layout == torch.sparse_csr else features
    if not bool(torch.isfinite(values).all()):
        raise InputError("`features` must be finite. Fill or drop what is missing first.")
    if edges is not None:
        check_ends(edges, name="edges")
        for row, count, whose in (
            (0, fitted.problem.num_nodes, "nodes of the training"),
            (1, features.size(0), "newcomers"),
        ):
            if (strange := first_outside(edges[row], count)) is not None:
                raise InputError(
                    f"Row {row} of `edges` must number {whose}, from 0 to {count - 1}, but it "
                    f"holds {strange}."
                )
        check_weights(edge_weight, edges.size(1))


def _extended(
    problem: Problem,
    features: Tensor,  # (M, F)
    edges: Tensor,  # (2, E)
    weight: Tensor | None,  # (E,)
) -> Problem:
    """Append nodes that receive edges and give none."""
    device = problem.labels.device
    num_nodes = problem.num_nodes + features.size(0)
    unknown = torch.full((features.size(0),), -1, device=device)
    return Problem(
        features=_stacked(problem.features, features.to(device)),
        labels=torch.cat([problem.labels, unknown]),
        graph=_joined(problem.graph, problem.num_nodes, num_nodes, edges.to(device), weight),
        train=problem.train,
        num_classes=problem.num_classes,
    )


def _joined(
    graph: Graph | None, num_known: int, num_nodes: int, edges: Tensor, weight: Tensor | None
) -> Graph | None:
    entering = torch.stack([edges[0], edges[1] + num_known])
    if graph is None and edges.size(1) == 0:
        return None
    graph = graph or Graph.empty(num_known).to(edges.device)
    both = torch.cat([graph.edge_index, entering], dim=1)
    if graph.edge_weight is None and weight is None:
        return Graph.from_edge_index(both, num_nodes)
    own = torch.ones(edges.size(1)) if weight is None else weight
    weights = torch.cat([graph.weights.double(), own.to(edges.device).double()])
    return Graph.from_edge_index(both, num_nodes, weights)


def with_layout_of(known: Tensor, features: Tensor) -> Tensor:  # (N, F), (M, F) -> (M, F)
    """Give values the layout, dense or sparse, that those of the training have."""
    if known.layout != torch.sparse_csr:
        return features.to_dense() if features.layout == torch.sparse_csr else features
    return features if features.layout == torch.sparse_csr else features.to_sparse_csr()


def _stacked(known: Features, new: Tensor) -> Features:
    if isinstance(known, Tensor):
        return torch.cat([known.double(), new.double()])
    pointer = torch.cat([known.pointer, known.pointer[-1] + new.crow_indices()[1:].long()])
    column = torch.cat([known.column, new.col_indices().long()])
    value = torch.cat([known.value.double(), new.values().double()])
    shape = (known.shape[0] + new.size(0), known.shape[1])
    return SparseMatrix.from_csr(csr_matrix(pointer, column, value, shape))


def _rows(features: Tensor, begin: int, end: int) -> Tensor:
    if features.layout != torch.sparse_csr:
        return features[begin:end]
    pointer = features.crow_indices()[begin : end + 1]
    first, last = int(pointer[0]), int(pointer[-1])
    return csr_matrix(
        pointer - first,
        features.col_indices()[first:last],
        features.values()[first:last],
        (end - begin, features.size(1)),
    )
