"""Where embed → probabilities → product → sample meet."""

import pytest
import torch
from torch import nn

from bpgnn.errors import InputError
from bpgnn.infer.boolean import BooleanProduct
from bpgnn.infer.geometry import Euclidean
from bpgnn.infer.layer import BooleanLayer, InferenceSettings
from bpgnn.infer.probabilities import KernelProbabilities, Symmetrised
from bpgnn.infer.residual import GraphSum
from tests.infer.examples import latent_points, observed_graph


class Given(nn.Module):
    """An embedding that returns points it was given, as a parameter."""

    def __init__(self, points):
        super().__init__()
        self.points = nn.Parameter(points)

    def forward(self, states, graph, log_weight, *, generator):
        return self.points


def layer(**changes):
    settings = InferenceSettings(**{"k": 2, "latent_dim": 2, "witness": "equal", **changes})
    return BooleanLayer(Given(latent_points(dim=settings.latent_dim, dtype=torch.float)), settings)


def infer(module, observed, **options):
    generator = torch.Generator().manual_seed(0)
    graph = observed or observed_graph("path")
    return module(None, graph, None, observed, generator=generator, **options)


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({}, BooleanProduct),
        ({"witness": "gated"}, BooleanProduct),
        ({"witness": "mixed", "node_share": True}, BooleanProduct),
        ({"symmetric": True}, Symmetrised),
        ({"residual": "sum"}, GraphSum),
        ({"residual": "none"}, KernelProbabilities),
    ],
)
def test_the_settings_choose_the_product_and_its_parameters_learn(changes, kind):
    module = layer(**changes)
    found = infer(module, observed_graph("star"))
    assert isinstance(found.probabilities, kind)
    edges = torch.tensor([[1, 2, 5], [0, 3, 4]])
    found.probabilities.log_entries(edges).sum().backward()
    for name, parameter in module.named_parameters():
        assert parameter.grad is not None, name
        assert torch.isfinite(parameter.grad).all(), name
        assert parameter.grad.abs().sum() > 0, name


def test_without_an_observed_graph_it_samples_p_itself():
    assert isinstance(infer(layer(), None).probabilities, KernelProbabilities)


def test_the_first_product_of_equal_votes_is_the_papers():
    found = infer(
        layer(self_loops=False, standardize=False, temperature=0.0), observed_graph("path")
    )
    p = torch.exp(-torch.cdist(found.latent, found.latent).square()).detach()
    wanted = (p[1] + p[3]) / 2
    torch.testing.assert_close(found.probabilities.to_dense()[2].detach(), wanted)


def test_a_mixed_vote_starts_at_its_own_share():
    observed = observed_graph("path")
    p = infer(layer(), observed).kernel.to_dense()
    equal = infer(layer(), observed).probabilities.to_dense()
    mixed = infer(layer(witness="mixed", own_share=0.25), observed).probabilities.to_dense()
    torch.testing.assert_close(mixed, 0.25 * p + 0.75 * equal)


def test_a_gate_of_zero_is_an_equal_vote():
    observed = observed_graph("star")
    gated = infer(layer(witness="gated", gate=0.0), observed).probabilities.to_dense()
    torch.testing.assert_close(gated, infer(layer(), observed).probabilities.to_dense())


def test_several_graphs_share_one_embedding():
    sample = infer(layer(), observed_graph("path"), num_samples=7).sample
    assert sample.neighbours.shape == sample.scores.shape == (7, 6, 2)
    assert not torch.equal(sample.neighbours[0], sample.neighbours[1])


def test_the_sharpness_stays_between_its_bounds():
    for start, wanted in ((9.0, 5.0), (-9.0, -5.0), (1.5, 1.5)):
        sharpness = infer(layer(temperature=start), None).kernel.sharpness
        torch.testing.assert_close(sharpness.log(), torch.tensor(wanted))


def test_the_authors_floor_is_1e_24_divided_by_the_degree():
    module = layer(floor=True, self_loops=False, standardize=False, temperature=5.0)
    nn.init.normal_(module.embedding.points, std=100.0)
    dense = infer(module, observed_graph("isolated")).probabilities.log_dense()
    assert dense[1, 5].item() == pytest.approx(-55.262 - 0.6931, abs=1e-3)
    assert dense[5, 0].item() == pytest.approx(-36.84, abs=1e-2)


@pytest.mark.parametrize("standardize", [True, False])
def test_only_flat_points_are_standardised_and_all_are_put_on_their_space(standardize):
    module = layer(metric="euclidean+spherical", latent_dim=4, standardize=standardize)
    raw = latent_points(dim=4, dtype=torch.float) * 3 + 1
    flat, curved = module.kernel(raw).latent.split(2, dim=1)
    wanted = Euclidean().standardized(raw[:, :2]) if standardize else raw[:, :2]
    torch.testing.assert_close(flat, wanted)
    torch.testing.assert_close(curved, raw[:, 2:] / raw[:, 2:].norm(dim=1, keepdim=True))


def test_the_scales_of_a_metric_are_parameters_of_the_layer():
    module = layer(metric="hyperbolic+hyperbolic", standardize=False)
    found = infer(module, observed_graph("star"))
    found.probabilities.log_entries(torch.tensor([[1, 2, 5], [0, 3, 4]])).sum().backward()
    names = [name for name, _ in module.named_parameters() if name.startswith("metric.")]
    assert len(names) == 2
    for name, parameter in module.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.abs().sum() > 0, name


@pytest.mark.parametrize("spoiled", ["embedding.points", "temperature", "gate"])
def test_what_is_not_a_number_is_refused_since_a_race_over_it_would_not_end(spoiled):
    module = layer(witness="gated")
    with torch.no_grad():
        dict(module.named_parameters())[spoiled].view(-1)[0] = torch.nan
    with pytest.raises(InputError, match="NaN or infinity"):
        infer(module, observed_graph("path"))


def test_the_number_of_neighbours_can_differ_from_what_is_settled():
    assert infer(layer(k=2), observed_graph("path"), k=5).sample.neighbours.shape == (1, 6, 5)
