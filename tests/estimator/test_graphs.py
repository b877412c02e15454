import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import torch
from torch_geometric.data import Data, HeteroData

from bpgnn.errors import InputError, RepairWarning
from bpgnn.estimator.graphs import read_edges, read_graph
from bpgnn.graph import Graph

PAIRS = [[0, 1], [1, 0], [1, 2], [2, 1]]


@pytest.mark.parametrize(
    "graph",
    [
        np.array(PAIRS),
        np.array(PAIRS).T,
        torch.tensor(PAIRS),
        PAIRS,
        nx.path_graph(3),
        Data(edge_index=torch.tensor(PAIRS).T, num_nodes=3),
        Graph.from_edge_index(torch.tensor(PAIRS).T, 3),
        scipy.sparse.coo_array((np.ones(4), np.array(PAIRS).T), shape=(3, 3)),
        scipy.sparse.csr_matrix((np.ones(4), np.array(PAIRS).T), shape=(3, 3)),
    ],
)
@pytest.mark.filterwarnings("ignore::bpgnn.errors.RepairWarning")
def test_every_form_of_a_graph_is_the_same_graph(graph):
    found = read_graph(graph, 3, None)
    assert found.undirected_pairs().tolist() == [[0, 1], [1, 2]]
    assert found.edge_weight is None


def test_weights_are_kept():
    matrix = scipy.sparse.csr_array(np.array([[0, 2.0], [2.0, 0]]))
    assert read_graph(matrix, 2, None).weights.tolist() == [2.0, 2.0]
    graph = nx.Graph()
    graph.add_edge("b", "a", weight=3.0)
    found = read_graph(graph, 2, np.array(["a", "b"]))
    assert found.weights.tolist() == [3.0, 3.0]


def test_repairs_are_said_and_send_nobody_to_a_setting_that_is_not_there():
    with pytest.warns(RepairWarning, match="3 edges had one direction") as caught:
        read_graph(np.array([[0, 1], [0, 2], [1, 2]]), 3, None)
    assert not any("directed" in str(one.message) for one in caught)
    unequal = scipy.sparse.csr_array(np.array([[0, 2.0], [1.0, 0]]))
    with pytest.warns(RepairWarning, match="larger was kept"):
        assert read_graph(unequal, 2, None).weights.tolist() == [2.0, 2.0]
    doubtful = scipy.sparse.csr_array(np.array([[0, 2.0, 4.0], [1.0, 0, 0], [0, 0, 0]]))
    with pytest.warns(RepairWarning) as caught:
        assert read_graph(doubtful, 3, None).weights.tolist() == [2.0, 4.0, 2.0, 4.0]
    assert [str(one.message) for one in caught] == [
        "1 edge had one direction only, and got the other.",
        "1 edge had two weights, one each way; the larger was kept.",
    ]


def test_an_undirected_networkx_graph_needs_no_repair():
    graph = nx.Graph([(0, 1), (1, 2)])
    assert read_graph(graph, 4, None).edge_index.tolist() == [[1, 0, 2, 1], [0, 1, 1, 2]]
    with pytest.warns(RepairWarning, match="2 edges had one direction"):
        read_graph(nx.DiGraph(graph.edges), 4, None)


def test_edges_of_an_undirected_networkx_graph_are_counted_once():
    doubled = nx.MultiGraph([(0, 1), (1, 0), (1, 2), (2, 2)])
    with pytest.warns(RepairWarning) as caught:
        found = read_graph(doubled, 3, None)
    assert found.undirected_pairs().tolist() == [[0, 1], [1, 2]]
    assert [str(one.message) for one in caught] == [
        "1 duplicate edge was counted once.",
        "1 self-loop was dropped; the model adds its own.",
    ]
    heavy = nx.MultiGraph([(0, 1, {"weight": 2.0}), (1, 0, {"weight": 3.0})])
    with pytest.warns(RepairWarning, match="1 duplicate edge was merged and the weights added up"):
        assert read_graph(heavy, 2, None).weights.tolist() == [5.0, 5.0]


def test_pyg_data_that_do_not_say_their_size_have_that_of_x():
    data = Data(edge_index=torch.tensor([[0, 1], [1, 0]]), edge_weight=torch.tensor([2, 2]))
    found = read_graph(data, 4, None)
    assert found.num_nodes == 4
    assert found.weights.tolist() == [2.0, 2.0]


