import numpy as np
import pytest
import torch

from bpgnn.data.synthetic import block_model
from bpgnn.explain.pairs import ADDED, DROPPED, OBSERVED, pairs_of
from bpgnn.training.fit import fit
from bpgnn.training.plan import Plan


@pytest.fixture(scope="module", params=["bpgnn", "ddgm-e", "knn-gcn"])
def fitted(request):
    few = {"max_steps": 4, "k": 4}
    return fit(block_model(60, seed=2), Plan(request.param, changes=few))


def test_pairs_are_those_of_the_record(fitted):
    found, summary = pairs_of(fitted), fitted.record.latent_graph
    counts = [int((found.kind == kind).sum()) for kind in (OBSERVED, ADDED, DROPPED)]
    assert counts == [summary.kept, summary.added, summary.dropped]


def test_each_pair_by_the_definition(fitted):
    found = pairs_of(fitted)
    graphs = fitted.method.latent_graphs(fitted.output)
    observed = {tuple(sorted(pair)) for pair in fitted.dataset.graph.edge_index.T.tolist()}
    sampled = [{tuple(sorted(pair)) for pair in graph.edge_index.T.tolist()} for graph in graphs]
    every = {pair for pair in observed.union(*sampled) if pair[0] != pair[1]}
    assert {tuple(pair) for pair in found.nodes.T.tolist()} == every
    for place, pair in enumerate(map(tuple, found.nodes.T.tolist())):
        share = np.mean([pair in graph for graph in sampled])
        assert float(found.frequency[place]) == pytest.approx(share)
        kind = DROPPED if share == 0 else OBSERVED if pair in observed else ADDED
        assert found.kind[place] == kind


def test_the_probability_is_the_larger_of_both_directions(fitted):
    found = pairs_of(fitted)
    known = fitted.method.edge_probabilities(fitted.output)
    if "product" in known:
        matrix = known["product"].to_dense().double()
        larger = torch.maximum(matrix, matrix.T)[found.nodes[0], found.nodes[1]]
        torch.testing.assert_close(found.probability, larger, rtol=1e-4, atol=1e-7)
    else:
        assert bool((found.probability[torch.from_numpy(found.kind == DROPPED)] == 0).all())
        assert bool((found.probability[torch.from_numpy(found.kind != DROPPED)] > 0).all())
