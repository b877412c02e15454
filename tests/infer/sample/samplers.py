"""Every sampler under test, and variants that force the paths which defaults avoid."""

from bpgnn.infer.sample.blocked import BlockedSampler
from bpgnn.infer.sample.choose import SAMPLERS
from bpgnn.infer.sample.frontier import Effort
from bpgnn.infer.sample.lazy import LazySampler

BUILD = {
    **SAMPLERS,
    "blocked by 5": lambda: BlockedSampler(block_size=5),
    "lazy with single points": lambda: LazySampler(1, Effort(4, 4, 64, 1.5, 1e9)),
    "lazy with loose bounds": lambda: LazySampler(2, Effort(3, 3, 64, 30.0, 30.0)),
    "lazy by scanning": lambda: LazySampler(2, Effort(3, 3, 0, 4.0, 0.0)),
}
"""Samplers of a few nodes; the lazy ones have more nodes than room for points."""

LARGE_BUILD = {
    **SAMPLERS,
    "lazy with a tree": lambda: LazySampler(4, Effort(24, 48, 256, 6.0, 1000.0)),
    "lazy with few points": lambda: LazySampler(4, Effort(12, 24, 64, 1.5, 1e9)),
    "lazy by scanning": lambda: LazySampler(4, Effort(12, 24, 0, 4.0, 0.0)),
}
"""Samplers of many nodes; the lazy ones have trees of several levels."""
