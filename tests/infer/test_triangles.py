import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from bpgnn.errors import InputError
from bpgnn.graph import Graph
from bpgnn.infer import triangles as module
from bpgnn.infer.triangles import boolean_product, triangles


@st.composite
def graphs(draw, number, max_nodes=7):
    """Draw directed graphs on the same nodes, as sets of pairs (i, j) with A_ij = 1."""
    num_nodes = draw(st.integers(1, max_nodes))
    node = st.integers(0, num_nodes - 1)
    entries = st.sets(st.tuples(node, node), max_size=20)
    return [build(draw(entries), num_nodes) for _ in range(number)]


def build(entries, num_nodes):
    edges = torch.tensor([[j, i] for i, j in entries], dtype=torch.long).reshape(-1, 2).T
    return Graph.from_edge_index(edges, num_nodes)


def entries_of(graph):
    return set(zip(graph.targets.tolist(), graph.sources.tolist(), strict=True))


def all_pairs(num_nodes):
    return torch.cartesian_prod(torch.arange(num_nodes), torch.arange(num_nodes)).T


def identity(num_nodes):
    return Graph.from_edge_index(torch.arange(num_nodes).repeat(2, 1), num_nodes)


def closing(first, second, i, j):
    """Apply the definition, a loop over k."""
    one, two = entries_of(first), entries_of(second)
    return [k for k in range(first.num_nodes) if (i, k) in one and (k, j) in two]


@given(graphs(2))
def test_proposition_1_an_entry_is_one_exactly_where_the_graphs_close_a_triangle(pair):
    first, second = pair
    nodes = range(first.num_nodes)
    expected = {(i, j) for i in nodes for j in nodes if closing(first, second, i, j)}
    product = boolean_product(first, second)
    assert entries_of(product) == expected
    assert product.num_edges == len(expected)
    assert product.num_nodes == first.num_nodes


@given(graphs(2), st.integers(1, 30))
def test_triangles_list_the_closing_nodes_of_every_entry_in_blocks_of_any_size(pair, block):
    first, second = pair
    edges = all_pairs(first.num_nodes)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_CANDIDATES_AT_A_TIME", block)
        found = triangles(first, second, edges)
    for entry, (j, i) in enumerate(edges.T.tolist()):
        expected = closing(first, second, i, j)
        assert found.of(entry).tolist() == expected
        assert found.counts[entry] == len(expected)


@given(graphs(2))
def test_the_product_is_a_graph_in_order_and_every_entry_has_a_triangle(pair):
    product = boolean_product(*pair)
    sorted_again = Graph.from_edge_index(product.edge_index, product.num_nodes)
    assert torch.equal(product.edge_index, sorted_again.edge_index)
    assert (triangles(*pair, product.edge_index).counts > 0).all()


@given(graphs(1))
def test_the_identity_graph_changes_nothing_on_either_side(graph):
    (graph,) = graph
    same = identity(graph.num_nodes)
    assert entries_of(boolean_product(graph, same)) == entries_of(graph)
    assert entries_of(boolean_product(same, graph)) == entries_of(graph)


@given(graphs(3))
def test_more_edges_never_take_an_entry_away(three):
    first, more, second = three
    larger = build(entries_of(first) | entries_of(more), first.num_nodes)
    small, large = boolean_product(first, second), boolean_product(larger, second)
    assert entries_of(small) <= entries_of(large)
    assert entries_of(boolean_product(second, first)) <= entries_of(boolean_product(second, larger))


@given(graphs(2))
def test_the_transpose_of_a_product_is_the_product_of_the_transposes_turned_round(pair):
    first, second = pair
    turned = boolean_product(second.reversed(), first.reversed())
    assert entries_of(boolean_product(first, second).reversed()) == entries_of(turned)


@given(graphs(3))
def test_the_product_is_associative(three):
    first, second, third = three
    left = boolean_product(boolean_product(first, second), third)
    right = boolean_product(first, boolean_product(second, third))
    assert entries_of(left) == entries_of(right)


@given(graphs(2), st.randoms(use_true_random=False))
def test_relabelling_the_nodes_relabels_the_product(pair, random):
    first, second = pair
    label = list(range(first.num_nodes))
    random.shuffle(label)

    def relabelled(graph):
        return build({(label[i], label[j]) for i, j in entries_of(graph)}, graph.num_nodes)

    product = boolean_product(relabelled(first), relabelled(second))
    assert entries_of(product) == entries_of(relabelled(boolean_product(first, second)))


@given(graphs(2), st.floats(1e-30, 1e30))
def test_weights_are_ignored(pair, weight):
    first, second = pair
    weighted = Graph(first.edge_index, first.num_nodes, torch.full((first.num_edges,), weight))
    product = boolean_product(weighted, second)
    assert entries_of(product) == entries_of(boolean_product(first, second))
    assert product.edge_weight is None


@pytest.mark.parametrize("num_witnesses", [255, 256, 512, 65_536])
def test_an_entry_with_very_many_witnesses_does_not_wrap_round_to_zero(num_witnesses):
    witnesses = torch.arange(1, num_witnesses + 1)
    zero, last = torch.zeros_like(witnesses), torch.full_like(witnesses, num_witnesses + 1)
    first = Graph.from_edge_index(torch.stack([witnesses, zero]), num_witnesses + 2)
    second = Graph.from_edge_index(torch.stack([last, witnesses]), num_witnesses + 2)
    product = boolean_product(first, second)
    assert entries_of(product) == {(0, num_witnesses + 1)}
    assert triangles(first, second, product.edge_index).counts.tolist() == [num_witnesses]


@pytest.mark.parametrize("num_nodes", [0, 3])
def test_graphs_without_edges_and_questions_without_entries_are_fine(num_nodes):
    empty = Graph.empty(num_nodes)
    assert boolean_product(empty, empty).num_edges == 0
    found = triangles(empty, empty, empty.edge_index)
    assert found.pointer.tolist() == [0]
    assert found.nodes.tolist() == []
    everywhere = triangles(identity(num_nodes), empty, all_pairs(num_nodes))
    assert everywhere.counts.tolist() == [0] * num_nodes**2


def test_a_large_graph_never_needs_a_matrix_of_all_pairs():
    # All pairs of a million nodes would be 10^12.
    num_nodes = 1_000_000
    nodes = torch.arange(1000)
    path = Graph.from_edge_index(torch.stack([nodes, nodes + 1]), num_nodes)
    product = boolean_product(path, path)
    assert product.num_edges == 999
    found = triangles(path, path, product.edge_index)
    assert torch.equal(found.nodes, product.sources + 1)


def test_graphs_of_different_size_are_refused_in_a_sentence():
    sentence = "`first` and `second` must have the same nodes, but got 2 and 3 of them"
    with pytest.raises(InputError, match=sentence):
        boolean_product(Graph.empty(2), Graph.empty(3))
    with pytest.raises(InputError, match=sentence):
        triangles(Graph.empty(2), Graph.empty(3), torch.zeros(2, 0, dtype=torch.long))


def test_entries_outside_the_graph_are_refused_in_a_sentence():
    with pytest.raises(InputError, match="`edges` must hold node numbers from 0 to 1"):
        triangles(Graph.empty(2), Graph.empty(2), torch.tensor([[0], [2]]))
