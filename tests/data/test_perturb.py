from collections import Counter
from itertools import combinations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from bpgnn.data.perturb import add_edges, drop_edges, perturbation_note
from bpgnn.data.synthetic import block_model
from bpgnn.errors import InputError
from bpgnn.graph import Graph


def graph_of(pairs, num_nodes, weights=None):
    edges = torch.tensor(pairs, dtype=torch.long).reshape(-1, 2).T
    both = torch.cat([edges, edges.flip(0)], dim=1)
    weight = None if weights is None else torch.tensor(weights).repeat(2)
    return Graph.from_edge_index(both, num_nodes, weight)


def pairs_of(graph):
    return set(map(tuple, graph.undirected_pairs().T.tolist()))


@st.composite
def graphs(draw):
    num_nodes = draw(st.integers(2, 14))
    possible = list(combinations(range(num_nodes), 2))
    return graph_of(draw(st.lists(st.sampled_from(possible), unique=True)), num_nodes)


@given(graph=graphs(), ratio=st.floats(0, 3), seed=st.integers(0, 2**32))
def test_added_edges_are_so_many_new_undirected_pairs(graph, ratio, seed):
    before = pairs_of(graph)
    wanted = round(ratio * len(before))
    room = graph.num_nodes * (graph.num_nodes - 1) // 2 - len(before)
    if wanted > room:
        with pytest.raises(InputError, match="pairs of nodes are not joined yet"):
            add_edges(graph, ratio, seed=seed)
        return
    more = add_edges(graph, ratio, seed=seed)
    assert before <= pairs_of(more)
    assert len(pairs_of(more)) == len(before) + wanted
    assert more.is_undirected
    assert not bool((more.sources == more.targets).any())
    assert more.num_edges == 2 * len(pairs_of(more))
    assert torch.equal(add_edges(graph, ratio, seed=seed).edge_index, more.edge_index)


@given(graph=graphs(), ratio=st.floats(0, 1), seed=st.integers(0, 2**32))
def test_dropped_edges_are_so_many_old_undirected_pairs(graph, ratio, seed):
    before = pairs_of(graph)
    less = drop_edges(graph, ratio, seed=seed)
    assert pairs_of(less) <= before
    assert len(pairs_of(less)) == len(before) - round(ratio * len(before))
    assert less.is_undirected
    assert torch.equal(drop_edges(graph, ratio, seed=seed).edge_index, less.edge_index)


@pytest.mark.parametrize("num_nodes", [6, 12])
def test_every_non_edge_is_equally_likely_to_be_added(num_nodes):
    """Six nodes take the way that lists all pairs, twelve the one that draws and rejects."""
    path = graph_of([(node, node + 1) for node in range(num_nodes - 1)], num_nodes)
    draws = 500
    counts = Counter()
    for seed in range(draws):
        counts.update(pairs_of(add_edges(path, 3 / (num_nodes - 1), seed=seed)) - pairs_of(path))
    absent = set(combinations(range(num_nodes), 2)) - pairs_of(path)
    expected = 3 * draws / len(absent)
    assert set(counts) == absent
    # Five standard deviations of a count.
    assert all(abs(count - expected) < 5 * expected**0.5 for count in counts.values())


def test_every_edge_is_equally_likely_to_be_dropped():
    ring = graph_of([(node, (node + 1) % 10) for node in range(10)], 10)
    counts = Counter()
    for seed in range(500):
        counts.update(pairs_of(ring) - pairs_of(drop_edges(ring, 0.2, seed=seed)))
    assert set(counts) == pairs_of(ring)
    assert all(abs(count - 100) < 5 * 100**0.5 for count in counts.values())


def test_all_non_edges_can_be_added():
    path = graph_of([(0, 1), (1, 2), (2, 3)], 4)
    assert pairs_of(add_edges(path, 1.0, seed=0)) == set(combinations(range(4), 2))


def test_self_loops_and_weights_stay():
    edges = torch.tensor([[0, 1, 2, 1, 2], [1, 0, 2, 2, 1]])
    graph = Graph.from_edge_index(edges, 4, torch.tensor([2.0, 2.0, 5.0, 3.0, 3.0]))
    more = add_edges(graph, 0.5, seed=0)
    assert more.num_edges == 7
    dense, old = more.to_scipy().toarray(), graph.to_scipy().toarray()
    assert (dense[old > 0] == old[old > 0]).all()
    assert set(dense[(dense > 0) & (old == 0)]) == {3.0}
    less = drop_edges(graph, 0.5, seed=0)
    assert less.num_edges == 3
    assert less.to_scipy().toarray()[2, 2] == 5.0


def test_another_seed_adds_other_edges():
    graph = graph_of([(node, node + 1) for node in range(30)], 31)
    one, other = (add_edges(graph, 1.0, seed=seed) for seed in (0, 1))
    assert pairs_of(one) != pairs_of(other)


def test_adding_never_needs_a_matrix_of_all_pairs():
    """200 000 nodes have 2e10 pairs: a byte each would fill the machine."""
    graph = block_model(200_000, mean_degree=2, seed=0).graph
    assert len(add_edges(graph, 0.5, seed=0).undirected_pairs().T) == 300_000


@pytest.mark.parametrize("change", [add_edges, drop_edges])
@pytest.mark.parametrize("ratio", [-0.1, float("nan"), float("inf")])
def test_a_ratio_that_makes_no_sense_is_refused(change, ratio):
    with pytest.raises(InputError, match="`ratio` must be a finite number from 0 up"):
        change(graph_of([(0, 1)], 3), ratio, seed=0)


def test_more_edges_than_there_are_cannot_be_dropped():
    with pytest.raises(InputError, match="between 0 and 1 to remove edges, but got 1.5"):
        drop_edges(graph_of([(0, 1)], 3), 1.5, seed=0)


def test_the_largest_possible_ratio_is_named_and_works():
    path = graph_of([(0, 1), (1, 2), (2, 3)], 4)
    with pytest.raises(InputError, match="Use a ratio of at most 1.0"):
        add_edges(path, 2.0, seed=0)


@pytest.mark.parametrize("change", [add_edges, drop_edges])
def test_a_directed_graph_is_refused_with_the_cure(change):
    graph = Graph.from_edge_index(torch.tensor([[0, 1], [1, 2]]), 3)
    with pytest.raises(InputError, match="with_both_directions"):
        change(graph, 0.5, seed=0)


def test_the_note_counts_both_ways():
    before, after = graph_of([(0, 1), (1, 2)], 4), graph_of([(1, 2), (2, 3), (0, 3)], 4)
    assert perturbation_note(before, after) == (
        "Of 2 undirected edges 1 were removed, and 2 were added: 3 now."
    )
