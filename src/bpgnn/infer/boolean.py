"""The probabilistic Boolean product A ⋄ P."""

import math
from typing import final

import torch
from torch import Tensor
from typing_extensions import override

from bpgnn.graph import Graph
from bpgnn.infer.entries import log_entries
from bpgnn.infer.probabilities import EdgeProbabilities, KernelProbabilities
from bpgnn.infer.segments import expand_runs, log_sum_exp_by
from bpgnn.infer.witness import Votes
from bpgnn.matrix import csr_matrix

LOG_TINY = -55.262042231857095
"""The logarithm of 1e-24: a row without witnesses is this everywhere, a constant."""

_TINY = 1e-24

COMPILED_FROM = 20_000
"""As many votes on entries are worth compiled code; fewer are not worth compiling it."""


@final
class BooleanProduct(EdgeProbabilities):
    r"""Let a node's witnesses vote on its edges (eq. PBMM of the BPGNN paper).

    .. math:: \tilde P_{ij} = \sum_{k} W_{ik} P_{kj}

    With W_ik = 1/|N_i| for the observed neighbours k of i this is the paper's product
    A ⋄ P; other weights give the gated and the mixed vote (:mod:`bpgnn.infer.witness`).

    Args:
        witnesses: Which nodes k vote for i: an edge k → i each.
        votes: The weights W of their votes.
        kernel: The edge probabilities P.
        row_floor: Logarithms below which a row's entries are cut off, shape (N,), or None.

    Departures:
        The paper leaves a node without neighbours undefined. Its row is a constant 1e-24
        here, as in the authors' code, so that its neighbours are drawn uniformly.

    Example:
        >>> from bpgnn.infer.geometry import Euclidean
        >>> from bpgnn.infer.witness import equal_votes
        >>> kernel = KernelProbabilities(
        ...     torch.tensor([[0.0], [1.0]]), torch.tensor(1.0), Euclidean()
        ... )
        >>> swap = Graph.from_edge_index(torch.tensor([[0, 1], [1, 0]]), num_nodes=2)
        >>> BooleanProduct(swap, equal_votes(swap), kernel).to_dense()
        tensor([[0.3679, 1.0000],
                [1.0000, 0.3679]])
    """

    def __init__(
        self,
        witnesses: Graph,
        votes: Votes,
        kernel: KernelProbabilities,
        row_floor: Tensor | None = None,
    ) -> None:
        """Keep the parts; nothing is computed yet."""
        self.witnesses = witnesses
        self.log_weight = votes.log_weight.to(kernel.latent.dtype)
        self._log_total = votes.log_total.to(kernel.latent.dtype)
        self.kernel = kernel
        self.row_floor = row_floor

    @property
    @override
    def num_nodes(self) -> int:
        return self.witnesses.num_nodes

    @property
    @override
    def device(self) -> torch.device:
        return self.kernel.device

    @override
    def log_entries(self, edges: Tensor) -> Tensor:
        votes = int(self.witnesses.in_degree[edges[1]].sum())
        if votes >= COMPILED_FROM and self.device.type == "cpu":
            total = log_entries(self.witnesses, self.log_weight, self.kernel, edges)
        else:
            total = self.log_sums(edges)
        return self._floored(total, edges[1])

    def log_sums(self, edges: Tensor) -> Tensor:  # (2, M) -> (M,)
        """Compute the logarithm of the sum over witnesses by the definition, in tensors."""
        source, target = edges
        degree = self.witnesses.in_degree[target]
        vote, entry = expand_runs(self.witnesses.row_pointer[target], degree)
        pairs = torch.stack([source[entry], self.witnesses.sources[vote]])
        terms = self.log_weight[vote] + self.kernel.log_entries(pairs)
        return log_sum_exp_by(terms, entry, edges.size(1))

    @override
    @torch.no_grad()
    def rows(self, index: Tensor) -> Tensor:
        vote, row = expand_runs(self.witnesses.row_pointer[index], self.witnesses.in_degree[index])
        voters, position = torch.unique(self.witnesses.sources[vote], return_inverse=True)
        weight = _csr(row, position, self.log_weight[vote].exp(), (len(index), len(voters)))
        rows = weight @ self.kernel.rows(voters)
        rows[self.witnesses.in_degree[index] == 0] = _TINY
        if self.row_floor is not None:
            rows = torch.maximum(rows, self.row_floor[index].double().exp().unsqueeze(1))
        return rows

    @override
    @torch.no_grad()
    def columns(self, index: Tensor) -> Tensor:
        votes = _csr(
            self.witnesses.targets,
            self.witnesses.sources,
            self.log_weight.exp(),
            (self.num_nodes, self.num_nodes),
        )
        columns = votes @ self.kernel.columns(index)
        columns[self.witnesses.in_degree == 0] = _TINY
        if self.row_floor is not None:
            columns = torch.maximum(columns, self.row_floor.double().exp().unsqueeze(1))
        return columns

    @override
    def log_votes(self, target: Tensor) -> Tensor:
        return self._log_total[target].clamp(min=LOG_TINY)

    @override
    def log_totals(self, *, self_pairs: bool) -> Tensor:
        rows = self.kernel.log_totals(self_pairs=True)
        terms = self.log_weight + rows[self.witnesses.sources]
        totals = log_sum_exp_by(terms, self.witnesses.targets, self.num_nodes)
        # Of a row that is a constant, each entry is drawn with the same chance.
        nobody = LOG_TINY + math.log(self.num_nodes)
        totals = totals.masked_fill(self.witnesses.in_degree == 0, nobody)
        if self_pairs:
            return totals
        nodes = torch.arange(self.num_nodes, device=self.device)
        own = self.log_entries(torch.stack([nodes, nodes]))
        return totals + torch.log1p(-(own - totals).exp().clamp(max=1 - 1e-6))

    def _floored(self, total: Tensor, target: Tensor) -> Tensor:
        if self.row_floor is not None:
            return torch.maximum(total, self.row_floor[target].to(total.dtype))
        return total.masked_fill(self.witnesses.in_degree[target] == 0, LOG_TINY)


def _csr(row: Tensor, column: Tensor, value: Tensor, shape: tuple[int, int]) -> Tensor:
    """Make a sparse matrix of float64 from entries that are sorted by row."""
    pointer = torch.zeros(shape[0] + 1, dtype=torch.long, device=row.device)
    pointer[1:] = torch.bincount(row, minlength=shape[0]).cumsum(0)
    return csr_matrix(pointer, column, value.double(), shape)
