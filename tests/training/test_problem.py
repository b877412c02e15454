from dataclasses import replace

import numpy as np
import pytest
import torch
from sklearn.preprocessing import StandardScaler, normalize
from sklearn.utils.class_weight import compute_class_weight

from bpgnn.data.dataset import Split
from bpgnn.data.synthetic import block_model
from bpgnn.errors import InputError
from bpgnn.graph import Graph
from bpgnn.method import MethodSettings
from bpgnn.nn.sparse import SparseMatrix, matmul, values_of
from bpgnn.training.problem import make_problem, scaling_of, stopping_nodes


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


def test_tables_alone_are_standardised_on_request(small):
    settings = MethodSettings(feature_scaling="tables")
    assert scaling_of(replace(small, feature_kind="table"), settings) == "table"
    assert scaling_of(replace(small, feature_kind="counts"), settings) is None


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


@pytest.mark.parametrize("precision", [torch.half, torch.double, torch.long])
def test_edge_weights_get_the_precision_of_the_features(small, precision):
    weight = torch.arange(1, 1 + small.graph.num_edges).to(precision)
    weighted = small.with_graph(Graph(small.graph.edge_index, 60, weight))
    for dtype in (torch.float, torch.double):
        problem = make_problem(weighted, MethodSettings(), dtype=dtype)
        assert problem.graph.edge_weight.dtype == dtype
        assert torch.equal(problem.graph.edge_weight, weight.to(dtype))


@pytest.mark.parametrize("sparse", [False, True])
def test_no_gradient_goes_back_to_the_data(small, sparse):
    features = small.features.to_sparse_csr() if sparse else small.features.clone()
    weight = torch.ones(small.graph.num_edges, requires_grad=True)
    weighted = small.with_graph(Graph(small.graph.edge_index, 60, weight))
    data = replace(weighted, features=features.requires_grad_())
    problem = make_problem(data, MethodSettings(feature_scaling="none"))
    assert not values_of(problem.features).requires_grad
    assert not problem.graph.edge_weight.requires_grad
    assert weight.requires_grad


def test_no_graph_stays_none(small):
    assert make_problem(small.with_graph(None), MethodSettings()).graph is None


@pytest.mark.parametrize(("part", "share"), [("validation", 0.5), ("train", 0.2)])
def test_outer_nodes_leave_the_part_they_come_from(part, share):
    data = block_model(200, seed=0)
    settings = MethodSettings(outer_nodes=part)
    problem = make_problem(data, settings, seed=3)
    split = data.chosen_split()
    pool = getattr(split, part)
    outer = torch.zeros(200, dtype=torch.bool)
    outer[problem.outer] = True
    assert bool((outer & ~pool).sum() == 0)
    assert outer.sum() == int(share * pool.sum())
    assert torch.equal(problem.labels[problem.outer], data.labels[problem.outer])
    train = split.train & ~outer
    assert torch.equal(problem.train, train.nonzero().squeeze(1))
    assert torch.equal(stopping_nodes(data, problem), split.validation & ~outer)
    hidden = ~(train | outer)
    assert bool((problem.labels[hidden] == -1).all())


def test_the_seed_draws_the_outer_nodes():
    data, settings = block_model(200, seed=0), MethodSettings(outer_nodes="validation")
    one, same, other = (make_problem(data, settings, seed=seed).outer for seed in (1, 1, 2))
    assert torch.equal(one, same)
    assert not torch.equal(one, other)


def test_without_outer_nodes_all_validation_nodes_stop_the_training():
    data = block_model(100, seed=0)
    problem = make_problem(data, MethodSettings())
    assert problem.outer is None
    assert torch.equal(stopping_nodes(data, problem), data.chosen_split().validation)


def with_labels(num_train, num_validation):
    place = torch.arange(60)
    train = place < num_train
    validation = ~train & (place < num_train + num_validation)
    split = Split("own", train, validation, place > 50)
    return replace(block_model(60, num_classes=2, seed=0), labels=place % 2, split=split)


@pytest.mark.parametrize(
    ("part", "other", "num_train", "num_validation", "needed"),
    [("train", "validation", 4, 2, 5), ("validation", "train", 5, 1, 2)],
)
def test_too_few_labels_for_outer_nodes_send_to_the_part_with_enough(
    part, other, num_train, num_validation, needed
):
    data = with_labels(num_train, num_validation)
    words = f"={part}` needs {needed} labelled nodes.* Set `outer_nodes={other}`: there are"
    with pytest.raises(InputError, match=words):
        make_problem(data, MethodSettings(outer_nodes=part))
    assert len(make_problem(data, MethodSettings(outer_nodes=other)).outer) == 1


@pytest.mark.parametrize("part", ["train", "validation"])
def test_too_few_labels_in_either_part_say_how_many_there_must_be(part):
    words = f"={part}` needs .*Label 5 training nodes.*keep 2 or more .*`validation_share`"
    with pytest.raises(InputError, match=words):
        make_problem(with_labels(2, 0), MethodSettings(outer_nodes=part))
