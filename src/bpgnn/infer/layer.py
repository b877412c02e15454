"""Where embed → probabilities → product → sample meet."""

import math
from dataclasses import dataclass
from typing import Literal, Protocol, final

import torch
from torch import Tensor, nn
from typing_extensions import override

from bpgnn.errors import InputError
from bpgnn.graph import Graph
from bpgnn.infer.boolean import LOG_TINY, BooleanProduct
from bpgnn.infer.probabilities import EdgeProbabilities, KernelProbabilities, Symmetrised
from bpgnn.infer.residual import GraphSum
from bpgnn.infer.sample.choose import choose_sampler
from bpgnn.infer.sample.newcomers import draw_newcomers
from bpgnn.infer.sample.sampler import Sample
from bpgnn.infer.spaces import make_metric
from bpgnn.infer.witness import (
    Votes,
    equal_votes,
    gated_votes,
    mean_log_likeness,
    mixed_votes,
    witness_graph,
)


class Embedding(Protocol):
    """Turn node states into latent points V over the current graph (f of the paper)."""

    def __call__(
        self, states: object, graph: Graph, log_weight: Tensor | None, *, generator: torch.Generator
    ) -> Tensor:  # (N, D)
        """Return one latent point a node."""
        ...


@dataclass(frozen=True, kw_only=True)
class InferenceSettings:
    """Settle how a latent graph is inferred. A method's own settings build on these.

    Args:
        k: Neighbours drawn for each node.
        latent_dim: Latent dimensions D.
        metric: The space of latent points: `euclidean`, `hyperbolic`, `spherical`, or several
            of them, as `euclidean+hyperbolic`, which share the dimensions.
        temperature: The logarithm of 1/φ at the start; it is learned.
        standardize: Give every latent dimension of flat space mean zero and variance one.
        residual: How P meets the observed graph A: `boolean` (A ⋄ P), `sum` (A + α·P, α
            learned) or `none` (P alone).
        witness: Who votes in A ⋄ P: `equal` (each neighbour the same), `gated` (each by
            exp(-gate·γ²), the gate learned) or `mixed` (λ·P + (1-λ)·(A ⋄ P), λ learned).
        gate: The gate at the start: 0 is `equal`, 1/φ weighs witnesses by P_ik.
        own_share: λ at the start.
        node_share: Let λ depend on a node's degree and its neighbours' distances.
        symmetric: Average A ⋄ P and P ⋄ A.
        self_loops: Let every node be among its own witnesses.
        self_pairs: Let a node be drawn as its own neighbour.
        noise: `plus`, or `minus` as in the authors' code, which is not sampling from P~.
        floor: Cut P~ off at 1e-24, as in the authors' code.
        sampler: `auto`, `dense`, `blocked` or `lazy`.
    """

    k: int = 8
    latent_dim: int = 16
    metric: str = "euclidean"
    temperature: float = 1.0
    standardize: bool = True
    residual: Literal["boolean", "sum", "none"] = "boolean"
    witness: Literal["equal", "gated", "mixed"] = "gated"
    gate: float = 0.5
    own_share: float = 0.5
    node_share: bool = False
    symmetric: bool = False
    self_loops: bool = True
    self_pairs: bool = False
    noise: Literal["plus", "minus"] = "plus"
    floor: bool = False
    sampler: Literal["auto", "dense", "blocked", "lazy"] = "auto"


@final
@dataclass(frozen=True, eq=False)
class Inference:
    """Hold what a Boolean layer found.

    Args:
        latent: Latent points V as the embedding gives them, shape (N, D).
        kernel: The edge probabilities P, with the points on their space.
        probabilities: The product P~ that was sampled from.
        sample: The neighbours drawn, of newcomers alone where the others had theirs.
    """

    latent: Tensor
    kernel: KernelProbabilities
    probabilities: EdgeProbabilities
    sample: Sample


