"""What every witness contributes to the probability of each of many edges."""

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple, final

import torch
from torch import Tensor

from bpgnn.errors import InputError
from bpgnn.graph import check_edges
from bpgnn.infer.boolean import LOG_TINY, BooleanProduct
from bpgnn.infer.probabilities import EdgeProbabilities, KernelProbabilities, Symmetrised
from bpgnn.infer.residual import GraphSum
from bpgnn.infer.segments import expand_runs, log_sum_exp_by

Side = Literal["target", "source", "observed", "latent"]

SIDES: tuple[Side, ...] = ("target", "source", "observed", "latent")
"""What a term is: a vote of the target's witness, a vote of the source's, or A and α·P."""

_TARGET, _SOURCE, _OBSERVED, _LATENT = range(4)


@final
@dataclass(frozen=True, eq=False)
class Contributions:
    r"""Hold the terms of the sums :math:`\tilde P_{ij} = \sum_k W_{ik} P_{kj}`, one after another.

    Args:
        pointer: Where the terms of each edge begin and end, shape (M + 1,).
        nodes: The witness k of each term, the largest term of an edge first, shape (T,).
        sides: What each term is, a place in `SIDES`, shape (T,).
        weight: What the vote of k counts for, W_ik, shape (T,).
        likeness: How much k resembles the other end, P_kj, shape (T,).
        contribution: Their product, shape (T,).
        share: Its share of all terms of the edge, shape (T,).
        rest: What no term is behind: a row without witnesses has a constant, and the setting
            `floor` cuts off below one, shape (M,).
    """

    pointer: Tensor
    nodes: Tensor
    sides: Tensor
    weight: Tensor
    likeness: Tensor
    contribution: Tensor
    share: Tensor
    rest: Tensor

    @property
    def entry(self) -> Tensor:  # (T,)
        """Say which edge each term belongs to."""
        return torch.repeat_interleave(self.pointer.diff())

    @property
    def probability(self) -> Tensor:  # (M,)
        """Add up the terms of each edge, and what no term is behind."""
        return self.rest.index_add(0, self.entry, self.contribution)


@torch.no_grad()
def contributions(probabilities: EdgeProbabilities, edges: Tensor) -> Contributions:  # (2, M)
    r"""Take the probabilities of edges j → i apart into what each witness contributes.

    A ⋄ P has a term :math:`W_{ik} P_{kj}` for each witness k of i. Its symmetric form has half
    of each, and of :math:`W_{jk} P_{ki}` for each witness k of j. P alone has one, i's own. The
    sum A + α·P has two: A_ij, that is j for itself, and α·P_ij, that is i for itself.

    All is computed in float64; memory is that of the terms.

    Args:
        probabilities: What edges are drawn from.
        edges: Source j and target i of each edge, shape (2, M).

    Returns:
        The terms of every edge, in the order of `edges`.

    Example:
        >>> from bpgnn.graph import Graph
        >>> from bpgnn.infer.geometry import Euclidean
        >>> from bpgnn.infer.witness import equal_votes
        >>> latent = torch.tensor([[9.0], [0.0], [2.0], [1.0]])
        >>> kernel = KernelProbabilities(latent, torch.tensor(1.0), Euclidean())
        >>> observed = Graph.from_edge_index(torch.tensor([[1, 2], [0, 0]]), num_nodes=4)
        >>> product = BooleanProduct(observed, equal_votes(observed), kernel)
        >>> found = contributions(product, torch.tensor([[2], [0]]))
        >>> found.nodes, found.likeness, found.share
        (tensor([2, 1]),
         tensor([1.0000, 0.0183], dtype=torch.float64),
         tensor([0.9820, 0.0180], dtype=torch.float64))
    """
    check_edges(edges, probabilities.num_nodes, None, name="edges")
    edges = edges.long().to(probabilities.device)
    terms = _terms(probabilities, edges)
    count = edges.size(1)
    log_contribution = terms.log_weight + terms.log_likeness
    # Shares are of logarithms: they hold where a probability is too small for a number.
    total = log_sum_exp_by(log_contribution, terms.entry, count)
    share = (log_contribution - total[terms.entry]).exp().nan_to_num(nan=0.0)
    order = torch.argsort(log_contribution, descending=True, stable=True)
    order = order[torch.argsort(terms.entry[order], stable=True)]
    weight, likeness = (log[order].exp() for log in (terms.log_weight, terms.log_likeness))
    start = torch.zeros(1, dtype=torch.long, device=edges.device)
    return Contributions(
        pointer=torch.cat([start, torch.bincount(terms.entry, minlength=count).cumsum(0)]),
        nodes=terms.node[order],
        sides=terms.side[order].long(),
        weight=weight,
        likeness=likeness,
        contribution=weight * likeness,
        share=share[order],
        rest=terms.rest,
    )


