"""Every sampler under test, and variants that force the paths which defaults avoid."""

from bpgnn.infer.sample.blocked import BlockedSampler
from bpgnn.infer.sample.choose import SAMPLERS
from bpgnn.infer.sample.lazy import LazySampler

BUILD = {
    **SAMPLERS,
    "blocked by 5": lambda: BlockedSampler(block_size=5),
    "lazy with one heavy point": lambda: LazySampler(num_heavy=1),
}
# Small blocks of many nodes take minutes and show nothing that they do not show of few.
LARGE_BUILD = {name: build for name, build in BUILD.items() if name != "blocked by 5"}
