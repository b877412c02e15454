import numpy as np
import pytest
import scipy.sparse
import torch
from hypothesis import given
from hypothesis import strategies as st

from bpgnn.errors import InputError
from bpgnn.graph import Graph, check_edges, with_both_directions


@st.composite
def weighted_edges(draw, max_nodes=8):
    """Draw a number of nodes, edges with duplicates and self-loops, and weights."""
    num_nodes = draw(st.integers(1, max_nodes))
    node = st.integers(0, num_nodes - 1)
    # Halves add up exactly, in whatever order.
    weight = st.integers(1, 20).map(lambda number: number / 2)
    return num_nodes, draw(st.lists(st.tuples(node, node, weight), max_size=25))


def build(num_nodes, edges, *, weighted):
    index = torch.tensor([edge[:2] for edge in edges], dtype=torch.long).reshape(-1, 2).T
    weight = torch.tensor([edge[2] for edge in edges]) if weighted else None
    return Graph.from_edge_index(index, num_nodes, weight)


def as_dict(graph):
    pairs = zip(graph.sources.tolist(), graph.targets.tolist(), strict=True)
    return dict(zip(pairs, graph.weights.tolist(), strict=True))


def assert_same(one, other):
    assert one.num_nodes == other.num_nodes
    assert torch.equal(one.edge_index, other.edge_index)
    assert torch.equal(one.weights, other.weights)


@given(weighted_edges(), st.booleans())
def test_duplicates_become_one_edge_and_their_weights_add_up(drawn, weighted):
    num_nodes, edges = drawn
    expected = {}
    for source, target, weight in edges:
        expected[source, target] = expected.get((source, target), 0) + weight
    if not weighted:
        expected = dict.fromkeys(expected, 1.0)
    assert as_dict(build(num_nodes, edges, weighted=weighted)) == expected


@given(weighted_edges())
def test_edges_are_sorted_by_target_and_then_source(drawn):
    graph = build(*drawn, weighted=True)
    order = list(zip(graph.targets.tolist(), graph.sources.tolist(), strict=True))
    assert order == sorted(set(order))


@given(weighted_edges(), st.booleans())
def test_degrees_and_row_pointer_count_the_edges_that_enter_a_node(drawn, weighted):
    graph = build(*drawn, weighted=weighted)
    targets = graph.targets.tolist()
    assert graph.in_degree.tolist() == [targets.count(i) for i in range(graph.num_nodes)]
    pointer = graph.row_pointer.tolist()
    assert len(pointer) == graph.num_nodes + 1
    for i in range(graph.num_nodes):
        assert set(targets[pointer[i] : pointer[i + 1]]) <= {i}


@given(weighted_edges(), st.booleans())
def test_a_graph_survives_the_way_to_scipy_and_back(drawn, weighted):
    graph = build(*drawn, weighted=weighted)
    assert_same(Graph.from_scipy(graph.to_scipy()), graph)


@given(weighted_edges())
def test_row_i_of_the_matrix_lists_the_neighbours_of_node_i(drawn):
    graph = build(*drawn, weighted=True)
    dense = np.zeros((graph.num_nodes, graph.num_nodes))
    for (source, target), weight in as_dict(graph).items():
        dense[target, source] = weight
    np.testing.assert_array_equal(graph.to_scipy().toarray(), dense)


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "lil"])
def test_any_sparse_format_of_scipy_is_read(kind):
    dense = np.array([[0.0, 2.0], [1.0, 0.0]])
    graph = Graph.from_scipy(scipy.sparse.coo_array(dense).asformat(kind))
    assert as_dict(graph) == {(1, 0): 2.0, (0, 1): 1.0}


def test_stored_zeros_are_no_edges():
    matrix = scipy.sparse.csr_array((np.array([0.0, 1.0]), ([0, 1], [1, 0])), shape=(2, 2))
    assert Graph.from_scipy(matrix).edge_index.tolist() == [[0], [1]]
    assert matrix.nnz == 2, "the caller's matrix must not change"


def test_a_matrix_of_ones_or_of_truths_has_no_weights():
    for dtype in (bool, np.int64, np.float32):
        assert Graph.from_scipy(scipy.sparse.csr_array(np.eye(3, dtype=dtype))).edge_weight is None


@given(weighted_edges(), st.booleans())
def test_a_turned_graph_says_which_edge_each_of_its_edges_was(drawn, weighted):
    graph = build(*drawn, weighted=weighted)
    turned, order = graph.turned
    assert_same(turned, graph.reversed())
    assert torch.equal(turned.edge_index.flip(0), graph.edge_index[:, order])


@given(weighted_edges(), st.booleans())
def test_reversed_turns_every_edge_and_twice_is_the_same_graph(drawn, weighted):
    graph = build(*drawn, weighted=weighted)
    turned = {(target, source): weight for (source, target), weight in as_dict(graph).items()}
    assert as_dict(graph.reversed()) == turned
    assert_same(graph.reversed().reversed(), graph)


