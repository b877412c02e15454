import networkx as nx
import numpy as np
import pytest
import scipy.sparse
import torch
from torch_geometric.data import Data

from bpgnn.errors import InputError, RepairWarning
from bpgnn.estimator.graphs import read_graph
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
    with pytest.warns(RepairWarning):
        found = read_graph(graph, 2, np.array(["a", "b"]))
    assert found.weights.tolist() == [3.0, 3.0]


def test_repairs_are_said():
    with pytest.warns(RepairWarning, match="one direction"):
        read_graph(np.array([[0, 1], [0, 2], [1, 2]]), 3, None)


@pytest.mark.parametrize(
    ("graph", "words"),
    [
        (scipy.sparse.eye_array(4), "shape .4, 4., but X has 3 rows.*model_selection"),
        (np.array([[0, 7], [7, 0], [1, 2]]), "joins node 7.*model_selection"),
        (nx.path_graph(5), "node 3, which is not among the numbers"),
        (Data(edge_index=torch.tensor([[0], [1]]), num_nodes=9), "9 nodes, but X has 3"),
        (np.zeros((3, 3)), "array of pairs"),
        (np.zeros((3, 2)), "whole numbers"),
        ("graph.csv", "array of pairs"),
    ],
)
def test_graphs_that_do_not_fit_are_refused(graph, words):
    with pytest.raises(InputError, match=words):
        read_graph(graph, 3, None)
