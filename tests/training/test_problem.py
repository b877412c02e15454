from dataclasses import replace

import numpy as np
import pytest
import torch
from sklearn.preprocessing import StandardScaler, normalize
from sklearn.utils.class_weight import compute_class_weight

from bpgnn.method import MethodSettings
from bpgnn.nn.sparse import SparseMatrix, matmul
from bpgnn.training.problem import make_problem


def dense(features):
    if isinstance(features, SparseMatrix):
        return matmul(features, torch.eye(features.size(1)))
    return features


@pytest.fixture
def counts(small):
    generator = torch.Generator().manual_seed(0)
    features = torch.randint(4, small.features.shape, generator=generator).float()
    return replace(small, features=features, feature_kind="counts")


def test_all_labels_but_those_of_training_are_hidden(small):
    unknown = small.labels.clone()
    first = int(small.split.train.nonzero()[0])
    unknown[first] = -1
    problem = make_problem(replace(small, labels=unknown), MethodSettings())
    expected = [int(i) for i in small.split.train.nonzero() if int(i) != first]
    assert problem.train.tolist() == expected
    shown = problem.labels >= 0
    assert shown.nonzero().squeeze(1).tolist() == expected
    assert torch.equal(problem.labels[shown], small.labels[shown])
    assert problem.num_classes == 3


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("scaling", ["auto", "rows"])
def test_counts_are_divided_by_their_row_sum(counts, scaling, sparse):
    expected = normalize(counts.features.numpy(), norm="l1")
    if sparse:
        counts = replace(counts, features=counts.features.to_sparse_csr())
    problem = make_problem(counts, MethodSettings(feature_scaling=scaling))
    assert isinstance(problem.features, SparseMatrix) is sparse
    np.testing.assert_allclose(dense(problem.features).numpy(), expected, rtol=1e-5)


@pytest.mark.parametrize("scaling", ["auto", "columns"])
def test_columns_of_tables_are_standardised(small, scaling):
    problem = make_problem(small, MethodSettings(feature_scaling=scaling))
    expected = StandardScaler().fit_transform(small.features.numpy())
    np.testing.assert_allclose(problem.features.numpy(), expected, atol=1e-5)


def test_without_scaling_features_are_taken_as_they_are(small):
    problem = make_problem(small, MethodSettings(feature_scaling="none"))
    assert torch.equal(problem.features, small.features)


def test_class_weights_are_those_of_scikit_learn_for_the_training_labels(small):
    assert make_problem(small, MethodSettings()).class_weight is None
    problem = make_problem(small, MethodSettings(class_weight="balanced"))
    labels = small.labels[small.split.train].numpy()
    expected = compute_class_weight("balanced", classes=np.arange(3), y=labels)
    np.testing.assert_allclose(problem.class_weight.numpy(), expected, rtol=1e-5)


def test_precision_is_an_argument(small):
    problem = make_problem(small, MethodSettings(), dtype=torch.double)
    assert problem.features.dtype == torch.double


def test_no_graph_stays_none(small):
    assert make_problem(small.with_graph(None), MethodSettings()).graph is None
