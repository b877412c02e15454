"""Explanations as plain sentences."""

import math
from collections.abc import Sequence

from bpgnn.explain.edge import EdgeReasons, Witness
from bpgnn.explain.names import Names, name_of, percent, short
from bpgnn.explain.node import Neighbour, NodeReasons


def edge_in_words(reasons: EdgeReasons, names: Names = None, *, most: int = 5) -> str:
    """Say in sentences who speaks for an edge.

    Args:
        reasons: Of the edge.
        names: One name a node, if they have any.
        most: How many neighbours to name on each side.

    Returns:
        A few sentences.

    Example:
        >>> votes = (
        ...     Witness(2, "target", 0.5, 0.8, 0.40, 0.80),
        ...     Witness(0, "target", 0.5, 0.2, 0.10, 0.20),
        ... )
        >>> print(edge_in_words(EdgeReasons(0, 1, 0.5, votes), ["Ann", "Bob", "Cy"]))
        Ann – Bob: probability 0.5. One of Ann's neighbours speaks for it: Cy (share 80 %: Cy and
        Bob are alike, P = 0.8); Ann itself 20 % (Ann and Bob are somewhat alike, P = 0.2).
    """
    target, source = (name_of(node, names) for node in (reasons.target, reasons.source))
    if reasons.is_sum:
        return _joined(_sum_in_words(reasons, target, source), names)
    sentences = [f"{target} – {source}: probability {short(reasons.probability)}."]
    ends = [("target", reasons.target, reasons.source)]
    if reasons.is_symmetric:
        ends.append(("source", reasons.source, reasons.target))
    for side, owner, other in ends:
        votes = [witness for witness in reasons.witnesses if witness.side == side]
        sentences.append(_side_in_words(votes, owner, other, names, most))
    if not reasons.witnesses:
        sentences.append("All nodes are equally likely to be drawn.")
    elif reasons.rest > _ROUNDING * reasons.probability:
        sentences.append("Together they are less than the least that is allowed, which counts.")
    return _joined(sentences, names)


def _side_in_words(
    votes: Sequence[Witness], owner: int, other: int, names: Names, most: int
) -> str:
    """Tell who among one end's witnesses speaks for the edge."""
    name = name_of(owner, names)
    own = [vote for vote in votes if vote.node == owner]
    neighbours = [vote for vote in votes if vote.node != owner]
    if not votes:
        return f"{name} has no neighbours to speak for it."
    if not neighbours:
        return f"Only {name} itself speaks for it: {_alike(own[0], other, names)}."
    speaking = [vote for vote in neighbours if vote.share >= _HEARD]
    if not speaking:
        text = f"None of {name}'s neighbours has a say of 1 % or more"
    else:
        verb = "speaks" if len(speaking) == 1 else "speak"
        text = f"{_count(len(speaking)).capitalize()} of {name}'s neighbours {verb} for it: "
        text += ", ".join(_voice(vote, other, names) for vote in speaking[:most])
        if left := speaking[most:]:
            share = percent(sum(vote.share for vote in left))
            text += f", and {_count(len(left))} more with {share} together"
    for vote in own:
        text += f"; {name} itself {percent(vote.share)} ({_alike(vote, other, names)})"
    return text + "."


def _voice(vote: Witness, other: int, names: Names) -> str:
    if vote.node == other:
        return f"{name_of(other, names)} itself, a neighbour already (share {percent(vote.share)})"
    alike = _alike(vote, other, names)
    return f"{name_of(vote.node, names)} (share {percent(vote.share)}: {alike})"


def _alike(vote: Witness, other: int, names: Names) -> str:
    if vote.node == other:
        return "every node is like itself"
    pair = f"{name_of(vote.node, names)} and {name_of(other, names)}"
    return f"{pair} are {_degree(vote.likeness)}, P = {short(vote.likeness)}"


def _degree(likeness: float) -> str:
    if likeness >= _ALIKE:
        return "alike"
    return "somewhat alike" if likeness >= _HARDLY else "hardly alike"


