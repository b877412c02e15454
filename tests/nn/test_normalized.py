import pytest
import torch

from bpgnn.graph import Graph
from bpgnn.nn.normalized import normalized


@pytest.mark.parametrize("weighted", [True, False])
def test_entries_are_those_of_the_dense_matrix(make_graph, weighted):
    graph = make_graph()
    if weighted:
        weight = torch.rand(graph.num_edges, generator=torch.Generator().manual_seed(1)) + 0.1
        graph = Graph(graph.edge_index, graph.num_nodes, weight)
    dense = torch.eye(graph.num_nodes)
    dense[graph.targets, graph.sources] += graph.weights
    scale = dense.sum(1).rsqrt()
    found = torch.zeros_like(dense)
    answer = normalized(graph, dense)
    found[answer.targets, answer.sources] = answer.weights
    torch.testing.assert_close(found, scale.unsqueeze(1) * dense * scale)


def test_a_self_loop_counts_once_and_an_isolated_node_keeps_itself():
    graph = Graph.from_edge_index(torch.tensor([[0, 1, 0], [1, 0, 0]]), num_nodes=3)
    found = normalized(graph, torch.ones(1, dtype=torch.float64))
    assert found.num_edges == 5
    assert found.weights.tolist() == pytest.approx([0.5, 0.5, 0.5, 0.5, 1.0])
    assert found.weights.dtype == torch.float64
