"""Names of samplers, and the choice among them."""

from bpgnn.infer.sample.blocked import BlockedSampler
from bpgnn.infer.sample.dense import DenseSampler
from bpgnn.infer.sample.sampler import Sampler

SAMPLERS: dict[str, type[Sampler]] = {"dense": DenseSampler, "blocked": BlockedSampler}


def choose_sampler(name: str) -> Sampler:
    """Make the sampler of that name; `auto` takes the one that is fastest today.

    Example:
        >>> choose_sampler("auto").name
        'blocked'
    """
    # The blocked sampler does the dense one's work in less time and memory at every size.
    return SAMPLERS["blocked" if name == "auto" else name]()
