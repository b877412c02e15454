"""What speaks for each edge before anything is learned."""

from typing import Any, final

import numpy as np
import scipy.sparse
import torch
from torch import Tensor, nn
from typing_extensions import override

from bpgnn.graph import Graph
from bpgnn.nn.nearest import to_numpy
from bpgnn.nn.sparse import Features, values_of

# Entries of the rows that are gathered at a time, one row for each edge.
_BLOCK_ENTRIES = 1 << 21

# Sums of squares up to this are rounding: no witness is left.
_NOTHING = 1e-9

# The share of entries from which on a matrix is written out.
_FULL = 0.25

NUM_KINDS = 4


def edge_evidence(
    graph: Graph, features: Features, scale: Tensor | None = None, *, edges: Graph | None = None
) -> Tensor:
    r"""Say in four numbers how much speaks for each edge from j to i.

    With S the cosine of features and :math:`s_i = \sum_{k \in N_i} A_{ik} \hat x_k` what the
    neighbours of i have in common:

    1. the likeness of the two ends, S(x_i, x_j);
    2. that of j to the other witnesses of i, :math:`S(x_j, s_i - A_{ij} \hat x_j)`;
    3. that of i to the other witnesses of j;
    4. the triangles that the edge is part of, :math:`\log(1 + |N_i \cap N_j|)`.

    The second and third are the Boolean product A ⋄ S of the observed graph and the likeness of
    features, asked at the edges that are there, or at others. Where there is no other witness
    they are 0.

    Args:
        graph: The observed graph A.
        features: Features X, dense or sparse, shape (N, F).
        scale: What each column is divided by, shape (F,); by default its standard deviation.
        edges: The edges that are asked about, if not those of the observed graph; E of them.

    Returns:
        The four numbers of each edge, shape (E, 4).

    Example:
        >>> triangle = torch.tensor([[1, 2, 0, 2, 0, 1], [0, 0, 1, 1, 2, 2]])
        >>> graph = Graph.from_edge_index(triangle, num_nodes=3)
        >>> X = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
        >>> edge_evidence(graph, X, torch.ones(2))[0]  # from node 1 to node 0
        tensor([1.0000, 0.0000, 0.0000, 0.6931])
    """
    unit = _unit_rows(features, column_scale(features) if scale is None else scale)
    matrix: Any = graph.to_scipy().astype(np.float64)
    pattern = matrix.astype(bool).astype(np.float64)
    gathered = _spread_if_full(matrix @ unit)
    unit = _spread_if_full(unit)
    lengths = _dots(gathered, gathered)
    edges = graph if edges is None else edges
    into, out_of = (ends.cpu().numpy().copy() for ends in (edges.targets, edges.sources))
    found = np.zeros((edges.num_edges, NUM_KINDS))
    size = max(1, _BLOCK_ENTRIES // max(1, features.size(1)))
    for start in range(0, edges.num_edges, size):
        block = slice(start, start + size)
        i, j = into[block], out_of[block]
        found[block, 0] = _dots(unit[i], unit[j])
        found[block, 1] = _likeness_to_others(matrix, gathered, lengths, unit, i, j)
        found[block, 2] = _likeness_to_others(matrix, gathered, lengths, unit, j, i)
        found[block, 3] = np.log1p(_dots(pattern[i], pattern[j]))
    return torch.from_numpy(found).to(values_of(features))


def _likeness_to_others(
    matrix: Any, gathered: Any, lengths: Any, unit: Any, i: Any, j: Any
) -> Any:  # (B,)
    """Compare j with all neighbours of i but itself."""
    weight = np.asarray(matrix[i, j]).ravel()
    own = _dots(unit[j], unit[j])
    common = _dots(gathered[i], unit[j])
    square = lengths[i] - 2 * weight * common + weight**2 * own
    left = square > _NOTHING * np.maximum(lengths[i], 1.0)
    return np.where(left, (common - weight * own) / np.sqrt(np.where(left, square, 1.0)), 0.0)


def evidence_memory(
    num_nodes: int, num_edges: int, num_features: int, num_values: int, *, num_asked: int
) -> int:
    """Estimate the bytes that :func:`edge_evidence` takes: N, E, F and stored feature values.

    And the edges that are asked about.
    """
    gathered = min(num_edges * num_values // max(1, num_nodes), num_nodes * num_features)
    return 16 * gathered + 64 * num_values + 150 * num_asked + 32 * _BLOCK_ENTRIES


def column_scale(features: Features) -> Tensor:  # (N, F) -> (F,)
    """Return the standard deviation of every column, one where it does not vary.

    Example:
        >>> column_scale(torch.tensor([[1.0, 5.0], [3.0, 5.0]]))
        tensor([1., 1.])
    """
    matrix = _to_scipy(features)
    mean = np.asarray(matrix.mean(0)).ravel()
    variance = np.asarray(matrix.multiply(matrix).mean(0)).ravel() - mean**2
    varies = variance > _NOTHING * np.maximum(mean**2, np.finfo(np.float64).tiny)
    spread = np.sqrt(np.where(varies, variance, 1.0))
    return torch.from_numpy(spread).to(values_of(features))


@final
class EdgeEvidence(nn.Module):
    """Weigh edges by what speaks for them; how much each kind counts is learned.

    At first all edges count the same. What is large and what is small is settled by the edges
    of the training, so that nodes that come later change nothing for others.

    Args:
        graph: The observed graph of the training.
        features: Its features, shape (N, F).
        edges: The edges that are weighed, if not those of the observed graph.
    """

    scale: Tensor
    mean: Tensor
    spread: Tensor

    def __init__(self, graph: Graph, features: Features, edges: Graph | None = None) -> None:
        """Take the measure of every kind of evidence."""
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(NUM_KINDS))
        self.register_buffer("scale", column_scale(features))
        found = edge_evidence(graph, features, self.scale, edges=edges)
        few = len(found) < 2
        mean = found.new_zeros(NUM_KINDS) if few else found.mean(0)
        spread = found.new_ones(NUM_KINDS) if few else found.std(0, correction=0)
        self.register_buffer("mean", mean)
        self.register_buffer("spread", torch.where(spread > 0, spread, 1.0))
        # Measured once for each graph: it does not change in training.
        self.seen: tuple[Graph, Features, Graph | None, Tensor] | None
        self.seen = (graph, features, edges, found)

    @override
    def __getstate__(self) -> dict[str, Any]:
        """Leave the graph out of copies, which would copy it as well."""
        return {**self.__dict__, "seen": None}

    @override
    def forward(
        self, graph: Graph, features: Features, edges: Graph | None = None
    ) -> Tensor:  # (E,)
        """Return the logarithm of what each edge counts for."""
        asked, seen = (graph, features, edges), self.seen
        if seen is None or any(one is not other for one, other in zip(asked, seen, strict=False)):
            found = edge_evidence(graph, features, self.scale, edges=edges)
            self.seen = seen = (*asked, found)
        return ((seen[3].to(self.mean) - self.mean) / self.spread) @ self.weight


def _unit_rows(features: Features, scale: Tensor) -> Any:  # (N, F)
    """Divide columns by their scale and rows by their length; rows of zeros stay so."""
    inverse = scipy.sparse.diags_array(1 / scale.detach().cpu().double().numpy())
    matrix = (_to_scipy(features) @ inverse).tocsr()
    lengths = np.sqrt(_dots(matrix, matrix))
    return (scipy.sparse.diags_array(1 / np.where(lengths > 0, lengths, 1.0)) @ matrix).tocsr()


def _dots(left: Any, right: Any) -> Any:  # (B, F), (B, F) -> (B,)
    if isinstance(left, np.ndarray) and isinstance(right, np.ndarray):
        return np.einsum("bf,bf->b", left, right)
    sparse, other = (right, left) if isinstance(left, np.ndarray) else (left, right)
    return np.asarray(sparse.multiply(other).sum(1)).ravel()


def _spread_if_full(matrix: Any) -> Any:  # (N, F)
    """Write a sparse matrix out where that saves time and hardly takes memory.

    Measured on Photo: 10.6 CPU-seconds with sparse rows, 3.0 with dense ones.
    """
    full = matrix.nnz > _FULL * matrix.shape[0] * matrix.shape[1]
    return matrix.toarray() if full else matrix.tocsr()


def _to_scipy(features: Features) -> Any:  # (N, F)
    return scipy.sparse.csr_array(to_numpy(features)).astype(np.float64)
