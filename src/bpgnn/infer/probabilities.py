"""Edge probabilities as a promise: rows and entries on demand, never an N by N store."""

from abc import ABC, abstractmethod
from typing import final

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint
from typing_extensions import override

from bpgnn.errors import InputError
from bpgnn.infer.geometry import Metric


class EdgeProbabilities(ABC):
    """Promise a matrix of edge probabilities; its logarithm is what is computed.

    An entry (i, j) belongs to the edge from source j to target i, as in
    :class:`~bpgnn.graph.Graph`. `log_entries` is the definition and is differentiable; rows
    and columns are the same in float64 and without gradient, for samplers.
    """

    @property
    @abstractmethod
    def num_nodes(self) -> int:
        """Count the nodes, N."""

    @property
    @abstractmethod
    def device(self) -> torch.device:
        """Say where the parameters live."""

    @abstractmethod
    def log_entries(self, edges: Tensor) -> Tensor:  # (2, M) -> (M,)
        """Compute the logarithm of the entries at `edges`, (source j, target i) each."""

    @abstractmethod
    def rows(self, index: Tensor) -> Tensor:  # (B,) -> (B, N)
        """Compute whole rows; what is below 1e-290 may come out as 0."""

    @abstractmethod
    def columns(self, index: Tensor) -> Tensor:  # (B,) -> (N, B)
        """Compute whole columns; what is below 1e-290 may come out as 0."""

    @torch.no_grad()
    def log_rows(self, index: Tensor) -> Tensor:  # (B,) -> (B, N)
        """Compute the logarithm of whole rows, however small."""
        rows = self.rows(index)
        lost = (rows < _REPRESENTABLE).nonzero()
        rows.log_()
        for part in lost.split(_CHUNK):
            edges = torch.stack([part[:, 1], index[part[:, 0]]])
            rows[part[:, 0], part[:, 1]] = self.log_entries(edges).double()
        return rows

    def log_votes(self, target: Tensor) -> Tensor:  # (M,) -> (M,)
        """Return the logarithm of what each target's row was divided by; nothing here."""
        return torch.zeros_like(target, dtype=torch.get_default_dtype())

    def log_totals(self, *, self_pairs: bool) -> Tensor:  # (N,)
        """Compute the logarithm of each row's sum; differentiable.

        Args:
            self_pairs: Whether a row's own entry counts.
        """
        counted = "with" if self_pairs else "without"
        raise InputError(
            f"Row sums of {type(self).__name__} ({counted} self-pairs) are not available. "
            "Take the plain product."
        )

    def entries(self, edges: Tensor) -> Tensor:  # (2, M) -> (M,)
        """Compute the entries at `edges`; differentiable."""
        return self.log_entries(edges).exp()

    def log_dense(self) -> Tensor:  # (N, N)
        """Compute every entry's logarithm by the definition; for small graphs and tests."""
        nodes = torch.arange(self.num_nodes, device=self.device)
        pairs = torch.cartesian_prod(nodes, nodes).t()  # target first
        return self.log_entries(pairs.flip(0)).view(self.num_nodes, self.num_nodes)

    def to_dense(self) -> Tensor:  # (N, N)
        """Compute the whole matrix by the definition; for small graphs and tests."""
        return self.log_dense().exp()


@final
class KernelProbabilities(EdgeProbabilities):
    r"""Join nodes by the distance of their latent points (eq. g4P of the BPGNN paper).

    .. math:: P_{ij} = \exp(-\gamma(V_i, V_j)^2 / \phi)

    Args:
        latent: Latent points V, shape (N, D).
        sharpness: The scalar 1/φ.
        metric: The distance γ.

    Example:
        >>> from bpgnn.infer.geometry import Euclidean
        >>> latent = torch.tensor([[0.0], [1.0]])
        >>> KernelProbabilities(latent, torch.tensor(1.0), Euclidean()).to_dense()
        tensor([[1.0000, 0.3679],
                [0.3679, 1.0000]])
    """

    def __init__(self, latent: Tensor, sharpness: Tensor, metric: Metric) -> None:
        """Keep the points; nothing is computed yet."""
        self.latent = latent
        self.sharpness = sharpness
        self.metric = metric

    @property
    @override
    def num_nodes(self) -> int:
        return self.latent.size(0)

    @property
    @override
    def device(self) -> torch.device:
        return self.latent.device

    @override
    def log_entries(self, edges: Tensor) -> Tensor:
        source, target = self.latent[edges[0]], self.latent[edges[1]]
        return -self.sharpness * self.metric.squared_between(target, source)

    @override
    @torch.no_grad()
    def log_rows(self, index: Tensor) -> Tensor:
        latent = self.latent.double()
        squares = self.metric.squared_pairwise(latent[index], latent)
        return squares.mul_(-self.sharpness.double())

    @override
    def rows(self, index: Tensor) -> Tensor:
        return self.log_rows(index).exp_()

    @override
    def log_totals(self, *, self_pairs: bool) -> Tensor:
        blocks = torch.arange(self.num_nodes, device=self.device).split(256)
        parts = [
            checkpoint(self._block_totals, block, self_pairs, use_reentrant=False)
            for block in blocks
        ]
        return torch.cat(parts)

    def _block_totals(self, index: Tensor, self_pairs: bool) -> Tensor:  # noqa: FBT001  checkpoint's calls
        first = self.latent[index].unsqueeze(1)
        values = -self.sharpness * self.metric.squared_between(first, self.latent.unsqueeze(0))
        if not self_pairs:
            values = values.scatter(1, index.unsqueeze(1), -torch.inf)
        return values.logsumexp(1)

    @override
    def columns(self, index: Tensor) -> Tensor:
        with torch.no_grad():
            latent = self.latent.double()
            squares = self.metric.squared_pairwise(latent, latent[index])
            return squares.mul_(-self.sharpness.double()).exp_()


@final
class Symmetrised(EdgeProbabilities):
    r"""Average a matrix with its transpose (the paper's symmetric Boolean product).

    P is symmetric, so the paper's second half, the sum of P_ik over the neighbours k of j
    divided by their number, is the transpose of A ⋄ P.

    .. math:: \tfrac12 (M_{ij} + M_{ji})

    Args:
        half: The matrix M.
    """

    def __init__(self, half: EdgeProbabilities) -> None:
        """Keep the matrix; nothing is computed yet."""
        self.half = half

    @property
    @override
    def num_nodes(self) -> int:
        return self.half.num_nodes

    @property
    @override
    def device(self) -> torch.device:
        return self.half.device

    @override
    def log_entries(self, edges: Tensor) -> Tensor:
        both = self.half.log_entries(torch.cat([edges, edges.flip(0)], dim=1))
        count = edges.size(1)
        return torch.logaddexp(both[:count], both[count:]) - _LOG_2

    @override
    def log_votes(self, target: Tensor) -> Tensor:
        return self.half.log_votes(target)

    @override
    @torch.no_grad()
    def rows(self, index: Tensor) -> Tensor:
        return self.half.rows(index).add_(self.half.columns(index).t()).mul_(0.5)

    @override
    def columns(self, index: Tensor) -> Tensor:
        return self.rows(index).t()


_LOG_2 = 0.6931471805599453

_REPRESENTABLE = 1e-290

# Entries computed at a time where rows underflow: enough to be fast, few enough to fit.
_CHUNK = 500_000
