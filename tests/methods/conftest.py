import pytest

from bpgnn.data.synthetic import block_model
from bpgnn.method import MethodSettings
from bpgnn.training.problem import make_problem


@pytest.fixture
def block():
    """Thirty nodes in three classes."""
    return block_model(30, num_classes=3, mean_degree=4, num_features=7, seed=0)


@pytest.fixture
def plain_problem(block):
    return make_problem(block, MethodSettings())
