"""Edges between nodes whose features are alike, beside the observed ones."""

from typing import Any, NamedTuple, final

import torch
from torch import Tensor, nn
from typing_extensions import override

from bpgnn.graph import Graph
from bpgnn.nn.evidence import EdgeEvidence
from bpgnn.nn.nearest import alike_pairs
from bpgnn.nn.sparse import Features


@final
class NearestEdges(nn.Module):
    """Let every node hear from those that are most alike, and learn what that counts for.

    Alike by the cosine of features, among the nodes of the training: those that come later hear
    from them and are not heard. Edges that are observed are left out.

    Args:
        graph: The observed graph of the training, or None.
        features: Its features, shape (N, F).
        k: Most neighbours of each node.
        weighed: Let such an edge count for what speaks for it, as `EdgeEvidence` has it.

    Example:
        >>> features = torch.tensor([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]])
        >>> NearestEdges(None, features, 1)(None, features)[0].sources
        tensor([1, 0, 1])
    """

    known: Tensor

    def __init__(
        self, graph: Graph | None, features: Features, k: int, *, weighed: bool = False
    ) -> None:
        """Find the nearest."""
        super().__init__()
        self.k, self.num_known = k, features.size(0)
        # The logarithm of what such an edge counts for beside an observed one.
        self.log_weight = nn.Parameter(torch.zeros(()))
        self.register_buffer("known", alike_pairs(features, k, self.num_known), persistent=False)
        # Found once for each graph: they do not change in training.
        self.seen: _Seen | None = self._joined(graph, features, self.known)
        observed, edges = self.seen.observed, self.seen.edges
        self.evidence = EdgeEvidence(observed, features, edges) if weighed else None

    @override
    def __getstate__(self) -> dict[str, Any]:
        """Leave the graph out of copies, which would copy it as well."""
        return {**self.__dict__, "seen": None}

    @override
    def forward(
        self, graph: Graph | None, features: Features
    ) -> tuple[Graph, Tensor]:  # a graph, (E,)
        """Return the edges and the logarithm of what each of them counts for."""
        seen = self.seen
        if seen is None or seen.graph is not graph or seen.features is not features:
            self.seen = seen = self._joined(graph, features, self._pairs(features))
        weight = self.log_weight.expand(seen.edges.num_edges)
        if self.evidence is not None:
            weight = weight + self.evidence(seen.observed, features, seen.edges)
        return seen.edges, weight

    def _pairs(self, features: Features) -> Tensor:  # (2, E)
        """Find the nearest among other features; where nodes come later, for those alone."""
        if features.size(0) == self.num_known:
            return alike_pairs(features, self.k, self.num_known)
        later = alike_pairs(features, self.k, self.num_known, later=True)
        return torch.cat([self.known, later], dim=1)

    def _joined(self, graph: Graph | None, features: Features, pairs: Tensor) -> "_Seen":
        near = Graph.from_edge_index(pairs, features.size(0))
        observed = graph or Graph.empty(near.num_nodes).to(pairs.device)
        keys = (one.targets * one.num_nodes + one.sources for one in (near, observed))
        edges = Graph(near.edge_index[:, ~torch.isin(*keys)], near.num_nodes)
        return _Seen(graph, features, observed, edges)


@final
class _Seen(NamedTuple):
    """Remember which edges were found for what."""

    graph: Graph | None
    features: Features
    observed: Graph
    edges: Graph
