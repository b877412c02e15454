"""The pairs most worth a human look."""

import numpy as np

from bpgnn.explore.scene import Scene


def improbable_observed(scene: Scene, count: int) -> np.ndarray:  # (at most count,)
    """Return the observed pairs that the model believes in least, the least first.

    They may be errors of the data. Equal probabilities are ordered by how seldom the pair
    was sampled.

    Args:
        scene: What is looked at.
        count: How many pairs at most.

    Returns:
        Numbers of pairs.
    """
    observed = np.flatnonzero(scene.kind != "added")
    order = np.lexsort((scene.frequency[observed], scene.weight[observed]))
    return observed[order[:count]]


def certain_added(scene: Scene, count: int) -> np.ndarray:  # (at most count,)
    """Return the pairs nobody observed that the model is surest of, the surest first.

    They may be missing from the data. A pair of more sampled graphs comes first; among equals
    the more probable one.

    Args:
        scene: What is looked at.
        count: How many pairs at most.

    Returns:
        Numbers of pairs.
    """
    added = np.flatnonzero(scene.kind == "added")
    order = np.lexsort((-scene.weight[added], -scene.frequency[added]))
    return added[order[:count]]
