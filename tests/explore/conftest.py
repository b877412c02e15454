import numpy as np
import pytest

from bpgnn.explore.scene import BeforeAfter


@pytest.fixture(scope="session")
def small():
    """The arrays of a scene of four nodes: kept 0–1, added 1–2 (seen by 0), dropped 2–3."""
    return {
        "title": "Four papers",
        "node_names": ["ant", "bee", "beetle", "cat"],
        "places": [[0.0, 0.0], [4.0, 0.0], [4.0, 3.0], [0.0, 3.0]],
        "class_names": ["insect", "mammal"],
        "labels": [0, 0, -1, 1],
        "predictions": [0, 1, 0, 1],
        "confidence": [0.9, 0.6, 0.7, 0.8],
        "entropy": [0.3, 0.7, 0.6, 0.5],
        "part": ["train", "validation", "test", ""],
        "features": ["legs: 6", "wings: 4", "", "legs: 4"],
        "pairs": [[0, 1, 2], [1, 2, 3]],
        "kind": ["kept", "added", "dropped"],
        "weight": [0.5, 0.75, 0.125],
        "frequency": [0.6, 1.0, 0.0],
        "witness_pointer": [0, 0, 2, 2],
        "witness_nodes": [3, 0],
        "witness_shares": [0.25, 0.75],
        "witness_similarity": [0.5, 0.875],
        "figures": (BeforeAfter("Homophily", 0.5, 0.75), BeforeAfter("Accuracy", None, 0.9)),
    }


@pytest.fixture(scope="session")
def many():
    """The arrays of a scene of 200 nodes and 6000 pairs of few different probabilities."""
    draw = np.random.default_rng(0)
    first, second = np.triu_indices(200, 1)
    chosen = draw.permutation(first.size)[:6000]
    return {
        "title": "Many pairs",
        "node_names": [f"node {i}" for i in range(200)],
        "places": draw.normal(size=(200, 2)),
        "class_names": [f"class {c}" for c in range(12)],
        "labels": draw.integers(12, size=200),
        "predictions": draw.integers(12, size=200),
        "confidence": draw.random(200),
        "entropy": draw.random(200),
        "part": [""] * 200,
        "features": [""] * 200,
        "pairs": np.stack([first[chosen], second[chosen]]),
        "kind": draw.choice(["kept", "added", "dropped"], p=[0.3, 0.6, 0.1], size=6000),
        "weight": np.round(draw.random(6000), 2),
        "frequency": draw.random(6000),
        "witness_pointer": np.zeros(6001, dtype=int),
        "witness_nodes": [],
        "witness_shares": [],
        "witness_similarity": [],
    }