@final
class BooleanLayer(nn.Module):
    r"""Infer a latent graph from node states and the observed graph.

    .. math::
        V = f(U, A'), \quad P_{ij} = \exp(-\gamma(V_i, V_j)^2 / \phi), \quad
        \tilde P = A \diamond P, \quad A'' \sim \text{Gumbel-top-}k(\log \tilde P)

    Args:
        embedding: The GNN f, a module, with as many outputs as `settings` has dimensions.
        settings: How the graph is inferred.
    """

    def __init__(self, embedding: nn.Module, settings: InferenceSettings) -> None:
        """Make the temperature and, where the residual needs them, the shares."""
        super().__init__()
        self.embedding = embedding
        self.settings = settings
        # What the last graph was drawn with.
        self.sampler_name: str | None = None
        self.metric = make_metric(settings.metric, settings.latent_dim)
        self.temperature = nn.Parameter(torch.tensor(float(settings.temperature)))
        self.log_scale = nn.Parameter(torch.zeros(())) if settings.residual == "sum" else None
        mixed = settings.residual == "boolean" and settings.witness == "mixed"
        gated = settings.residual == "boolean" and settings.witness == "gated"
        self.gate = nn.Parameter(torch.tensor(float(settings.gate))) if gated else None
        logit = math.log(settings.own_share / (1 - settings.own_share))
        # The share depends on a bias and, by choice, on log-degree and mean log P_ik.
        share = torch.tensor([logit, 0.0, 0.0] if settings.node_share else [logit])
        self.share = nn.Parameter(share) if mixed else None

    @override
    def forward(
        self,
        states: object,
        current: Graph,
        log_weight: Tensor | None,
        observed: Graph | None,
        *,
        generator: torch.Generator,
        num_samples: int = 1,
        num_known: int | None = None,
        k: int | None = None,
    ) -> Inference:
        """Embed, multiply and sample.

        Args:
            states: Node states [U | V], whatever the embedding takes.
            current: The graph to embed over.
            log_weight: Logarithms of the current graph's edge weights, or None for ones.
            observed: The observed graph A, or None to sample P itself.
            generator: Where dropout and noise come from.
            num_samples: How many graphs to draw.
            num_known: So many nodes, the first, have been drawn for already. The others are
                newcomers: they are drawn for among those, whose points alone set the scale.
            k: Neighbours drawn for each node, where not as settled.

        Returns:
            Points, probabilities and neighbours.
        """
        latent = self.embedding(states, current, log_weight, generator=generator)
        kernel = self.kernel(latent, num_known)
        probabilities = self.product(kernel, observed)
        if num_known is not None:
            sample = draw_newcomers(
                probabilities, num_known, k or self.settings.k, num_samples, generator=generator
            )
            return Inference(latent, kernel, probabilities, sample)
        self._refuse_unless_finite(kernel)
        sampler = choose_sampler(self.settings.sampler, probabilities, self.settings.noise)
        self.sampler_name = sampler.name
        sample = sampler.sample(
            probabilities,
            self.settings.k if k is None else k,
            generator=generator,
            num_samples=num_samples,
            self_pairs=self.settings.self_pairs,
            noise=self.settings.noise,
        )
        return Inference(latent, kernel, probabilities, sample)

    def kernel(self, latent: Tensor, num_known: int | None = None) -> KernelProbabilities:  # (N, D)
        """Form P from latent points as the embedding gives them (eq. g4P)."""
        if self.settings.standardize:
            latent = self.metric.standardized(latent, num_known)
        points = self.metric.embed(latent)
        # The authors' parametrisation: 1/φ stays between e⁻⁵ and e⁵.
        return KernelProbabilities(points, self.temperature.clamp(-5, 5).exp(), self.metric)

    def product(self, kernel: KernelProbabilities, observed: Graph | None) -> EdgeProbabilities:
        """Join P with the observed graph (eq. PBMM)."""
        settings = self.settings
        if observed is None or settings.residual == "none":
            return kernel
        if self.log_scale is not None:
            return GraphSum(observed, self.log_scale, kernel)
        witnesses = witness_graph(
            observed, self_loops=settings.self_loops or self.share is not None
        )
        product = BooleanProduct(
            witnesses, self._votes(witnesses, kernel), kernel, self._floor(witnesses)
        )
        return Symmetrised(product) if settings.symmetric else product

    def _refuse_unless_finite(self, kernel: KernelProbabilities) -> None:
        """Refuse to sample from what is not a number: such a race would never end."""
        values = (kernel.latent.detach(), *(own.detach() for own in self.parameters()))
        if not all(bool(torch.isfinite(value).all()) for value in values):
            raise InputError(
                "The latent points or the weights they come from hold NaN or infinity. "
                "Look for such values in the features, or take smaller steps."
            )

    def _votes(self, witnesses: Graph, kernel: KernelProbabilities) -> Votes:
        if self.share is not None:
            return mixed_votes(witnesses, self._own_share(witnesses, kernel))
        if self.gate is not None:
            return gated_votes(witnesses, kernel, self.gate.clamp(min=0))
        return equal_votes(witnesses)

    def _own_share(self, witnesses: Graph, kernel: KernelProbabilities) -> Tensor:  # (N,)
        if self.share is None:
            return kernel.latent.new_zeros(witnesses.num_nodes)
        if len(self.share) == 1:
            return self.share.sigmoid().expand(witnesses.num_nodes)
        degree = witnesses.in_degree.to(kernel.latent.dtype).log()
        likeness = mean_log_likeness(witnesses, kernel)
        return (self.share[0] + self.share[1] * degree + self.share[2] * likeness).sigmoid()

    def _floor(self, witnesses: Graph) -> Tensor | None:  # (N,)
        if not self.settings.floor:
            return None
        degree = witnesses.in_degree.double().clamp(min=1e-8)
        return LOG_TINY - degree.log()
