"""What a latent graph was drawn from."""

import pytest

from bpgnn.errors import InputError
from bpgnn.explain.product import product_of


def test_it_is_the_product_of_the_last_layer(explained):
    method, _, output = explained(boolean_layers=2)
    assert product_of(method, output) is output.detail[0][-1].inference.probabilities


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("mlp", "infers no graph"),
        ("gcn", "infers no graph"),
        ("knn-gcn", "draws no graph from edge probabilities"),
        ("idgl", "draws no graph from edge probabilities"),
    ],
)
def test_a_method_without_edge_probabilities_says_which_have_them(explained, name, words):
    method, _, output = explained(name)
    with pytest.raises(InputError, match=f"^{name} {words},.*ddgm-e.*bpgnn"):
        product_of(method, output)


def test_a_network_without_boolean_layers_says_what_to_set(explained):
    method, _, output = explained(boolean_layers=0)
    with pytest.raises(InputError, match="Set `boolean_layers` to 1 or more"):
        product_of(method, output)
