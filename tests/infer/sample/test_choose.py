"""Names of samplers, and the choice among them."""

import pytest

from bpgnn.infer.sample.choose import SAMPLERS, choose_sampler
from tests.infer.examples import (
    METRIC_NAMES,
    edge_probabilities,
    graph_of,
    kernel_of,
    latent_points,
    make,
)


@pytest.mark.parametrize("name", SAMPLERS)
def test_a_sampler_is_made_by_its_own_name(name):
    assert choose_sampler(name, make("product")[0]).name == name


@pytest.mark.parametrize("kind", ["kernel", "product", "gated", "mixed", "symmetric", "sum"])
def test_auto_takes_the_one_that_holds_no_matrix(kind):
    assert choose_sampler("auto", make(kind)[0]).name == "lazy"


@pytest.mark.parametrize("metric", METRIC_NAMES)
def test_auto_does_so_in_every_metric(metric):
    kernel = kernel_of(latent_points(dim=4), 1.0, metric)
    assert choose_sampler("auto", kernel).name == "lazy"


def test_auto_leaves_the_authors_noise_and_floor_to_blocks():
    assert choose_sampler("auto", make("product")[0], "minus").name == "blocked"
    graph = graph_of([(0, 1)], 6)
    floored = edge_probabilities(kernel_of(latent_points(), 1.0), graph, form="floored")
    assert choose_sampler("auto", floored).name == "blocked"
