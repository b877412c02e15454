"""What a latent graph was drawn from, or a sentence that there is nothing of the kind."""

from bpgnn.errors import InputError
from bpgnn.infer.probabilities import EdgeProbabilities
from bpgnn.method import Method, Output
from bpgnn.methods.registry import METHODS
from bpgnn.networks.sampled import SampledMethod


def product_of(method: Method, output: Output) -> EdgeProbabilities:
    """Return the edge probabilities P~ that a method's last latent graph was drawn from.

    With several Boolean layers they depend on the graphs drawn before; then they are those of
    the first sample.

    Args:
        method: A trained method.
        output: What its forward pass gave.

    Returns:
        The probabilities of the last Boolean layer.
    """
    found = method.edge_probabilities(output)
    if "product" in found:
        return found["product"]
    if isinstance(method, SampledMethod):
        raise InputError(
            "This method was built with `boolean_layers=0`, so it draws no graph and there is "
            "nothing to explain. Set `boolean_layers` to 1 or more."
        )
    able = [name for name, kind in METHODS.items() if issubclass(kind, SampledMethod)]
    lacks = "draws no graph from edge probabilities" if method.infers_graph else "infers no graph"
    raise InputError(
        f"{_name(method)} {lacks}, so there is nothing to explain edges or predictions by. Methods "
        f"that explain both: {', '.join(able)}."
    )


def check_node(node: int, num_nodes: int, *, name: str) -> None:
    """Refuse what is no node's number; `name` is what the caller's caller calls it."""
    whole = isinstance(node, int) and not isinstance(node, bool)
    if not whole or not 0 <= node < num_nodes:
        raise InputError(
            f"`{name}` must be a node's number from 0 to {num_nodes - 1}, but got {node!r}."
        )


def _name(method: Method) -> str:
    kinds = {kind: name for name, kind in METHODS.items()}
    return kinds.get(type(method), type(method).__name__)
