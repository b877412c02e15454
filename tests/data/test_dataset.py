from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse
import torch

from bpgnn.data.dataset import Dataset, Split, make_dataset
from bpgnn.data.sparse import rows_from_scipy
from bpgnn.errors import InputError, RepairWarning

FEATURES = torch.eye(4)
LABELS = torch.tensor([0, 1, 0, 1])


def mask(*nodes, size=4):
    chosen = torch.zeros(size, dtype=torch.bool)
    chosen[list(nodes)] = True
    return chosen


def test_a_clean_graph_is_taken_as_it_is():
    data = make_dataset("own", FEATURES, LABELS, torch.tensor([[0, 1, 2, 3], [1, 0, 3, 2]]))
    assert data.notes == ()
    assert data.num_pairs == 2
    assert data.num_classes == 2


@pytest.mark.parametrize(
    ("edges", "words", "num_pairs"),
    [
        ([[0, 1, 2, 3, 2], [1, 0, 3, 2, 2]], "1 self-loop was dropped", 2),
        ([[0, 1, 0, 2, 3], [1, 0, 1, 3, 2]], "1 duplicate edge was counted once", 2),
        ([[0, 1, 2], [1, 0, 3]], "1 edge had one direction only, and got the other", 2),
    ],
)
def test_a_doubtful_graph_is_repaired_and_said(edges, words, num_pairs):
    with pytest.warns(RepairWarning, match=words):
        data = make_dataset("own", FEATURES, LABELS, torch.tensor(edges))
    assert any(words in note for note in data.notes)
    assert data.num_pairs == num_pairs
    assert data.graph.is_undirected
    assert data.graph.num_edges == 2 * num_pairs


def test_isolated_nodes_are_noted_without_a_warning():
    data = make_dataset("own", FEATURES, LABELS, torch.tensor([[0, 1], [1, 0]]))
    assert data.notes == ("2 nodes have no neighbour; each serves as its own.",)


def test_two_weights_of_one_pair_become_the_larger_and_are_said():
    edges = torch.tensor([[0, 1, 2, 3], [1, 0, 3, 2]])
    weight = torch.tensor([1.0, 3.0, 2.0, 2.0])
    with pytest.warns(RepairWarning, match="the larger was kept"):
        data = make_dataset("own", FEATURES, LABELS, edges, edge_weight=weight)
    assert data.graph.weights.tolist() == [3.0, 3.0, 2.0, 2.0]


def test_two_repairs_at_once_are_both_said():
    edges, weight = torch.tensor([[0, 1, 1], [1, 0, 2]]), torch.tensor([2.0, 3.0, 1.0])
    with pytest.warns(RepairWarning) as caught:
        data = make_dataset("own", FEATURES, LABELS, edges, edge_weight=weight)
    assert data.graph.weights.tolist() == [3.0, 3.0, 1.0, 1.0]
    said = [str(one.message) for one in caught]
    assert len(said) == 2
    assert said[0].startswith("1 edge had one direction only, and got the other; set `directed`")
    assert said[1] == "1 edge had two weights, one each way; the larger was kept."
    assert data.notes == (*said, "1 node has no neighbour; each serves as its own.")


def test_directed_edges_stay_as_they_are():
    data = make_dataset(
        "own", FEATURES, LABELS, torch.tensor([[0, 1, 2], [1, 2, 3]]), directed=True
    )
    assert data.graph.num_edges == 3
    assert not data.graph.is_undirected


@pytest.mark.parametrize(
    ("edges", "words"),
    [
        (torch.tensor([[0], [4]]), "node numbers from 0 to 3, but it holds numbers from 0 to 4"),
        (torch.tensor([[0], [-1]]), "holds numbers from -1 to 0"),
        (torch.tensor([[0, 1], [1, 2], [2, 3]]), r"shape \(2, E\), but got \(3, 2\)"),
        (torch.tensor([0, 1]), r"shape \(2, E\), but got \(2,\)"),
        (torch.tensor([[0.0], [1.0]]), "whole numbers, but its type is torch.float32"),
    ],
)
def test_bad_edges_are_refused(edges, words):
    with pytest.raises(InputError, match=words):
        make_dataset("own", FEATURES, LABELS, edges)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_features_that_are_not_finite_are_refused_and_located(value):
    features = FEATURES.clone()
    features[2, 1] = value
    with pytest.raises(
        InputError, match="1 values are NaN or infinite, the first in row 2, column 1"
    ):
        make_dataset("own", features, LABELS)
    sparse = rows_from_scipy(scipy.sparse.csr_array(features.numpy()))
    with pytest.raises(InputError, match="1 values are NaN or infinite"):
        make_dataset("own", sparse, LABELS)


@pytest.mark.parametrize(
    ("features", "labels", "words"),
    [
        (FEATURES, LABELS[:3], "one entry for each of the 4 rows of features"),
        (FEATURES, LABELS.float(), "class numbers of type int64.*got torch.float32"),
        (FEATURES, LABELS - 2, "from 0 up, and -1 where unknown, but got -2"),
        (FEATURES, np.array(["a", "b", "a", "b"]), "`labels` must be a tensor or a numpy array"),
        (FEATURES, LABELS.tolist(), "`labels` must be a tensor or a numpy array.*got list"),
        (FEATURES.cfloat(), LABELS, "a matrix of floating-point numbers"),
        (FEATURES[0], LABELS, "a matrix of floating-point numbers"),
        (FEATURES[0].to_sparse(), LABELS, "a matrix of floating-point numbers"),
        (FEATURES.tolist(), LABELS, "`features` must be a tensor.*got list"),
        (FEATURES[:0], LABELS[:0], "`features` has no rows"),
    ],
)
def test_features_and_labels_that_do_not_fit_are_refused(features, labels, words):
    with pytest.raises(InputError, match=words):
        make_dataset("own", features, labels)


