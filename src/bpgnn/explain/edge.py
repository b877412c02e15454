"""Why one latent edge is as likely as it is."""

from dataclasses import dataclass
from typing import final

import torch

from bpgnn.errors import InputError
from bpgnn.explain.contributions import SIDES, Contributions, Side, contributions
from bpgnn.explain.product import check_node, product_of
from bpgnn.method import Method, Output


@final
@dataclass(frozen=True)
class Witness:
    """Hold one term of an edge's probability, a vote.

    Args:
        node: The witness k.
        side: Whose witness it is: the edge's `target` i's or, in the symmetric product, its
            `source` j's. The sum A + α·P has the terms `observed` (A_ij) and `latent` (α·P_ij).
        weight: What its vote counts for, W_ik; half of that in the symmetric product.
        likeness: How much it resembles the other end, P_kj.
        contribution: Weight times likeness.
        share: Its share of all contributions.
    """

    node: int
    side: Side
    weight: float
    likeness: float
    contribution: float
    share: float


@final
@dataclass(frozen=True)
class EdgeReasons:
    """Say why the edge j → i is as likely as it is.

    Args:
        target: The node i, which would get the message.
        source: The node j, which would send it.
        probability: P~_ij, the sum of all contributions and the rest.
        witnesses: Who speaks for the edge, the most weighty first.
        rest: What nobody is behind: the constant 1e-24 of a node without witnesses, or a
            floor.
    """

    target: int
    source: int
    probability: float
    witnesses: tuple[Witness, ...]
    rest: float = 0.0

    @property
    def is_symmetric(self) -> bool:
        """Tell whether witnesses of the source speak as well."""
        return any(witness.side == "source" for witness in self.witnesses)

    @property
    def is_sum(self) -> bool:
        """Tell whether this is A + α·P, which is a weight and may be above one."""
        return any(witness.side == "observed" for witness in self.witnesses)


def explain_edge(method: Method, output: Output, i: int, j: int) -> EdgeReasons:
    r"""Say who is behind the edge j → i of the last Boolean layer, and by how much.

    .. math:: \tilde P_{ij} = \sum_{k} W_{ik} P_{kj}

    Each witness k of i, an observed neighbour or by setting i itself, contributes one term.
    For many edges at once take :func:`~bpgnn.explain.contributions.contributions`.

    Args:
        method: A trained method that draws graphs: BPGNN or a dDGM.
        output: What it predicted (:func:`bpgnn.training.evaluate.predict`).
        i: The target of the edge, whose witnesses vote.
        j: Its source, whom they vote for; another node than i unless `self_pairs` is set.

    Returns:
        The probability and its terms; they add up to it.

    Example:
        >>> import bpgnn
        >>> from bpgnn.randomness import generator_for
        >>> from bpgnn.training.evaluate import predict
        >>> data = bpgnn.block_model(60, num_classes=3, seed=0)
        >>> fit = bpgnn.fit(data, bpgnn.Plan(changes={"max_steps": 3}))
        >>> output = predict(fit.method, fit.problem, generator=generator_for(0))
        >>> reasons = explain_edge(fit.method, output, 5, 7)
        >>> total = sum(witness.contribution for witness in reasons.witnesses)
        >>> abs(total - reasons.probability) < 1e-12
        True
    """
    product = product_of(method, output)
    for name, node in (("i", i), ("j", j)):
        check_node(node, product.num_nodes, name=name)
    if i == j and not getattr(method.settings, "self_pairs", False):
        raise InputError(
            "Both ends of the edge are the same node, and none is ever drawn as its own neighbour. "
            "Name two nodes, or train with `self_pairs=true`."
        )
    return edge_reasons(contributions(product, torch.tensor([[j], [i]])), j, i)


def edge_reasons(found: Contributions, source: int, target: int, entry: int = 0) -> EdgeReasons:
    """Read one edge out of many.

    Args:
        found: What the witnesses of many edges contribute.
        source: The edge's source.
        target: Its target.
        entry: Its place among the edges that were asked about.
    """
    begin, end = found.pointer[entry : entry + 2].tolist()
    columns = (
        found.nodes[begin:end].tolist(),
        [SIDES[side] for side in found.sides[begin:end].tolist()],
        *(
            part[begin:end].tolist()
            for part in (found.weight, found.likeness, found.contribution, found.share)
        ),
    )
    rest = float(found.rest[entry])
    probability = float(found.contribution[begin:end].sum()) + rest
    return EdgeReasons(
        target=target,
        source=source,
        probability=probability,
        witnesses=tuple(Witness(*row) for row in zip(*columns, strict=True)),
        rest=rest,
    )