@final
class _Terms(NamedTuple):
    """Hold terms W P in any order: of which edge, by whom, what it is; and what is left."""

    entry: Tensor  # (T,)
    node: Tensor  # (T,)
    side: Tensor  # (T,)
    log_weight: Tensor  # (T,)
    log_likeness: Tensor  # (T,)
    rest: Tensor  # (M,)


def _terms(probabilities: EdgeProbabilities, edges: Tensor) -> _Terms:
    if isinstance(probabilities, BooleanProduct):
        return _votes(probabilities, edges)
    if isinstance(probabilities, Symmetrised):
        halves = (_terms(probabilities.half, way) for way in (edges, edges.flip(0)))
        return _joined(*map(_halved, halves, (_TARGET, _SOURCE)))
    each = torch.arange(edges.size(1), device=edges.device)
    nothing = torch.zeros(len(each), dtype=torch.double, device=edges.device)
    source, target = edges
    if isinstance(probabilities, GraphSum):
        observed = probabilities.observed_at(edges).double().log()
        scale = probabilities.log_scale.double().expand(len(each))
        likeness = _log_likeness(probabilities.kernel, edges)
        return _joined(
            _Terms(each, source, _all(_OBSERVED, each), observed, nothing, nothing),
            _Terms(each, target, _all(_LATENT, each), scale, likeness, nothing),
        )
    if isinstance(probabilities, KernelProbabilities):
        likeness = _log_likeness(probabilities, edges)
        return _Terms(each, target, _all(_TARGET, each), nothing, likeness, nothing)
    raise InputError(
        f"Edges drawn from {type(probabilities).__name__} cannot be explained: it is not among "
        "the products of an observed graph and P that have witnesses."
    )


def _votes(product: BooleanProduct, edges: Tensor) -> _Terms:
    """List the votes on each edge, and by how much its row's floor lies above their sum."""
    source, target = edges
    graph = product.witnesses
    num_witnesses = graph.in_degree[target]
    vote, entry = expand_runs(graph.row_pointer[target], num_witnesses)
    node, log_weight = graph.sources[vote], product.log_weight.double()[vote]
    likeness = _log_likeness(product.kernel, torch.stack([source[entry], node]))
    if product.row_floor is None:
        floor = _TINY * (num_witnesses == 0).double()
    else:
        floor = product.row_floor.double()[target].exp()
    total = log_sum_exp_by(log_weight + likeness, entry, edges.size(1)).exp()
    rest = (floor - total).clamp(min=0.0)
    return _Terms(entry, node, _all(_TARGET, entry), log_weight, likeness, rest)


def _halved(terms: _Terms, side: int) -> _Terms:
    log_weight = terms.log_weight - _LOG_2
    return terms._replace(
        side=_all(side, terms.entry), log_weight=log_weight, rest=0.5 * terms.rest
    )


def _joined(first: _Terms, second: _Terms) -> _Terms:
    joined = _Terms(*(torch.cat(pair) for pair in zip(first, second, strict=True)))
    return joined._replace(rest=first.rest + second.rest)


def _all(side: int, like: Tensor) -> Tensor:  # (T,)
    return torch.full_like(like, side, dtype=torch.int8)


def _log_likeness(kernel: KernelProbabilities, pairs: Tensor) -> Tensor:  # (2, T) -> (T,)
    wide = KernelProbabilities(kernel.latent.double(), kernel.sharpness.double(), kernel.metric)
    # A pair's two points have D numbers each, so pairs go in parts.
    return torch.cat([wide.log_entries(part) for part in pairs.split(_AT_A_TIME, dim=1)])


_LOG_2 = 0.6931471805599453

_TINY = math.exp(LOG_TINY)

# Pairs measured at a time.
_AT_A_TIME = 500_000
