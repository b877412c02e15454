import pytest

from bpgnn.data.synthetic import block_model
from bpgnn.training.plan import Plan

QUICK = {"max_steps": 12, "evaluate_every": 3, "hidden": (8, 8), "k": 4, "num_samples": 2}


@pytest.fixture(scope="session")
def small():
    """Sixty nodes in three classes."""
    return block_model(60, num_classes=3, mean_degree=6, num_features=8, seed=0)


@pytest.fixture
def make_plan():
    """Make a plan of a few quick steps, with some of it changed."""

    def make(*, seed=0, **changes):
        return Plan(seed=seed, changes={**QUICK, **changes})

    return make
