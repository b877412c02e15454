"""The residual connection of earlier work: the observed graph plus a latent one."""

from typing import final

import torch
from torch import Tensor
from typing_extensions import override

from bpgnn.graph import Graph
from bpgnn.infer.probabilities import EdgeProbabilities, KernelProbabilities
from bpgnn.infer.segments import expand_runs


@final
class GraphSum(EdgeProbabilities):
    r"""Add the observed graph and a multiple of P, as the works before BPGNN did.

    .. math:: \tilde P_{ij} = A_{ij} + \alpha P_{ij}

    Args:
        observed: The graph A.
        log_scale: The logarithm of α, a scalar.
        kernel: The edge probabilities P.

    Example:
        >>> from bpgnn.infer.geometry import Euclidean
        >>> kernel = KernelProbabilities(torch.zeros(2, 1), torch.tensor(1.0), Euclidean())
        >>> edge = Graph.from_edge_index(torch.tensor([[1], [0]]), num_nodes=2)
        >>> GraphSum(edge, torch.tensor(0.5).log(), kernel).to_dense()
        tensor([[0.5000, 1.5000],
                [0.5000, 0.5000]])
    """

    def __init__(self, observed: Graph, log_scale: Tensor, kernel: KernelProbabilities) -> None:
        """Keep the parts; nothing is computed yet."""
        self.observed = observed
        self.log_scale = log_scale
        self.kernel = kernel

    @property
    @override
    def num_nodes(self) -> int:
        return self.observed.num_nodes

    @property
    @override
    def device(self) -> torch.device:
        return self.kernel.device

    @override
    def log_entries(self, edges: Tensor) -> Tensor:
        latent = self.kernel.log_entries(edges) + self.log_scale
        return torch.logaddexp(latent, self.observed_at(edges).to(latent.dtype).log())

    @override
    @torch.no_grad()
    def rows(self, index: Tensor) -> Tensor:
        rows = self.kernel.rows(index) * self.log_scale.double().exp()
        edge, row = expand_runs(self.observed.row_pointer[index], self.observed.in_degree[index])
        where = (row, self.observed.sources[edge])
        return rows.index_put_(where, self.observed.weights[edge].to(rows), accumulate=True)

    @override
    def columns(self, index: Tensor) -> Tensor:
        with torch.no_grad():
            columns = self.kernel.columns(index) * self.log_scale.double().exp()
            place = torch.full((self.num_nodes,), -1, device=self.device)
            place[index] = torch.arange(len(index), device=self.device)
            column = place[self.observed.sources]
            inside = column >= 0
            where = (self.observed.targets[inside], column[inside])
            weight = self.observed.weights[inside].to(columns)
            return columns.index_put_(where, weight, accumulate=True)

    def observed_at(self, edges: Tensor) -> Tensor:  # (2, M) -> (M,)
        """Look up the observed weight at `edges`, 0 where there is no edge."""
        if self.observed.num_edges == 0:
            return torch.zeros(edges.size(1), device=edges.device)
        key = self.observed.targets * self.num_nodes + self.observed.sources
        wanted = edges[1] * self.num_nodes + edges[0]
        found = torch.searchsorted(key, wanted).clamp(max=len(key) - 1)
        return torch.where(key[found] == wanted, self.observed.weights[found], 0.0)
