"""The probabilistic Boolean product."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from bpgnn.graph import Graph
from bpgnn.infer.boolean import LOG_TINY, BooleanProduct
from bpgnn.infer.geometry import Euclidean
from bpgnn.infer.probabilities import KernelProbabilities
from bpgnn.infer.triangles import boolean_product
from bpgnn.infer.witness import equal_votes, witness_graph
from tests.infer.examples import latent_points, make, observed_graph


@given(
    seed=st.integers(0, 1000),
    clusters=st.lists(st.integers(0, 2), min_size=6, max_size=6),
)
def test_zero_one_probabilities_give_the_boolean_product(seed, clusters):
    """Points on top of each other or very far apart make P a 0/1 matrix."""
    latent = torch.tensor(clusters, dtype=torch.double).unsqueeze(1) * 1e3
    kernel = KernelProbabilities(latent, torch.tensor(1.0).double(), Euclidean())
    binary = kernel.to_dense()
    assert set(binary.unique().tolist()) <= {0.0, 1.0}
    generator = torch.Generator().manual_seed(seed)
    edges = torch.randint(6, (2, 8), generator=generator)
    observed = Graph.from_edge_index(edges[:, edges[0] != edges[1]], 6)
    product = BooleanProduct(observed, equal_votes(observed), kernel).to_dense()
    second = Graph.from_edge_index(binary.nonzero().t().flip(0), 6)
    exact = torch.from_numpy(boolean_product(observed, second).to_scipy().toarray() > 0)
    # A node without neighbours has no row in the exact product, and a constant one here.
    assert torch.equal((product > 1e-20), exact)


def test_an_entry_without_witness_is_impossible_and_stays_so_for_every_kernel():
    product, _ = make("product", "isolated", "flat")
    lonely = product.witnesses.sources[product.witnesses.targets == 4]
    assert lonely.tolist() == [4]


def test_a_node_without_neighbours_has_a_constant_row_when_it_is_not_its_own_witness():
    product, _ = make("no self", "isolated")
    assert torch.all(product.log_rows(torch.tensor([5])) == LOG_TINY)


def test_a_row_floor_cuts_entries_off_in_every_view():
    graph = observed_graph("path")
    kernel = KernelProbabilities(latent_points() * 20, torch.tensor(5.0).double(), Euclidean())
    floor = torch.full((6,), -30.0, dtype=torch.double)
    product = BooleanProduct(graph, equal_votes(graph), kernel, floor)
    free = BooleanProduct(graph, equal_votes(graph), kernel).log_dense()
    wanted = free.clamp(min=-30.0)
    assert (free < -30.0).any()
    torch.testing.assert_close(product.log_dense(), wanted)
    torch.testing.assert_close(product.log_rows(torch.arange(6)), wanted)
    torch.testing.assert_close(product.columns(torch.arange(6)), wanted.exp())


def test_votes_times_product_is_the_plain_sum_over_witnesses():
    graph = observed_graph("star")
    witnesses = witness_graph(graph, self_loops=True)
    kernel = make("kernel")[0]
    product = BooleanProduct(witnesses, equal_votes(witnesses), kernel)
    nodes = torch.arange(6)
    total = product.log_votes(nodes).exp().unsqueeze(1) * product.to_dense()
    a = torch.from_numpy(witnesses.to_scipy().toarray()).double()
    torch.testing.assert_close(total, a @ kernel.to_dense())