def test_a_frame_of_pairs_is_read():
    frame = pd.DataFrame({"one": [0, 1, 2, 3], "other": [1, 0, 3, 2]})
    assert read_graph(frame, 4, None).undirected_pairs().tolist() == [[0, 2], [1, 3]]
    assert read_edges(frame, 4, 4).tolist() == [[0, 1, 2, 3], [1, 0, 3, 2]]


TWO = [[0, 1], [2, 3]]


@pytest.mark.parametrize(
    "edges", [[(0, 1), (2, 3)], ((0, 1), (2, 3)), pd.DataFrame(TWO, columns=["source", "target"])]
)
def test_two_tuples_and_two_rows_of_a_frame_are_two_edges(edges):
    assert read_edges(edges, 3, 4).tolist() == [[0, 2], [1, 3]]
    with pytest.warns(RepairWarning, match="one direction"):
        found = read_graph(edges, 4, None)
    assert found.undirected_pairs().tolist() == [[0, 2], [1, 3]]


@pytest.mark.parametrize("edges", [TWO, np.array(TWO), torch.tensor(TWO), tuple(np.array(TWO))])
def test_two_by_two_is_read_as_sources_and_targets_and_the_doubt_said(edges):
    words = r"join 0 with 2 and 1 with 3\. .*\[\(0, 2\), \(1, 3\)\], or \[\(0, 1\), \(2, 3\)\] if"
    with pytest.warns(UserWarning, match=words):
        assert read_edges(edges, 2, 4).tolist() == TWO


def test_where_both_readings_agree_there_is_no_doubt():
    assert read_edges(np.array([[0, 1], [1, 0]]), 2, 2).tolist() == [[0, 1], [1, 0]]


def test_rows_of_sources_and_targets_may_come_as_a_list():
    assert read_edges([[0, 1, 2], [3, 4, 5]], 3, 6).tolist() == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize("edges", [scipy.sparse.eye_array(3), nx.path_graph(4), "all"])
def test_new_edges_are_pairs_and_nothing_else(edges):
    with pytest.raises(InputError, match=r"`edges_new` must be an array of pairs \(row of"):
        read_edges(edges, 9, 9)


@pytest.mark.parametrize(
    ("pair", "words"),
    [
        ((-1, 0), "The first of .*`edges_new` .*the training's X, from 0 to 39, but one is -1"),
        ((40, 0), "The first of .*from 0 to 39, but one is 40"),
        ((0, 2), "The second of .*`edges_new` .*this X, from 0 to 1, but one is 2"),
        ((0, -3), "The second of .*from 0 to 1, but one is -3"),
    ],
)
def test_new_edges_join_rows_that_there_are(pair, words):
    with pytest.raises(InputError, match=words):
        read_edges([(39, 1), pair], 40, 2)


def test_names_that_are_there_twice_find_no_row():
    with pytest.raises(InputError, match="there twice"):
        read_graph(nx.Graph([("a", "b")]), 3, np.array(["a", "b", "a"]))


@pytest.mark.parametrize(
    ("graph", "words"),
    [
        (scipy.sparse.eye_array(4), "shape .4, 4., but X has 3 rows.*model_selection"),
        (np.array([[0, 7], [7, 0], [1, 2]]), "joins node 7.*model_selection"),
        ([[0, 1], [-1, 0], [1, 2]], "joins node -1, but the 3 rows of X are numbered from 0 to 2"),
        (nx.path_graph(5), "node 3, which is not among the numbers"),
        (Data(edge_index=torch.tensor([[0], [1]]), num_nodes=9), "9 nodes, but X has 3"),
        (np.zeros((3, 3)), "array of pairs.*scipy.sparse.csr_array"),
        ([[0, 1], [2]], "array of pairs.*got list"),
        (torch.eye(3).to_sparse(), "array of pairs.*got Tensor"),
        ([["a", "b"], ["b", "c"], ["c", "a"]], "networkx graph of them"),
        (-scipy.sparse.csr_array(np.ones((3, 3))), "weights must be positive"),
        (nx.Graph([(0, 1, {"weight": "heavy"})]), "`weight`.*must be a number"),
        (pd.DataFrame({"a": [0, 1], "b": [1, 2], "w": [5, 5]}), r"got DataFrame of shape \(2, 3\)"),
        (nx.Graph([("a", "b")]), "networkx.relabel_nodes"),
        (Data(x=torch.eye(3)), "no single `edge_index`"),
        (HeteroData(), "to_homogeneous"),
        (np.zeros((3, 2)), "whole numbers"),
        ("graph.csv", "array of pairs"),
    ],
)
def test_graphs_that_do_not_fit_are_refused(graph, words):
    with pytest.raises(InputError, match=words):
        read_graph(graph, 3, None)
