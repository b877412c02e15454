import numpy as np
import pytest
import torch

from bpgnn.errors import InputError
from bpgnn.layers.inputs import (
    checked_expected,
    checked_features,
    checked_nodes,
    checked_size,
    observed_graph,
    remembered_nodes,
)

X = torch.zeros(3, 2)
DRAWN = torch.tensor([[1, 2, 0], [0, 1, 2]])
LOG_PROB = torch.zeros(3)


@pytest.mark.parametrize(
    ("x", "words"),
    [
        (torch.zeros(3), r"shape \(N, 2\)"),
        (torch.zeros(3, 5), r"shape \(N, 2\).*but got \(3, 5\)"),
        (torch.zeros(3, 2).double(), "torch.float32, but is torch.float64"),
        (torch.zeros(3, 2).long(), "is torch.int64"),
        (torch.zeros(3, 2).to_sparse(), "to_dense"),
    ],
)
def test_features_that_do_not_fit_are_refused(x, words):
    with pytest.raises(InputError, match=words):
        checked_features(x, 2, torch.float)


def test_half_precision_is_widened():
    assert checked_features(X.bfloat16(), 2, torch.float).dtype == torch.float


@pytest.mark.parametrize(
    ("edges", "weight", "words"),
    [
        ([[0], [3]], None, "from 0 to 2, but it holds numbers from 0 to 3"),
        ([[0], [-1]], None, "from 0 to 2"),
        ([[0, 1, 2]], None, r"shape \(2, E\)"),
        ([[0.0], [1.0]], None, "whole numbers"),
        ([[0], [1]], [1.0, 1.0], "one weight for each"),
        ([[0], [1]], [0.0], "positive finite"),
        (None, [1.0], "came without an `edge_index`"),
    ],
)
def test_edges_that_cannot_be_are_refused(edges, weight, words):
    edges = None if edges is None else torch.tensor(edges)
    with pytest.raises(InputError, match=words):
        observed_graph(X, edges, None if weight is None else torch.tensor(weight))


def test_self_loops_go_duplicates_merge_and_directions_stay():
    edges = torch.tensor([[0, 0, 1, 2], [1, 1, 1, 0]])
    graph = observed_graph(X, edges, torch.tensor([1.0, 2.0, 5.0, 4.0]))
    assert graph.edge_index.tolist() == [[2, 0], [0, 1]]
    assert graph.edge_weight.tolist() == [4.0, 3.0]
    assert observed_graph(X, edges, None).edge_weight is None
    assert observed_graph(X, None, None) is None


def test_too_many_neighbours_are_refused_or_clipped():
    assert checked_size(2, 3, clip=False) == 2
    with pytest.raises(InputError, match="each has only 2 others.*clip_k=True"):
        checked_size(3, 3, clip=False)
    assert [checked_size(3, n, clip=True) for n in (0, 1, 2, 3, 4, 5)] == [0, 0, 1, 2, 3, 3]


def test_a_mask_and_numbers_name_the_same_nodes():
    right = torch.tensor([1, 0])
    mask = checked_nodes(torch.tensor([True, False, True]), right, LOG_PROB, DRAWN)
    assert mask.tolist() == [0, 2]
    assert checked_nodes(torch.tensor([2, 0]), right, LOG_PROB, DRAWN).tolist() == [2, 0]
    every = checked_nodes(None, torch.tensor([1.0, 0.0, 1.0]), LOG_PROB, DRAWN)
    assert every.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("nodes", "right", "words"),
    [
        (None, [True, False], "has 3 nodes.*has 2 values"),
        ([True, False], [True], "has 3 nodes.*has 2 values"),
        ([0, 1], [True], "one value for each of the 2 nodes"),
        ([0, 3], [True, True], "from 0 to 2.*`n_id`"),
        ([-1], [True], "from 0 to 2"),
        ([1, 1], [True, True], "each node once"),
        ([0.5], [True], "node numbers, or a mask"),
        ([0], [0.7], "zeros and ones"),
        ([0], [[True]], "must be a vector"),
    ],
)
def test_labelled_nodes_that_cannot_be_are_refused(nodes, right, words):
    nodes = None if nodes is None else torch.tensor(nodes)
    with pytest.raises(InputError, match=words):
        checked_nodes(nodes, torch.tensor(right), LOG_PROB, DRAWN)


def test_parts_of_different_draws_are_refused():
    with pytest.raises(InputError, match="one call of the layer"):
        checked_nodes(None, torch.ones(3), torch.zeros(5), DRAWN)


def test_running_means_are_kept_by_numbers_of_the_whole_graph_where_given():
    numbers = torch.tensor([2, 0])
    assert remembered_nodes(numbers, None) is numbers
    assert remembered_nodes(numbers, torch.tensor([40, 50, 60])).tolist() == [60, 40]
    for n_id in ([40, 50], [40.0, 50.0, 60.0], [-1, 0, 1], [True, True, True]):
        with pytest.raises(InputError, match="`n_id` must hold"):
            remembered_nodes(numbers, torch.tensor(n_id))


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: checked_features(X.numpy(), 2, torch.float), "x"),
        (lambda: observed_graph(X, [[0], [1]], None), "edge_index"),
        (lambda: observed_graph(X, DRAWN, np.ones(3)), "edge_weight"),
        (lambda: checked_nodes(None, np.ones(3), LOG_PROB, DRAWN), "right"),
        (lambda: checked_nodes([0, 1], torch.ones(2), LOG_PROB, DRAWN), "nodes"),
        (lambda: checked_expected([0.5], torch.ones(1)), "expected"),
    ],
)
def test_what_is_no_tensor_is_sent_to_torch(call, name):
    with pytest.raises(InputError, match=f"`{name}` must be a tensor.*torch.as_tensor"):
        call()


def test_running_means_from_elsewhere_have_one_value_for_each_answer():
    mine = torch.tensor([0.2, 0.4])
    assert checked_expected(mine, torch.ones(2)) is mine
    with pytest.raises(InputError, match="one value for each of the 3"):
        checked_expected(mine, torch.ones(3))
