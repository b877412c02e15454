import numpy as np
import pytest
from sklearn.base import BaseEstimator

from bpgnn.data.synthetic import block_model

TINY = {"hidden": (8,), "embedding_hidden": (8,), "num_samples": 2}


class Recorder(BaseEstimator):
    """Keep what each fit was handed, and give every node the commonest label it saw."""

    calls = []  # noqa: RUF012  shared on purpose: clones must write to the same list

    def __init__(self, offset=0):
        self.offset = offset

    def fit(self, X, y, graph=None):
        Recorder.calls.append((X, np.array(y, copy=True), graph))
        known = np.asarray(y)[np.asarray(y) != -1]
        self.classes_, counts = np.unique(known, return_counts=True)
        self.transduction_ = np.full(len(y), self.classes_[counts.argmax()] + self.offset)
        return self


@pytest.fixture
def recorder():
    Recorder.calls.clear()
    return Recorder()


@pytest.fixture(scope="session")
def blocks():
    """Forty nodes in two classes: features, labels with every fifth missing, and a graph."""
    data = block_model(40, num_classes=2, mean_degree=6, num_features=6, seed=0)
    labels = np.where(np.arange(40) % 5 == 0, -1, data.labels.numpy())
    return data.features.numpy(), labels, data.graph
