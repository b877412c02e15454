from dataclasses import replace

import torch
import torch.nn.functional as F

from bpgnn.methods.mlp import MLP
from bpgnn.networks.layered import LayeredSettings


def test_it_is_two_linear_maps_with_a_rectifier_between(plain_problem):
    method = MLP.build(LayeredSettings(hidden=(5,)), plain_problem).eval()
    first, second = method.stack.layers
    hidden = F.relu(plain_problem.features @ first.weight + first.bias)
    found = method(plain_problem, generator=torch.Generator()).logits
    torch.testing.assert_close(found, (hidden @ second.weight + second.bias).unsqueeze(0))


def test_it_takes_no_notice_of_a_graph_and_needs_none(plain_problem):
    method = MLP.build(LayeredSettings(), plain_problem).eval()
    without = replace(plain_problem, graph=None)
    found = [method(it, generator=torch.Generator()).logits for it in (plain_problem, without)]
    assert torch.equal(*found)


def test_published_settings_are_those_of_the_field():
    found = MLP.preset("published", "cora")
    assert (found.hidden, found.dropout, found.split) == ((32,), 0.5, "public")
    assert MLP.preset("paper", "cora").hidden == (32, 16, 8)
