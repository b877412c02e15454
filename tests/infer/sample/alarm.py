"""One chance of a false alarm for every statistical test of samplers together."""

import zlib

import torch

from tests.infer.sample.cases import LARGE, SMALL
from tests.infer.sample.exactness import (
    LARGE_STATISTICS,
    STATISTICS,
    large_p_values,
    p_values,
)
from tests.infer.sample.samplers import BUILD, LARGE_BUILD
from tests.infer.sample.wrong import CONTROLS

FAMILY = 1e-4
"""The chance that right samplers raise any alarm at all, were seeds not fixed."""

COMPARISONS = (
    len(BUILD) * len(SMALL) * len(STATISTICS)
    + len(LARGE_BUILD) * len(LARGE) * len(LARGE_STATISTICS)
    + len(CONTROLS) * len(STATISTICS)
)
ALARM = FAMILY / COMPARISONS
"""A p-value below this is an alarm (Bonferroni)."""

DRAWS = 700
LARGE_DRAWS = 1000


def alarms(sampler, case, **options):
    """Draw a case many times; return the statistics that are alarmed, with their p-values."""
    large = case in LARGE
    probabilities, k = case.build()
    # Each case has noise of its own, the same in every run.
    generator = torch.Generator().manual_seed(zlib.crc32(str(case).encode()))
    drawn = sampler.sample(
        probabilities,
        k,
        generator=generator,
        num_samples=LARGE_DRAWS if large else DRAWS,
        self_pairs=case.self_pairs,
        **options,
    )
    test = large_p_values if large else p_values
    found = test(drawn.neighbours.numpy(), drawn.scores.numpy(), case.log_weights())
    return {name: p for name, p in found.items() if not p >= ALARM}
