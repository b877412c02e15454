"""Sums over sampled graphs whose gradient goes straight to the probabilities of all pairs."""

from typing import final

import torch
from torch import Tensor
from torch.autograd.function import FunctionCtx

from bpgnn.graph import Graph
from bpgnn.matrix import csr_matrix
from bpgnn.nn.pairs import NodePairs


@final
class StraightThrough:
    r"""Give the probabilities of pairs the gradient of the graphs sampled by them.

    The gradient of a sum over neighbours :math:`Y = S X` in its matrix is :math:`G X^\top`,
    with G that of Y; a pair's probability gets what its entries of S got, in every graph it
    was sampled for, and also where it was not chosen:

    .. math:: \nabla \theta_{ij} = \sum_S (G_S X_S^\top)_{ij} + (G_S X_S^\top)_{ji}

    So sums run over the few edges of a graph, and G and X of all of them are put side by side
    and multiplied once, when the backward pass comes to an end.

    Args:
        probability: The probability of each pair, theta, shape (P,).
        pairs: The pairs.

    Example:
        >>> theta = torch.tensor([0.0], requires_grad=True)
        >>> through = StraightThrough(theta, NodePairs.every(2))
        >>> states = torch.tensor([[2.0], [3.0]])
        >>> through.sums(Graph.empty(2), states).sum().backward()
        >>> theta.grad
        tensor([5.])
    """

    def __init__(self, probability: Tensor, pairs: NodePairs) -> None:
        """Begin without factors."""
        self.pairs = pairs
        self.factors: list[tuple[Tensor, Tensor]] = []
        self.handle: Tensor = _Handle.apply(probability, self)  # pyright: ignore[reportAttributeAccessIssue]

    def sums(self, graph: Graph, states: Tensor) -> Tensor:  # (N, D)
        """Add up each node's neighbours in an undirected graph; differentiable twice in states.

        In a backward pass that is recorded to be differentiated itself, probabilities get no
        gradient: it is the pass through that record that gives it.
        """
        shape = (graph.num_nodes, graph.num_nodes)
        weight = graph.weights.to(states.dtype)
        matrix = csr_matrix(graph.row_pointer, graph.sources, weight, shape)
        return _Sum.apply(states, self.handle, matrix, self)  # pyright: ignore[reportReturnType]

    def collected(self) -> Tensor:  # (P,)
        """Multiply the factors out, and forget them."""
        left, right = (torch.cat(side, dim=1) for side in zip(*self.factors, strict=True))
        self.factors.clear()
        return self.pairs.products(left, right)


class _Handle(torch.autograd.Function):
    """Stand for the probabilities; its backward comes after that of every sum."""

    @staticmethod
    def forward(ctx: FunctionCtx, probability: Tensor, through: StraightThrough) -> Tensor:
        ctx.through = through  # pyright: ignore[reportAttributeAccessIssue]
        return probability.new_zeros(())

    @staticmethod
    def backward(ctx: FunctionCtx, _: Tensor) -> tuple[Tensor, None]:  # pyright: ignore[reportIncompatibleMethodOverride]
        return ctx.through.collected(), None  # pyright: ignore[reportAttributeAccessIssue]


class _Sum(torch.autograd.Function):
    """Multiply by a symmetric sparse matrix; so does the gradient."""

    @staticmethod
    def forward(
        ctx: FunctionCtx, states: Tensor, handle: Tensor, matrix: Tensor, through: StraightThrough
    ) -> Tensor:
        ctx.save_for_backward(states, handle)
        ctx.matrix, ctx.through = matrix, through  # pyright: ignore[reportAttributeAccessIssue]
        return matrix @ states

    @staticmethod
    def backward(ctx: FunctionCtx, gradient: Tensor) -> tuple[Tensor | None, ...]:  # pyright: ignore[reportIncompatibleMethodOverride]
        states, handle = ctx.saved_tensors  # pyright: ignore[reportAttributeAccessIssue]
        matrix, through = ctx.matrix, ctx.through  # pyright: ignore[reportAttributeAccessIssue]
        needed = ctx.needs_input_grad  # pyright: ignore[reportAttributeAccessIssue]
        gradient = gradient.contiguous()
        to_states = _Sum.apply(gradient, handle, matrix, through) if needed[0] else None
        to_handle = None
        if needed[1] and not torch.is_grad_enabled():
            through.factors.append((gradient, states))
            to_handle = torch.zeros_like(handle)
        return to_states, to_handle, None, None  # pyright: ignore[reportReturnType]
