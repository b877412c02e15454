"""The heaviest edges of a dense graph, found a few rows at a time."""

from collections.abc import Callable

import torch
from torch import Tensor

from bpgnn.graph import Graph
from bpgnn.nn.similarity import row_blocks


@torch.no_grad()
def heaviest_neighbours(
    rows: Callable[[int, int], Tensor], num_nodes: int, limit: int = 100
) -> Graph:
    """Keep each node's heaviest neighbours of positive weight.

    Args:
        rows: Gives the rows of a matrix of weights from one number up to another.
        num_nodes: Number of rows and columns, N.
        limit: Most neighbours of a node.

    Returns:
        A graph with weights.

    Example:
        >>> weights = torch.tensor([[0.5, 0.2], [0.0, 0.3]])
        >>> heaviest_neighbours(lambda start, stop: weights[start:stop], 2, 1).edge_index
        tensor([[0, 1],
                [0, 1]])
    """
    edges, weights = [], []
    for start, stop in row_blocks(num_nodes, num_nodes):
        weight, source = rows(start, stop).topk(min(limit, num_nodes), dim=1)
        target = torch.arange(start, stop, device=source.device).unsqueeze(1).expand_as(source)
        present = weight > 0
        edges.append(torch.stack([source[present], target[present]]))
        weights.append(weight[present])
    return Graph.from_edge_index(torch.cat(edges, dim=1), num_nodes, torch.cat(weights))
