import torch
from torch_geometric.nn import GCNConv

from bpgnn.nn.aggregation import weighted_sum
from bpgnn.nn.propagation import normalized


def test_a_normalised_sum_is_the_gcn_of_pyg(make_graph, states, generator):
    graph = make_graph()
    weight = torch.rand(graph.num_edges, generator=generator)
    layer = GCNConv(5, 5, bias=False)
    with torch.no_grad():
        layer.lin.weight.copy_(torch.eye(5))
    expected = layer(states, graph.edge_index, weight)
    ones = torch.ones(12, 1)
    propagate = normalized(lambda x: weighted_sum(x, graph, weight), ones)
    # PyG scales by the degrees of what comes in, too.
    torch.testing.assert_close(propagate(states), expected.detach())


def test_the_gradient_goes_through_the_normalisation(generator):
    matrix = torch.rand(4, 4, generator=generator, dtype=torch.double, requires_grad=True)
    states = torch.randn(4, 2, generator=generator, dtype=torch.double, requires_grad=True)
    ones = torch.ones(4, 1, dtype=torch.double)

    def propagated(one, other):
        return normalized(lambda x: one @ x, ones)(other)

    assert torch.autograd.gradcheck(propagated, (matrix, states))
    assert torch.autograd.gradgradcheck(propagated, (matrix, states))