def test_numpy_arrays_are_read_as_tensors():
    edges = torch.tensor([[0, 1, 2, 3], [1, 0, 3, 2]])
    weight = torch.tensor([2.0, 2.0, 3.0, 3.0])
    expected = make_dataset("own", FEATURES, LABELS, edges, edge_weight=weight)
    found = make_dataset(
        "own",
        FEATURES.numpy(),
        LABELS.numpy().astype(np.int32),
        edges.numpy(),
        edge_weight=weight.numpy(),
    )
    assert torch.equal(found.features, expected.features)
    assert torch.equal(found.labels, expected.labels)
    assert torch.equal(found.graph.edge_index, expected.graph.edge_index)
    assert torch.equal(found.graph.weights, expected.graph.weights)


@pytest.mark.parametrize("kind", [torch.float, torch.double, torch.long, torch.bool])
@pytest.mark.parametrize("layout", [torch.sparse_coo, torch.sparse_csr, torch.sparse_csc])
def test_sparse_features_of_every_layout_and_type_become_rows(layout, kind):
    dense = torch.tensor([[0, 1, 0], [1, 0, 1], [0, 0, 0], [1, 1, 1]]).to(kind)
    features = make_dataset("own", dense.to_sparse(layout=layout), LABELS).features
    assert features.layout == torch.sparse_csr
    assert features.dtype == (kind if kind.is_floating_point else torch.float)
    assert features.to_dense().tolist() == dense.tolist()
    scipys = make_dataset("own", scipy.sparse.coo_array(dense.numpy()), LABELS).features
    assert scipys.to_dense().tolist() == dense.tolist()


def test_whole_numbers_become_floats():
    assert torch.equal(make_dataset("own", FEATURES.long(), LABELS).features, FEATURES)


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ((mask(), mask(1), mask(2)), "The train mask is empty"),
        ((mask(0, 1), mask(1), mask(2)), "train and validation masks overlap in 1 nodes"),
        ((mask(0, 2), mask(1), mask(2)), "train and test masks overlap"),
        ((mask(0), mask(1, 2), mask(2)), "validation and test masks overlap"),
        ((mask(0), mask(1), mask(2, size=5)), "one entry a node"),
        ((mask(0).int(), mask(1), mask(2)), "a Boolean vector"),
    ],
)
def test_masks_that_make_no_sense_are_refused(parts, words):
    with pytest.raises(InputError, match=words):
        Split("own", *parts)


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        ([-1, -1, 0, 1], "No training node has a label"),
        ([1, 1, 0, 1], "one class only .*label more nodes of each"),
        ([0, 1, -1, 1], "No validation node has a label.*the validation mask may be empty"),
        ([0, 1, 0, -1], "No test node has a label.*the test mask may be empty"),
    ],
)
def test_labels_that_leave_nothing_to_learn_or_measure_are_refused(labels, words):
    parts = Split("own", mask(0, 1), mask(2), mask(3))
    with pytest.raises(InputError, match=words):
        make_dataset("own", FEATURES, torch.tensor(labels), split=parts)


def test_parts_without_nodes_need_no_labels():
    labels = torch.tensor([0, 1, -1, -1])
    parts = Split("own", mask(0, 1), mask(), mask())
    assert make_dataset("own", FEATURES, labels, split=parts).split is parts


def test_masks_of_another_length_are_refused():
    parts = Split("own", mask(0, 1, size=5), mask(2, size=5), mask(3, size=5))
    with pytest.raises(InputError, match="The masks have 5 entries, but there are 4 nodes"):
        make_dataset("own", FEATURES, LABELS, split=parts)


def test_names_must_be_enough():
    with pytest.raises(InputError, match="must name 2 classes, but it has 1"):
        make_dataset("own", FEATURES, LABELS, class_names=("a",))
    with pytest.raises(InputError, match="must name 4 nodes, but it has 2"):
        make_dataset("own", FEATURES, LABELS, node_names=("a", "b"))


def test_data_without_a_split_say_how_to_choose_one():
    with pytest.raises(InputError, match="own has no split yet"):
        make_dataset("own", FEATURES, LABELS).chosen_split()


def test_a_graph_of_another_size_is_refused():
    graph = make_dataset("own", FEATURES, LABELS, torch.tensor([[0, 1], [1, 0]])).graph
    with pytest.raises(InputError, match="The graph has 4 nodes, but there are 3 rows"):
        Dataset("own", FEATURES[:3], LABELS[:3], graph)


def test_another_graph_brings_its_notes():
    data = make_dataset("own", FEATURES, LABELS, torch.tensor([[0, 1, 2, 3], [1, 0, 3, 2]]))
    bare = data.with_graph(None, "The graph was taken away.")
    assert bare.num_pairs == 0
    assert bare.notes == ("The graph was taken away.",)
    joined = replace(data, num_neighbours=1)
    assert joined.with_graph(data.graph).num_neighbours is None