def _sum_in_words(reasons: EdgeReasons, target: str, source: str) -> list[str]:
    terms = {witness.side: witness for witness in reasons.witnesses}
    observed, latent = terms["observed"], terms["latent"]
    there = "The observed graph does not have the edge."
    if observed.contribution > 0:
        share = percent(observed.share)
        there = f"The observed graph has it, with weight {short(observed.weight)} (share {share})."
    counts = f"which counts {short(latent.weight)} times (share {percent(latent.share)})."
    alike = f"{_degree(latent.likeness)}, P = {short(latent.likeness)}, {counts}"
    return [
        f"{target} – {source}: weight {short(reasons.probability)} when neighbours are drawn.",
        there,
        f"{target} and {source} are {alike}",
    ]


def node_in_words(
    reasons: NodeReasons, names: Names = None, classes: Names = None, *, most: int = 3
) -> str:
    """Say in sentences what a node's prediction rests on.

    Args:
        reasons: Of the node.
        names: One name a node, if they have any.
        classes: One name a class, if they have any.
        most: How many neighbours to name for it, and how many against.

    Returns:
        A few sentences.

    Example:
        >>> friend, foe = Neighbour(1, 1.0, 0.4, 0.11), Neighbour(2, 0.5, 0.1, -0.02)
        >>> reasons = NodeReasons(0, 1, (0.25, 0.75), 0.56, 0.02, 0.75, 4, (friend, foe))
        >>> print(node_in_words(reasons, ["Ann", "Bob", "Cy"], ["red", "blue"]))
        Ann: blue, probability 0.75, then red, 0.25; 3 of 4 sampled graphs say blue. The
        prediction's entropy is 0.56 nats of at most 0.69, of which 0.02 is disagreement
        among the graphs. Without Bob, drawn in 4 of 4 graphs (P~ = 0.4), blue falls by 0.11.
        Without Cy, drawn in 2 of 4 graphs (P~ = 0.1), blue rises by 0.02.
    """
    best = name_of(reasons.predicted, classes, "class")
    helping = [one for one in reasons.neighbours if one.effect >= _FELT][:most]
    hindering = [one for one in reasons.neighbours if one.effect <= -_FELT][:most]
    sentences = [_prediction(reasons, best, names, classes), _openness(reasons)]
    sentences += [_loss(one, reasons, best, names) for one in (*helping, *hindering)]
    if not helping and not hindering:
        count = len(reasons.neighbours)
        sentences.append(
            f"None of its latent neighbours ({count} in all) changes that by {_FELT:g} or more."
        )
    return _joined(sentences, names)


def _prediction(reasons: NodeReasons, best: str, names: Names, classes: Names) -> str:
    shares = reasons.probabilities
    text = f"{name_of(reasons.node, names)}: {best}, probability {shares[reasons.predicted]:.2f}"
    others = [one for one in range(len(shares)) if one != reasons.predicted]
    if others:
        second = max(others, key=shares.__getitem__)
        text += f", then {name_of(second, classes, 'class')}, {shares[second]:.2f}"
    agreeing = round(reasons.agreement * reasons.num_graphs)
    return f"{text}; {agreeing} of {reasons.num_graphs} sampled graphs say {best}."


def _openness(reasons: NodeReasons) -> str:
    return (
        f"The prediction's entropy is {reasons.entropy:.2f} nats of at most "
        f"{math.log(len(reasons.probabilities)):.2f}, of which {reasons.disagreement:.2f} is "
        "disagreement among the graphs."
    )


def _loss(one: Neighbour, reasons: NodeReasons, best: str, names: Names) -> str:
    name = "itself" if one.node == reasons.node else name_of(one.node, names)
    times = round(one.frequency * reasons.num_graphs)
    change = "falls" if one.effect > 0 else "rises"
    return (
        f"Without {name}, drawn in {times} of {reasons.num_graphs} graphs "
        f"(P~ = {short(one.weight)}), {best} {change} by {short(abs(one.effect))}."
    )


def _joined(sentences: list[str], names: Names) -> str:
    """Put sentences together; `node 5` begins one with a capital, a name stays as it is."""
    return " ".join(sentences if names else [one[0].upper() + one[1:] for one in sentences])


def _count(number: int) -> str:
    return _NUMBERS[number] if number < len(_NUMBERS) else str(number)


_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")

# A neighbour with a smaller share of an edge is not named.
_HEARD = 0.01

# From these likenesses on, nodes are called alike, and somewhat alike.
_ALIKE, _HARDLY = 0.5, 0.05

# Half of the constant of a node without neighbours, beside the votes of the other end.
_ROUNDING = 1e-12

# A smaller change of a probability is not worth a sentence.
_FELT = 0.001
