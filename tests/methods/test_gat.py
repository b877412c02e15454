import pytest
import torch
import torch.nn.functional as F
from torch_geometric.nn import GATConv

from bpgnn.errors import InputError
from bpgnn.methods.gat import GAT, GATSettings


def reference_layer(layer, *, average):
    """PyG's own layer with the same weights."""
    width = layer.source.size(1)
    twin = GATConv(layer.weight.size(0), width, heads=layer.heads, concat=not average)
    with torch.no_grad():
        twin.lin.weight.copy_(layer.weight.T)
        twin.att_src.copy_(layer.source.unsqueeze(0))
        twin.att_dst.copy_(layer.target.unsqueeze(0))
        twin.bias.copy_(layer.bias)
    return twin


@pytest.mark.parametrize("output_heads", [1, 4])
def test_predictions_are_those_of_pyg_with_the_same_weights(plain_problem, output_heads):
    settings = GATSettings(hidden=(8,), heads=2, output_heads=output_heads)
    method = GAT.build(settings, plain_problem).eval()
    first, last = method.stack.layers
    edges = plain_problem.graph.edge_index
    hidden = F.elu(reference_layer(first, average=False)(plain_problem.features, edges))
    wanted = reference_layer(last, average=True)(hidden, edges)
    found = method(plain_problem, generator=torch.Generator()).logits[0]
    torch.testing.assert_close(found, wanted)


def test_published_settings_have_eight_heads_of_eight_and_more_of_them_for_pubmed():
    cora, pubmed = (GAT.preset("published", name) for name in ("cora", "pubmed"))
    assert (cora.hidden, cora.heads, cora.output_heads, cora.learning_rate) == ((64,), 8, 1, 0.005)
    assert (cora.select_by, cora.patience, cora.message_dropout) == ("both", 100, 0.6)
    assert (pubmed.output_heads, pubmed.learning_rate, pubmed.weight_decay) == (8, 0.01, 1e-3)


def test_heads_that_cannot_share_a_width_get_a_sentence():
    with pytest.raises(InputError, match="`hidden` must be widths that 8 heads can share"):
        GATSettings(hidden=(20,))
