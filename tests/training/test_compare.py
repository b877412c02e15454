import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from bpgnn.data.catalog import load
from bpgnn.data.perturb import add_edges
from bpgnn.graph import Graph
from bpgnn.infer.probabilities import KernelProbabilities
from bpgnn.infer.spaces import make_metric
from bpgnn.training.compare import (
    compare_graphs,
    homophily,
    merged,
    recovery,
    same_label_counts,
)

NODES = 7


@st.composite
def graphs(draw):
    """Draw a directed weighted graph, self-pairs among it."""
    node = st.integers(0, NODES - 1)
    pairs = draw(st.lists(st.tuples(node, node), max_size=20, unique=True))
    weights = [draw(st.integers(1, 8)) / 4 for _ in pairs]
    index = torch.tensor(pairs, dtype=torch.long).reshape(-1, 2).T
    return Graph.from_edge_index(index, NODES, torch.tensor(weights))


LABELS = st.lists(st.integers(-1, 2), min_size=NODES, max_size=NODES).map(torch.tensor)


def weights_of(graph):
    pairs = zip(graph.sources.tolist(), graph.targets.tolist(), strict=True)
    return dict(zip(pairs, graph.weights.tolist(), strict=True))


def pairs_of(graph):
    return {frozenset(pair) for pair in weights_of(graph) if pair[0] != pair[1]}


def homophily_in_plain_python(graph, labels):
    labels = labels.tolist()
    same = total = 0.0
    for (j, i), weight in weights_of(graph).items():
        if i != j and labels[i] >= 0 and labels[j] >= 0:
            total += weight
            same += weight * (labels[i] == labels[j])
    return same / total if total else None


@given(graphs(), graphs(), LABELS)
def test_pairs_are_kept_added_and_dropped_as_sets_have_it(observed, latent, labels):
    before, after = pairs_of(observed), pairs_of(latent)
    found = compare_graphs(observed, latent, labels)
    assert found.kept == len(before & after)
    assert found.added == len(after - before)
    assert found.dropped == len(before - after)
    for measured, graph in (
        (found.observed_homophily, observed),
        (found.latent_homophily, latent),
    ):
        expected = homophily_in_plain_python(graph, labels)
        assert measured == (None if expected is None else pytest.approx(expected))


def test_without_an_observed_graph_all_is_added():
    latent = Graph.from_edge_index(torch.tensor([[0, 1], [1, 2]]), 3)
    found = compare_graphs(None, latent, torch.tensor([0, 0, 1]))
    assert (found.kept, found.added, found.dropped) == (0, 2, 0)
    assert found.observed_homophily is None
    assert found.latent_homophily == 0.5


def test_homophily_of_a_graph_without_labelled_edges_is_unknown():
    assert homophily(Graph.empty(3), torch.tensor([0, 1, 1])) is None


@given(st.lists(graphs(), min_size=1, max_size=4))
def test_merged_graphs_have_the_mean_weight_over_all_samples(samples):
    expected = {}
    for graph in samples:
        for pair, weight in weights_of(graph).items():
            expected[pair] = expected.get(pair, 0.0) + weight / len(samples)
    assert weights_of(merged(tuple(samples))) == pytest.approx(expected)


@given(graphs(), graphs(), graphs())
def test_recovery_is_the_chance_that_a_true_edge_outweighs_an_added_one(observed, latent, true):
    weights = weights_of(latent)

    def weight(pair):
        return sum(weights.get(edge, 0.0) for edge in (tuple(pair), tuple(pair)[::-1]))

    genuine, added = (
        [weight(pair) for pair in pairs_of(observed) if (pair in pairs_of(true)) == is_true]
        for is_true in (True, False)
    )
    wins = [(one > other) + 0.5 * (one == other) for one in genuine for other in added]
    expected = pytest.approx(sum(wins) / len(wins)) if wins else None
    assert recovery(observed, latent, true) == expected


def test_recovery_is_known_only_where_the_graph_was_disturbed():
    graph = Graph.from_edge_index(torch.tensor([[0, 1], [1, 2]]), 3)
    assert recovery(graph, graph, graph) is None
    part = Graph.from_edge_index(torch.tensor([[0], [1]]), 3)
    assert recovery(graph, part, part) == 1.0


def test_pairs_are_counted_by_probability_as_plain_loops_have_it():
    latent = torch.randn(9, 2, generator=torch.Generator().manual_seed(0))
    probabilities = KernelProbabilities(latent, torch.tensor(0.7), make_metric("euclidean", 2))
    labels = torch.tensor([0, 1, 0, 1, 2, 2, 0, 1, 2])
    nodes = torch.tensor([1, 3, 4, 7, 8])
    matrix = probabilities.to_dense()
    expected = [[0, 0] for _ in range(10)]
    for i in nodes.tolist():
        for j in nodes.tolist():
            if i != j:
                place = min(int(10 * matrix[i, j]), 9)
                expected[place][0] += 1
                expected[place][1] += int(labels[i] == labels[j])
    found = same_label_counts(probabilities, nodes, labels)
    assert found == [tuple(counts) for counts in expected]


def test_to_divide_by_degrees_alone_puts_noisy_cora_below_chance():
    # So says the report of methods whose messages are divided so.
    true = load("cora").graph
    observed = add_edges(true, 0.75, seed=0)
    degree = torch.bincount(observed.targets, minlength=observed.num_nodes) + 1.0
    weight = (degree[observed.targets] * degree[observed.sources]).rsqrt()
    divided = Graph.from_edge_index(observed.edge_index, observed.num_nodes, weight)
    assert recovery(observed, divided, true) < 0.4
