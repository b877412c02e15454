"""What an aggregation over a graph is, and the weighted sum that each is made of."""

from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn
from torch.autograd.function import FunctionCtx
from typing_extensions import override

from bpgnn.graph import Graph
from bpgnn.matrix import csr_matrix, products_at, times
from bpgnn.nn.sparse import Features


class Aggregation(nn.Module, ABC):
    """Update every node from its neighbours, over edges with weights.

    Weights come as logarithms, since the attention of GAT adds them to its own.
    """

    @abstractmethod
    @override
    def forward(
        self,
        features: Features,  # (N, F)
        graph: Graph,
        log_weight: Tensor | None,  # (E,)
        *,
        generator: torch.Generator,
    ) -> Tensor:  # (N, D)
        """Aggregate; `log_weight` is None where every edge has weight one."""


class _WeightedSum(torch.autograd.Function):
    """Multiply by a sparse matrix, so that no message is ever written down.

    Its gradients are made of differentiable parts, so that they have gradients, too.
    """

    @staticmethod
    def forward(ctx: FunctionCtx, states: Tensor, weight: Tensor, graph: Graph) -> Tensor:
        ctx.graph = graph  # pyright: ignore[reportAttributeAccessIssue]
        ctx.save_for_backward(states, weight)
        shape = (graph.num_nodes, graph.num_nodes)
        return times(csr_matrix(graph.row_pointer, graph.sources, weight, shape), states)

    @staticmethod
    def backward(ctx: FunctionCtx, gradient: Tensor) -> tuple[Tensor | None, Tensor | None, None]:  # pyright: ignore[reportIncompatibleMethodOverride]
        graph: Graph = ctx.graph  # pyright: ignore[reportAttributeAccessIssue]
        states, weight = ctx.saved_tensors  # pyright: ignore[reportAttributeAccessIssue]
        needed = ctx.needs_input_grad  # pyright: ignore[reportAttributeAccessIssue]
        to_states = to_weight = None
        if needed[0]:
            turned, order = graph.turned
            to_states = weighted_sum(gradient, turned, weight[order])
        if needed[1]:
            to_weight = edge_products(gradient, states, graph)
        return to_states, to_weight, None


class _EdgeProducts(torch.autograd.Function):
    """Multiply the states at both ends of every edge; the sums above are its gradient."""

    @staticmethod
    def forward(ctx: FunctionCtx, left: Tensor, right: Tensor, graph: Graph) -> Tensor:
        ctx.graph = graph  # pyright: ignore[reportAttributeAccessIssue]
        ctx.save_for_backward(left, right)
        return products_at(graph.row_pointer, graph.sources, left, right)

    @staticmethod
    def backward(ctx: FunctionCtx, gradient: Tensor) -> tuple[Tensor | None, Tensor | None, None]:  # pyright: ignore[reportIncompatibleMethodOverride]
        graph: Graph = ctx.graph  # pyright: ignore[reportAttributeAccessIssue]
        left, right = ctx.saved_tensors  # pyright: ignore[reportAttributeAccessIssue]
        needed = ctx.needs_input_grad  # pyright: ignore[reportAttributeAccessIssue]
        to_left = to_right = None
        if needed[0]:
            to_left = weighted_sum(right, graph, gradient)
        if needed[1]:
            turned, order = graph.turned
            to_right = weighted_sum(left, turned, gradient[order])
        return to_left, to_right, None


def weighted_sum(states: Tensor, graph: Graph, weight: Tensor) -> Tensor:  # (N, D), (E,) -> (N, D)
    r"""Add up each node's neighbours, :math:`\sum_j w_{ij} x_j`; differentiable in both.

    Example:
        >>> pair = Graph.from_edge_index(torch.tensor([[1], [0]]), num_nodes=2)
        >>> weighted_sum(torch.tensor([[1.0], [2.0]]), pair, torch.tensor([0.5]))
        tensor([[1.],
                [0.]])
    """
    return _WeightedSum.apply(states, weight, graph)  # pyright: ignore[reportReturnType]


def edge_products(left: Tensor, right: Tensor, graph: Graph) -> Tensor:  # (N, D) twice -> (E,)
    r"""Multiply across every edge, :math:`l_i \cdot r_j` from source j to target i.

    Differentiable in both, and no state is written down once an edge.

    Example:
        >>> pair = Graph.from_edge_index(torch.tensor([[1], [0]]), num_nodes=2)
        >>> edge_products(torch.tensor([[3.0], [4.0]]), torch.tensor([[1.0], [2.0]]), pair)
        tensor([6.])
    """
    return _EdgeProducts.apply(left, right, graph)  # pyright: ignore[reportReturnType]


def edge_weights(graph: Graph, log_weight: Tensor | None, like: Tensor) -> Tensor:  # (E,)
    """Return the weights of edges; a node's edge to itself counts as none.

    GCN and GAT give every node a message from itself, of weight one; a self-pair that was
    sampled must not add a second.
    """
    weight = like.new_ones(graph.num_edges) if log_weight is None else log_weight.exp()
    return weight.masked_fill(graph.sources == graph.targets, 0.0)
