"""The terms of every edge's probability."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from bpgnn.errors import InputError
from bpgnn.explain import contributions as module
from bpgnn.explain.contributions import SIDES, contributions
from bpgnn.graph import Graph
from bpgnn.infer.boolean import BooleanProduct
from bpgnn.infer.probabilities import EdgeProbabilities, KernelProbabilities, Symmetrised
from bpgnn.infer.residual import GraphSum
from bpgnn.infer.spaces import make_metric
from bpgnn.infer.witness import equal_votes, gated_votes, mixed_votes, witness_graph

NODES = 6
ALL = torch.cartesian_prod(torch.arange(NODES), torch.arange(NODES)).t()


def points(seed, dtype=torch.double):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(NODES, 2, generator=generator, dtype=dtype)


@st.composite
def graphs(draw):
    """Draw a graph, directed or not, weighted or not; many nodes are alone in it."""
    node = st.integers(0, NODES - 1)
    pairs = draw(st.lists(st.tuples(node, node), max_size=9, unique=True))
    edges = torch.tensor(pairs, dtype=torch.long).reshape(-1, 2).t()
    if draw(st.booleans()):
        edges = torch.cat([edges, edges.flip(0)], dim=1)
    weight = None
    if draw(st.booleans()):
        weight = 0.25 + torch.arange(edges.size(1), dtype=torch.double)
    return Graph.from_edge_index(edges, NODES, weight)


@st.composite
def products(draw):
    """Draw edge probabilities of every kind that a layer makes."""
    metric = make_metric(draw(st.sampled_from(["euclidean", "hyperbolic", "spherical"])), 2)
    sharpness = torch.tensor(draw(st.sampled_from([0.01, 1.0, 30.0])), dtype=torch.double)
    kernel = KernelProbabilities(metric.embed(points(draw(st.integers(0, 99)))), sharpness, metric)
    form = draw(st.sampled_from(["kernel", "sum", "product", "symmetric", "floor", "both"]))
    graph = draw(graphs())
    if form == "kernel":
        return kernel
    if form == "sum":
        return GraphSum(graph, torch.tensor(0.3, dtype=torch.double).log(), kernel)
    votes = draw(st.sampled_from(["equal", "gated", "mixed"]))
    witnesses = witness_graph(graph, self_loops=votes == "mixed" or draw(st.booleans()))
    if votes == "equal":
        weights = equal_votes(witnesses)
    elif votes == "gated":
        weights = gated_votes(witnesses, kernel, 0.7 * sharpness)
    else:
        weights = mixed_votes(witnesses, torch.linspace(0.1, 0.9, NODES, dtype=torch.double))
    floor = torch.linspace(-9.0, -0.1, NODES) if form in ("floor", "both") else None
    product = BooleanProduct(witnesses, weights, kernel, floor)
    return Symmetrised(product) if form in ("symmetric", "both") else product


@settings(max_examples=60)
@given(products())
def test_terms_add_up_to_the_probability_and_shares_to_one_in_order(probabilities):
    found = contributions(probabilities, ALL)
    expected = probabilities.entries(ALL).detach()
    torch.testing.assert_close(found.probability, expected, rtol=1e-9, atol=1e-300)
    torch.testing.assert_close(found.contribution, found.weight * found.likeness)
    zero = torch.zeros(ALL.size(1), dtype=torch.double)
    total = zero.index_add(0, found.entry, found.share)
    torch.testing.assert_close(total, (found.pointer.diff() > 0).double())
    sums = zero.index_add(0, found.entry, found.contribution)[found.entry]
    torch.testing.assert_close(found.share * sums, found.contribution, rtol=1e-9, atol=1e-300)
    same = found.entry.diff() == 0
    assert bool((found.share.diff()[same] <= 0).all())


@settings(max_examples=25)
@given(graphs(), st.integers(0, 99))
def test_the_witnesses_of_a_product_are_those_of_plain_loops(graph, seed):
    kernel = KernelProbabilities(
        points(seed), torch.tensor(1.0, dtype=torch.double), make_metric("euclidean", 2)
    )
    graph = Graph(graph.edge_index, NODES).without_self_loops()
    found = contributions(BooleanProduct(graph, equal_votes(graph), kernel), ALL)
    dense = kernel.to_dense()
    pairs = set(map(tuple, graph.edge_index.t().tolist()))
    for entry, (j, i) in enumerate(ALL.t().tolist()):
        run = slice(*found.pointer[entry : entry + 2].tolist())
        own = [k for k in range(NODES) if (k, i) in pairs]
        assert sorted(found.nodes[run].tolist()) == own
        assert bool((found.sides[run] == SIDES.index("target")).all())
        torch.testing.assert_close(found.likeness[run], dense[found.nodes[run], j])
        torch.testing.assert_close(
            found.weight[run], torch.full((len(own),), 1 / max(len(own), 1)).double()
        )


@settings(max_examples=25)
@given(products(), st.integers(0, NODES - 1))
def test_without_its_witnesses_nobody_speaks_for_a_nodes_edges(probabilities, node):
    if not isinstance(probabilities, BooleanProduct) or probabilities.row_floor is not None:
        return
    keep = probabilities.witnesses.targets != node
    bare = Graph(probabilities.witnesses.edge_index[:, keep], NODES)
    found = contributions(
        BooleanProduct(bare, equal_votes(bare), probabilities.kernel), ALL[:, ALL[1] == node]
    )
    assert found.nodes.numel() == 0
    torch.testing.assert_close(
        found.rest, torch.full((NODES,), 1e-24, dtype=torch.double), rtol=1e-9, atol=0
    )


def test_the_symmetric_product_names_both_sides():
    graph = Graph.from_edge_index(torch.tensor([[1, 2, 3], [0, 0, 5]]), NODES)
    kernel = KernelProbabilities(
        points(0), torch.tensor(1.0, dtype=torch.double), make_metric("euclidean", 2)
    )
    half = BooleanProduct(graph, equal_votes(graph), kernel)
    found = contributions(Symmetrised(half), torch.tensor([[5], [0]]))
    dense = kernel.to_dense()
    terms = {
        (node, SIDES[side]): (weight, likeness)
        for node, side, weight, likeness in zip(
            *(part.tolist() for part in (found.nodes, found.sides, found.weight, found.likeness)),
            strict=True,
        )
    }
    assert terms == {
        (1, "target"): pytest.approx((0.25, float(dense[1, 5]))),
        (2, "target"): pytest.approx((0.25, float(dense[2, 5]))),
        (3, "source"): pytest.approx((0.5, float(dense[3, 0]))),
    }


def test_the_sum_has_an_observed_and_a_latent_term():
    graph = Graph.from_edge_index(torch.tensor([[1], [0]]), NODES, torch.tensor([2.0]))
    kernel = KernelProbabilities(points(0), torch.tensor(1.0).double(), make_metric("euclidean", 2))
    found = contributions(
        GraphSum(graph, torch.tensor(0.3).double().log(), kernel), torch.tensor([[1, 2], [0, 0]])
    )
    assert [SIDES[side] for side in found.sides.tolist()] == [
        "observed",
        "latent",
        "latent",
        "observed",
    ]
    assert found.nodes.tolist() == [1, 0, 0, 2]
    alike = kernel.to_dense()[0]
    expected = torch.tensor([2.0, 0.3 * alike[1], 0.3 * alike[2], 0.0]).double()
    torch.testing.assert_close(found.contribution, expected, rtol=1e-6, atol=1e-12)


def test_shares_are_known_where_probabilities_underflow():
    kernel = KernelProbabilities(
        torch.tensor([[0.0], [90.0], [90.1], [0.0]]).double(),
        torch.tensor(1.0).double(),
        make_metric("euclidean", 1),
    )
    graph = Graph.from_edge_index(torch.tensor([[1, 2], [3, 3]]), 4)
    found = contributions(
        BooleanProduct(graph, equal_votes(graph), kernel), torch.tensor([[0], [3]])
    )
    assert found.probability.tolist() == [0.0]
    assert found.nodes.tolist() == [1, 2]
    torch.testing.assert_close(found.share.sum(), torch.tensor(1.0).double())


def test_many_pairs_go_in_parts(monkeypatch):
    graph = Graph.from_edge_index(torch.tensor([[1, 2, 3], [0, 0, 5]]), NODES)
    kernel = KernelProbabilities(points(0), torch.tensor(1.0).double(), make_metric("euclidean", 2))
    product = BooleanProduct(graph, equal_votes(graph), kernel)
    whole = contributions(product, ALL)
    monkeypatch.setattr(module, "_AT_A_TIME", 2)
    assert torch.equal(contributions(product, ALL).contribution, whole.contribution)


def test_no_edges_have_no_terms():
    kernel = KernelProbabilities(points(0), torch.tensor(1.0), make_metric("euclidean", 2))
    found = contributions(kernel, torch.empty(2, 0, dtype=torch.long))
    assert (found.pointer.tolist(), found.nodes.numel(), found.probability.numel()) == ([0], 0, 0)


def test_what_has_no_witnesses_is_refused_in_a_sentence():
    class Odd(EdgeProbabilities):
        num_nodes, device = 3, torch.device("cpu")
        log_entries = rows = columns = None

    with pytest.raises(InputError, match="Odd cannot be explained"):
        contributions(Odd(), torch.tensor([[0], [1]]))
    kernel = KernelProbabilities(points(0), torch.tensor(1.0), make_metric("euclidean", 2))
    with pytest.raises(InputError, match="`edges` must hold node numbers from 0 to 5"):
        contributions(kernel, torch.tensor([[0], [6]]))
