import torch

from bpgnn.graph import Graph
from bpgnn.nn.aggregation import edge_products, edge_weights, weighted_sum


def test_the_weighted_sum_is_the_adjacency_matrix_times_the_states(make_graph, states, generator):
    graph = make_graph(self_pairs=True)
    weight = torch.rand(graph.num_edges, generator=generator)
    dense = torch.zeros(12, 12)
    dense[graph.targets, graph.sources] = weight
    torch.testing.assert_close(weighted_sum(states, graph, weight), dense @ states)


def test_the_weighted_sum_is_differentiable_in_states_and_weights(make_graph, generator):
    graph = make_graph(num_edges=10)
    states = torch.randn(12, 3, generator=generator).double().requires_grad_()
    weight = torch.rand(graph.num_edges, generator=generator).double().requires_grad_()
    assert torch.autograd.gradcheck(lambda x, w: weighted_sum(x, graph, w), (states, weight))
    assert torch.autograd.gradgradcheck(lambda x, w: weighted_sum(x, graph, w), (states, weight))


def test_edges_that_stand_twice_count_twice(states):
    twice = Graph(torch.tensor([[1, 1, 2], [0, 0, 1]]), 12)
    found = weighted_sum(states, twice, torch.tensor([0.5, 2.0, 1.0]))
    torch.testing.assert_close(found[0], 2.5 * states[1])
    products = edge_products(states, states, twice)
    torch.testing.assert_close(products[:2], (states[0] @ states[1]).expand(2))


def test_more_edges_than_pairs_of_nodes_are_multiplied_one_by_one(states):
    many = Graph(torch.tensor([[1] * 5 + [0] * 4, [0] * 5 + [1] * 4]), 2)
    products = edge_products(states[:2], states[:2], many)
    torch.testing.assert_close(products, (states[0] @ states[1]).expand(9))


def test_a_graph_without_edges_sums_and_multiplies_nothing(states):
    empty = Graph.empty(12)
    assert not weighted_sum(states, empty, torch.ones(0)).any()
    assert edge_products(states, states, empty).shape == (0,)


def test_products_across_edges_are_entries_of_the_product_of_both(make_graph, states):
    graph = make_graph(self_pairs=True)
    dense = states @ (2 * states + 1).T
    found = edge_products(states, 2 * states + 1, graph)
    torch.testing.assert_close(found, dense[graph.targets, graph.sources])


def test_products_across_edges_are_differentiable_twice_in_both_ends(make_graph, generator):
    graph = make_graph(num_edges=10)
    ends = [torch.randn(12, 3, generator=generator).double().requires_grad_() for _ in range(2)]
    assert torch.autograd.gradcheck(lambda x, y: edge_products(x, y, graph), ends)
    assert torch.autograd.gradgradcheck(lambda x, y: edge_products(x, y, graph), ends)


def test_edges_have_weight_one_unless_told_and_self_pairs_have_none():
    graph = Graph(torch.tensor([[1, 0, 1], [0, 1, 1]]), 2)
    assert edge_weights(graph, None, torch.ones(1)).tolist() == [1, 1, 0]
    told = edge_weights(graph, torch.tensor([0.5, 2.0, 3.0]).log(), torch.ones(1))
    torch.testing.assert_close(told, torch.tensor([0.5, 2.0, 0.0]))
