import pytest
import torch
from torch_geometric.nn import GATConv

from bpgnn.errors import InputError
from bpgnn.graph import Graph
from bpgnn.nn.gat import GAT


def reference(layer):
    """PyG's own attention with the same weights."""
    in_channels, out_channels = layer.weight.shape
    twin = GATConv(in_channels, out_channels // layer.heads, heads=layer.heads)
    with torch.no_grad():
        twin.lin.weight.copy_(layer.weight.T)
        twin.att_src.copy_(layer.source.unsqueeze(0))
        twin.att_dst.copy_(layer.target.unsqueeze(0))
        twin.bias.copy_(layer.bias)
    return twin


def in_plain_loops(layer, states, edges):
    """The definition; `edges` lists (source, target, weight) and may name a pair twice."""
    mapped = (states @ layer.weight).view(len(states), layer.heads, -1)
    rows = []
    for i in range(len(states)):
        sent = [(i, 1.0)] + [(j, weight) for j, target, weight in edges if target == i]
        heads = []
        for head in range(layer.heads):
            shares = []
            for j, weight in sent:
                logit = layer.target[head] @ mapped[i, head] + layer.source[head] @ mapped[j, head]
                logit = logit if logit > 0 else 0.2 * logit
                shares.append(weight * logit.exp())
            message = sum(s * mapped[j, head] for s, (j, _) in zip(shares, sent, strict=True))
            heads.append(message / sum(shares))
        rows.append(torch.cat(heads))
    return torch.stack(rows) + layer.bias


@pytest.fixture(params=[1, 4])
def layer(request, generator):
    layer = GAT(5, 8, heads=request.param)
    with torch.no_grad():
        layer.bias.copy_(torch.randn(8, generator=generator))
    return layer


@pytest.mark.parametrize("self_pairs", [False, True])
def test_without_weights_it_is_the_attention_of_pyg(
    layer, make_graph, states, generator, self_pairs
):
    graph = make_graph(self_pairs=self_pairs)
    found = layer(states, graph, None, generator=generator)
    torch.testing.assert_close(found, reference(layer)(states, graph.edge_index))


def test_with_weights_it_is_the_definition_in_plain_loops(layer, make_graph, states, generator):
    graph = make_graph(num_edges=25)
    weight = torch.rand(graph.num_edges, generator=generator) * 3
    edges = list(zip(*graph.edge_index.tolist(), weight.tolist(), strict=True))
    found = layer(states, graph, weight.log(), generator=generator)
    torch.testing.assert_close(found, in_plain_loops(layer, states, edges))


def test_an_edge_of_weight_two_is_two_parallel_edges(layer, states, generator):
    once = Graph(torch.tensor([[1, 2, 0], [0, 0, 1]]), 12)
    twice = torch.tensor([[1, 1, 2, 0], [0, 0, 0, 1]])
    log_weight = torch.tensor([2.0, 1.0, 1.0]).log()
    found = layer(states, once, log_weight, generator=generator)
    parallel = layer(states, Graph(twice, 12), None, generator=generator)
    torch.testing.assert_close(found, parallel)
    torch.testing.assert_close(found, reference(layer)(states, twice))


@pytest.mark.parametrize("log_weight", [-200.0, -torch.inf])
def test_an_edge_whose_weight_goes_to_zero_is_no_edge(layer, states, generator, log_weight):
    graph = Graph(torch.tensor([[1, 2, 0], [0, 0, 1]]), 12)
    weight = torch.tensor([log_weight, 0.0, 0.0], requires_grad=True)
    found = layer(states, graph, weight, generator=generator)
    without = Graph(graph.edge_index[:, 1:], 12)
    torch.testing.assert_close(found, layer(states, without, None, generator=generator))
    found.square().sum().backward()
    assert torch.isfinite(weight.grad).all()


def test_huge_attention_does_not_overflow(layer, make_graph, states, generator):
    found = layer(1e4 * states, make_graph(), None, generator=generator)
    assert torch.isfinite(found).all()


def test_relabelling_nodes_relabels_the_output(layer, make_graph, states, generator, relabelled):
    graph = make_graph()
    log_weight = torch.randn(graph.num_edges, generator=generator)
    place = torch.randperm(12, generator=generator)
    moved, moved_weight = relabelled(graph, place, log_weight)
    found = layer(states[place.argsort()], moved, moved_weight, generator=generator)
    expected = layer(states, graph, log_weight, generator=generator)
    torch.testing.assert_close(found[place], expected)


def test_the_gradient_reaches_states_and_weights_exactly(make_graph, generator):
    layer = GAT(5, 4, heads=2).double()
    graph = make_graph(num_edges=10, self_pairs=True)
    states = torch.randn(12, 5, generator=generator).double().requires_grad_()
    log_weight = torch.randn(graph.num_edges, generator=generator).double().requires_grad_()
    assert torch.autograd.gradcheck(
        lambda x, w: layer(x, graph, w, generator=generator), (states, log_weight)
    )


def test_attention_is_dropped_in_training_only(make_graph, states, generator):
    layer, graph = GAT(5, 4, attention_dropout=0.5), make_graph()
    noisy = [layer(states, graph, None, generator=generator) for _ in range(2)]
    assert not torch.equal(*noisy)
    still = [layer.eval()(states, graph, None, generator=generator) for _ in range(2)]
    assert torch.equal(*still)


def test_dropped_messages_leave_the_attention_alone(states, generator):
    """Without edges a node's whole attention is on itself, whatever its message loses."""
    layer = GAT(5, 8, heads=2, message_dropout=0.5)
    lonely = Graph(torch.empty(2, 0, dtype=torch.long), 12)
    whole = layer.eval()(states, lonely, None, generator=generator)
    found = layer.train()(states, lonely, None, generator=generator)
    kept = found != 0
    assert 0.3 < kept.float().mean() < 0.7
    torch.testing.assert_close(found[kept], 2 * whole[kept])


def test_heads_that_do_not_divide_the_width_are_refused():
    with pytest.raises(InputError, match="`heads` must divide `out_channels` 10, but got 4"):
        GAT(5, 10, heads=4)
