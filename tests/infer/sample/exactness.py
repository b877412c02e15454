"""Exact probabilities of draws without replacement, and tests of counts against them."""

from itertools import permutations

import numpy as np
from scipy import stats


def ordered_probabilities(weights, length):
    """Compute the chance of each ordered draw of some length (Plackett–Luce)."""
    total = sum(weights)
    chances = {}
    for order in permutations([j for j, w in enumerate(weights) if w > 0], length):
        left, chance = total, 1.0
        for j in order:
            # What is left is summed anew: a difference would lose the small weights.
            chance *= weights[j] / left
            taken = order[: order.index(j) + 1]
            left = sum(w for m, w in enumerate(weights) if m not in taken)
        chances[order] = chance
    return chances


def chi_square_p_value(counts, chances):
    """Test counts against chances; cells of expectation under 5 are pooled."""
    total = sum(counts.values())
    cells = sorted(chances, key=lambda cell: chances[cell])
    seen, wanted = [], []
    pooled = [0.0, 0.0]
    for cell in cells:
        expected = chances[cell] * total
        if expected < 5:
            pooled[0] += counts.get(cell, 0)
            pooled[1] += expected
        else:
            seen.append(counts.get(cell, 0))
            wanted.append(expected)
    impossible = total - sum(counts.get(cell, 0) for cell in cells)
    if impossible:
        return 0.0
    if pooled[1] < 5 and seen:
        # Too rare to be a cell of its own: a Poisson tail says whether it came too often.
        if stats.poisson.sf(pooled[0] - 1, max(pooled[1], 1e-12)) < 1e-9 and pooled[0] > 0:
            return 0.0
        seen[0] += pooled[0]
        wanted[0] += pooled[1]
    elif pooled[1] >= 5:
        seen.append(pooled[0])
        wanted.append(pooled[1])
    if len(seen) < 2:
        return 1.0
    scale = sum(seen) / sum(wanted)
    return float(stats.chisquare(seen, np.array(wanted) * scale).pvalue)
