import pytest
import torch

from bpgnn.nn.choose import AGGREGATIONS, make_aggregation
from bpgnn.nn.sparse import SparseMatrix


@pytest.mark.parametrize("name", AGGREGATIONS)
def test_every_aggregation_keeps_its_contract(name, make_graph, states, generator):
    graph, layer = make_graph(), make_aggregation(name, 5, 4)
    log_weight = torch.randn(graph.num_edges, generator=generator)
    found = layer(states, graph, log_weight, generator=generator)
    assert found.shape == (12, 4)
    ones = layer(states, graph, torch.zeros(graph.num_edges), generator=generator)
    torch.testing.assert_close(layer(states, graph, None, generator=generator), ones)


@pytest.mark.parametrize("name", AGGREGATIONS)
def test_every_aggregation_takes_sparse_features(name, make_graph, states, generator):
    graph, layer = make_graph(), make_aggregation(name, 5, 4)
    dense = states.masked_fill(states < 0.5, 0.0)
    sparse = SparseMatrix.from_csr(dense.to_sparse_csr())
    found = layer(sparse, graph, None, generator=generator)
    torch.testing.assert_close(found, layer(dense, graph, None, generator=generator))
