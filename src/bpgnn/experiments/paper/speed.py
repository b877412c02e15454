"""The paper's figure of the time that the product takes, and our samplers beside it."""

from bpgnn.experiments.execute import Job
from bpgnn.experiments.experiment import Experiment
from bpgnn.experiments.timing import WAYS, Timing

SIZES = (1_000, 2_000, 5_000, 10_000, 19_717)

# N by N in both factors, and N³ multiplications: beyond this it takes minutes and gigabytes.
_LARGEST_DENSE = 10_000

_FEW_NODES = 5_000


def grid(_: range) -> list[Timing]:
    """List every way at every size that it can be asked for."""
    return [
        Timing(way, size)
        for way in WAYS
        for size in SIZES
        if way != "matmul" or size <= _LARGEST_DENSE
    ]


def is_quick(job: Job) -> bool:
    """Leave out of a fast pass what takes minutes."""
    return isinstance(job, Timing) and job.num_nodes <= _FEW_NODES


SPEED = Experiment("speed", "How long does the product A ⋄ P take?", 1, grid, is_quick)