@given(weighted_edges(), st.booleans())
def test_both_directions_add_the_missing_twins_and_keep_the_larger_weight(drawn, weighted):
    graph = build(*drawn, weighted=weighted)
    edges, both = as_dict(graph), with_both_directions(graph)
    expected = {}
    for source, target in [*edges, *(edge[::-1] for edge in edges)]:
        weights = [edges[edge] for edge in ((source, target), (target, source)) if edge in edges]
        expected[source, target] = max(weights)
    assert as_dict(both) == expected
    assert both.is_undirected
    assert_same(with_both_directions(both), both)


@given(weighted_edges(), st.booleans())
def test_a_graph_is_undirected_when_every_edge_has_a_twin_of_its_weight(drawn, weighted):
    graph = build(*drawn, weighted=weighted)
    edges = as_dict(graph)
    assert graph.is_undirected == all(edges.get((j, i)) == edges[i, j] for i, j in edges)


@given(weighted_edges())
def test_undirected_pairs_hold_each_joined_pair_once_without_loops(drawn):
    graph = build(*drawn, weighted=False)
    expected = {tuple(sorted(edge)) for edge in as_dict(graph) if edge[0] != edge[1]}
    assert [tuple(pair) for pair in graph.undirected_pairs().T.tolist()] == sorted(expected)


@given(weighted_edges(), st.booleans())
def test_without_self_loops_leaves_out_exactly_the_loops(drawn, weighted):
    graph = build(*drawn, weighted=weighted)
    expected = {edge: weight for edge, weight in as_dict(graph).items() if edge[0] != edge[1]}
    assert as_dict(graph.without_self_loops()) == expected


@pytest.mark.parametrize("num_nodes", [0, 1, 5])
def test_an_empty_graph_answers_every_question(num_nodes):
    graph = Graph.empty(num_nodes)
    assert graph.num_edges == 0
    assert graph.in_degree.tolist() == [0] * num_nodes
    assert graph.row_pointer.tolist() == [0] * (num_nodes + 1)
    assert graph.undirected_pairs().shape == (2, 0)
    assert graph.is_undirected
    assert with_both_directions(graph).num_edges == 0
    assert Graph.from_scipy(graph.to_scipy()).num_nodes == num_nodes


def test_moving_a_graph_keeps_its_edges_and_weights():
    graph = Graph.from_edge_index(torch.tensor([[0, 1], [1, 0]]), 2, torch.tensor([1.0, 2.0]))
    assert_same(graph.to("cpu"), graph)
    assert graph.to("meta").edge_index.device.type == "meta"
    assert graph.to("cpu", torch.double).weights.dtype == torch.double


@pytest.mark.parametrize(
    ("edge_index", "sentence"),
    [
        (
            torch.zeros(3, 2, dtype=torch.long),
            r"must have shape \(2, E\), but got \(3, 2\)\..*trans",
        ),
        (torch.zeros(2, dtype=torch.long), r"must have shape \(2, E\), but got \(2,\)"),
        (torch.zeros(2, 3), r"must hold whole numbers, but its type is torch.float32.*\.long\(\)"),
        (torch.zeros(2, 3, dtype=torch.bool), r"must hold whole numbers, but its type is torch.bo"),
        (torch.tensor([[0], [3]]), r"must hold node numbers from 0 to 2, .* from 0 to 3\."),
        (torch.tensor([[-1], [1]]), r"must hold node numbers from 0 to 2, .* from -1 to 1\."),
    ],
)
def test_bad_edges_are_refused_in_a_sentence_that_names_the_argument(edge_index, sentence):
    with pytest.raises(InputError, match="`edge_index` " + sentence):
        Graph.from_edge_index(edge_index, num_nodes=3)
    with pytest.raises(InputError, match="`edges` " + sentence):
        check_edges(edge_index, 3, None, name="edges")


@pytest.mark.parametrize(
    ("weight", "sentence"),
    [
        (torch.ones(3), r"must have shape \(2,\), one weight for each edge, but got \(3,\)"),
        (torch.tensor([1.0, float("nan")]), "must hold positive finite numbers"),
        (torch.tensor([1.0, float("inf")]), "must hold positive finite numbers"),
        (torch.tensor([1.0, -1.0]), "must hold positive finite numbers"),
        (torch.tensor([1.0, 0.0]), "Leave out edges of weight zero"),
    ],
)
def test_bad_weights_are_refused_in_a_sentence(weight, sentence):
    with pytest.raises(InputError, match=sentence):
        Graph.from_edge_index(torch.tensor([[0, 1], [1, 0]]), 2, weight)


@pytest.mark.parametrize("shape", [(2, 3), (3,)])
def test_a_matrix_that_is_not_square_is_refused_in_a_sentence(shape):
    with pytest.raises(InputError, match="must be square, but its shape is"):
        Graph.from_scipy(scipy.sparse.coo_array(shape))
