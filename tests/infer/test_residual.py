"""The residual connection of earlier work."""

import torch

from bpgnn.graph import Graph
from bpgnn.infer.residual import GraphSum
from tests.infer.examples import latent_points, make


def test_without_an_observed_edge_only_the_latent_part_is_left():
    kernel = make("kernel")[0]
    total = GraphSum(Graph.empty(6), torch.tensor(0.5).double().log(), kernel)
    torch.testing.assert_close(total.to_dense(), 0.5 * kernel.to_dense())


def test_the_scale_learns():
    kernel = make("kernel", latent=latent_points())[0]
    scale = torch.tensor(0.0, dtype=torch.double, requires_grad=True)
    edges = Graph.from_edge_index(torch.tensor([[0], [1]]), 6)
    GraphSum(edges, scale, kernel).log_entries(torch.tensor([[0, 2], [1, 3]])).sum().backward()
    assert scale.grad is not None
    assert 1.0 < float(scale.grad) < 2.0
