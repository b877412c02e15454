"""The observed graph as a matrix that averages over neighbours."""

import torch
from torch import Tensor

from bpgnn.graph import Graph
from bpgnn.nn.aggregation import edge_weights


def normalized(graph: Graph, like: Tensor) -> Graph:
    r"""Give every node an edge to itself and scale edges by the degrees of both ends.

    .. math:: \hat A = \tilde D^{-1/2} (A + I) \tilde D^{-1/2},
        \quad \tilde D_{ii} = 1 + \sum_j A_{ij}

    A self-loop that is there already counts as the one that every node gets.

    Args:
        graph: A, with weights or without.
        like: A tensor of the wanted precision.

    Returns:
        The same edges and the self-loops, with the entries as weights.

    Example:
        >>> pair = Graph.from_edge_index(torch.tensor([[0, 1], [1, 0]]), num_nodes=2)
        >>> normalized(pair, torch.ones(1)).weights
        tensor([0.5000, 0.5000, 0.5000, 0.5000])
    """
    plain = graph.without_self_loops()
    logarithm = None if plain.edge_weight is None else plain.edge_weight.to(like).log()
    weight = edge_weights(plain, logarithm, like)
    nodes = torch.arange(graph.num_nodes, device=plain.edge_index.device)
    edges = torch.cat([plain.edge_index, nodes.expand(2, -1)], dim=1)
    weight = torch.cat([weight, weight.new_ones(graph.num_nodes)])
    degree = weight.new_zeros(graph.num_nodes).index_add(0, edges[1], weight)
    scale = degree.rsqrt()
    return Graph.from_edge_index(edges, graph.num_nodes, weight * scale[edges[0]] * scale[edges[1]])
