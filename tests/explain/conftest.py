import pytest

from bpgnn.data.synthetic import block_model
from bpgnn.graph import Graph
from bpgnn.methods.registry import METHODS
from bpgnn.randomness import generator_for, seeded_globally
from bpgnn.training.evaluate import predict
from bpgnn.training.problem import make_problem


@pytest.fixture(scope="session")
def explained():
    """Build a method with fresh weights on a block model whose last node is alone, and predict."""

    def build(name="bpgnn", **changes):
        kind = METHODS[name]
        small = {"k": 3, "latent_dim": 3, "num_samples": 4, "hidden": (8, 6)}
        settings = kind.settings_type(**{**small, **changes} if name in SAMPLED else changes)
        data = block_model(60, num_classes=3, mean_degree=4, seed=0)
        edges = data.graph.edge_index
        data = data.with_graph(Graph(edges[:, (edges != 59).all(0)], 60))
        problem = make_problem(data, settings)
        with seeded_globally(0):
            method = kind.build(settings, problem)
        return method, problem, predict(method, problem, generator=generator_for(0))

    return build


SAMPLED = ("bpgnn", "ddgm-e", "ddgm-h", "ddgm-ehh", "ddgm-ss")
