"""Who votes on a node's edges, and with what weight."""

from dataclasses import dataclass
from typing import final

import torch
from torch import Tensor

from bpgnn.graph import Graph
from bpgnn.infer.probabilities import KernelProbabilities
from bpgnn.infer.segments import log_sum_exp_by


def witness_graph(observed: Graph, *, self_loops: bool) -> Graph:
    """Give each node its observed neighbours as witnesses and, if asked, itself.

    A node's own weight is the mean weight of its edges, so that it has one vote among equals.
    """
    observed = observed.without_self_loops()
    if not self_loops:
        return observed
    nodes = torch.arange(observed.num_nodes, device=observed.edge_index.device)
    both = torch.cat([observed.edge_index, torch.stack([nodes, nodes])], dim=1)
    if observed.edge_weight is None:
        return Graph.from_edge_index(both, observed.num_nodes)
    weight = observed.edge_weight
    total = weight.new_zeros(observed.num_nodes).index_add(0, observed.targets, weight)
    own = torch.where(total > 0, total / observed.in_degree.clamp(min=1), 1.0)
    return Graph.from_edge_index(both, observed.num_nodes, torch.cat([weight, own]))


@final
@dataclass(frozen=True, eq=False)
class Votes:
    """Hold the weights of votes, as logarithms.

    Args:
        log_weight: Weight of each witness; those of a node add up to one, shape (E,).
        log_total: What those of a node added up to before, shape (N,).
    """

    log_weight: Tensor
    log_total: Tensor


def equal_votes(witnesses: Graph) -> Votes:
    r"""Weigh votes by the observed edge alone: :math:`W_{ik} = A_{ik} / \sum_k A_{ik}`."""
    return _normalised(witnesses.weights.double().log(), witnesses)


def gated_votes(witnesses: Graph, kernel: KernelProbabilities, gate: Tensor) -> Votes:
    r"""Weigh votes by likeness too, with a sharpness g of its own.

    .. math:: W_{ik} \propto A_{ik} \exp(-g \, \gamma(V_i, V_k)^2)

    At g = 0 votes are equal; at g = 1/φ each is weighted by P_ik.
    """
    target, source = (kernel.latent[ends] for ends in (witnesses.targets, witnesses.sources))
    likeness = -gate * kernel.metric.squared_between(target, source)
    return _normalised(witnesses.weights.to(likeness.dtype).log() + likeness, witnesses)


def mixed_votes(witnesses: Graph, own_share: Tensor) -> Votes:  # (N,)
    r"""Give each node λ of its own vote, and share the rest equally.

    .. math:: \tilde P = \lambda P + (1 - \lambda) (A \diamond P)

    Args:
        witnesses: A graph in which every node is among its own witnesses.
        own_share: λ for each node, shape (N,).

    Returns:
        The weights; their total is that of equal votes.
    """
    share = own_share[witnesses.targets]
    equal = equal_votes(witnesses)
    own = (witnesses.sources == witnesses.targets).to(share.dtype)
    mixed = share * own + (1 - share) * equal.log_weight.to(share.dtype).exp()
    return Votes(mixed.log(), equal.log_total)


def mean_log_likeness(witnesses: Graph, kernel: KernelProbabilities) -> Tensor:  # (N,)
    """Average log P_ik over the witnesses k of each node, itself left out."""
    values = kernel.log_entries(witnesses.edge_index)
    others = (witnesses.sources != witnesses.targets).to(values.dtype)
    total = values.new_zeros(witnesses.num_nodes).index_add(0, witnesses.targets, values)
    count = values.new_zeros(witnesses.num_nodes).index_add(0, witnesses.targets, others)
    return total / count.clamp(min=1)


def _normalised(log_weight: Tensor, witnesses: Graph) -> Votes:
    total = log_sum_exp_by(log_weight, witnesses.targets, witnesses.num_nodes)
    return Votes(log_weight - total[witnesses.targets], total)
