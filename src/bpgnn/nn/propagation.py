"""Products with a normalised adjacency matrix, which need not be written down."""

from collections.abc import Callable

from torch import Tensor

from bpgnn.graph import Graph
from bpgnn.nn.aggregation import edge_weights, weighted_sum
from bpgnn.nn.pairs import NodePairs, symmetric_sum

Propagation = Callable[[Tensor], Tensor]
"""A linear map of the states of all nodes, (N, D) -> (N, D)."""


def normalized(neighbours: Propagation, ones: Tensor) -> Propagation:  # (N, 1)
    r"""Normalise a sum over neighbours, with every node among its own.

    .. math:: x \mapsto \tilde D^{-1/2} (S + I) \tilde D^{-1/2} x, \qquad \tilde D = D + I

    Args:
        neighbours: The product with the adjacency matrix S.
        ones: A one for every node, shape (N, 1).

    Returns:
        The product with the normalised matrix, differentiable in what S is made of.

    Example:
        >>> import torch
        >>> normalized(lambda states: states.flip(0), torch.ones(2, 1))(torch.eye(2))
        tensor([[0.5000, 0.5000],
                [0.5000, 0.5000]])
    """
    scale = (neighbours(ones) + 1).rsqrt()

    def propagate(states: Tensor) -> Tensor:
        scaled = scale * states
        return scale * (neighbours(scaled) + scaled)

    return propagate


def over_graph(graph: Graph, like: Tensor) -> Propagation:
    """Propagate over a graph's edges, in the precision of another tensor."""
    weight = edge_weights(graph, None, like)
    ones = like.new_ones(graph.num_nodes, 1)
    return normalized(lambda states: weighted_sum(states, graph, weight), ones)


def over_pairs(pairs: NodePairs, weight: Tensor) -> Propagation:  # (P,)
    """Propagate over weighted pairs, in time that grows with their number."""
    ones = weight.new_ones(pairs.num_nodes, 1)
    return normalized(lambda states: symmetric_sum(states, pairs, weight), ones)


def over_matrix(pairs: NodePairs, weight: Tensor) -> Propagation:  # (P,)
    """Propagate over weighted pairs with a matrix of N by N numbers."""
    upper = weight.new_zeros(pairs.num_nodes, pairs.num_nodes)
    upper = upper.index_put((pairs.ends[0], pairs.ends[1]), weight)
    matrix = upper + upper.T
    return normalized(lambda states: matrix @ states, weight.new_ones(pairs.num_nodes, 1))
