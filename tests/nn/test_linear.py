import torch
import torch.nn.functional as F

from bpgnn.nn.linear import FeatureLinear
from bpgnn.nn.sparse import SparseMatrix


def float32(value: float) -> float:
    """The float32 nearest to a value, which drawn weights may reach: that of 0.1 is above 0.1."""
    return float(torch.tensor(value, dtype=torch.float32))


def test_it_is_the_linear_map_of_torch_for_dense_and_sparse_features(states):
    layer = FeatureLinear(5, 3)
    with torch.no_grad():
        layer.bias.copy_(torch.tensor([1.0, 2.0, 3.0]))
    expected = F.linear(states, layer.weight.T, layer.bias)
    torch.testing.assert_close(layer(states), expected)
    torch.testing.assert_close(layer(SparseMatrix.from_csr(states.to_sparse_csr())), expected)


def test_weights_start_within_the_bound_of_glorot_and_biases_at_zero():
    layer = FeatureLinear(100, 50)
    bound = float32((6 / 150) ** 0.5)
    assert 0.9 * bound < float(layer.weight.detach().abs().max()) <= bound
    assert torch.equal(layer.bias, torch.zeros(50))


def test_weights_and_biases_start_as_those_of_torch_where_asked():
    layer, bound = FeatureLinear(100, 2000, "torch"), float32(0.1)
    for values in (layer.weight.detach(), layer.bias.detach()):
        assert 0.99 * bound < float(values.abs().max()) <= bound
        # A uniform distribution has this deviation; torch's `Linear` is the other side.
        assert abs(float(values.std()) - bound / 3**0.5) < 0.003
    other = torch.nn.Linear(100, 2000)
    assert abs(float((layer.weight.std() - other.weight.std()).detach())) < 0.001
