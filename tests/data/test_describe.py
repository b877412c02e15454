from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from bpgnn.data.dataset import Dataset
from bpgnn.data.describe import describe, in_lines
from bpgnn.data.files.columns import learn_columns
from bpgnn.data.synthetic import block_model
from bpgnn.graph import Graph, with_both_directions

pairs = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=12)


@given(pairs, st.lists(st.integers(-1, 2), min_size=6, max_size=6))
def test_the_figures_are_those_of_plain_loops(edges, labels):
    edges = {tuple(sorted(edge)) for edge in edges if edge[0] != edge[1]}
    index = torch.tensor(sorted(edges), dtype=torch.long).reshape(-1, 2).T
    graph = with_both_directions(Graph.from_edge_index(index, 6))
    found = describe(
        Dataset("x", torch.zeros(6, 1), torch.tensor(labels), graph, class_names=("a", "b", "c"))
    )
    degree = [sum(node in edge for edge in edges) for node in range(6)]
    known = [(labels[a], labels[b]) for a, b in edges if labels[a] >= 0 and labels[b] >= 0]
    assert found.num_pairs == len(edges)
    assert (found.max_degree, found.num_isolated) == (max(degree), degree.count(0))
    assert found.mean_degree == pytest.approx(sum(degree) / 6)
    assert found.num_known_pairs == len(known)
    if known:
        assert found.homophily == pytest.approx(sum(a == b for a, b in known) / len(known))
    else:
        assert found.homophily is None
    assert found.class_counts == tuple((word, labels.count(n)) for n, word in enumerate("abc"))
    assert found.num_unlabelled == labels.count(-1)


def test_lines_are_narrow_whatever_names_are_in_the_data():
    data = block_model(60)
    names = ("<script>" * 20, "[red]x", "\x1b[31m", "=cmd")
    columns = learn_columns({"c" * 90: ["v" * 90, "w"], "n": [1, 2], "\x1b[2J": [1, 2]})
    lines = in_lines(describe(replace(data, class_names=names), columns))
    assert max(map(len, lines)) <= 79
    assert "\x1b" not in "".join(lines)
    assert any(line.strip().startswith("[red]x") for line in lines)


def test_without_a_graph_nothing_is_said_of_one():
    lines = in_lines(describe(replace(block_model(60), graph=None, notes=())))
    assert "no graph" in lines[0]
    assert lines[1].startswith("labels: 60 nodes have one, 0 have none")


def test_of_very_many_classes_and_columns_the_first_are_shown():
    data = Dataset("many", torch.zeros(50, 1), torch.arange(50), None)
    columns = learn_columns({f"c{number}": [1] for number in range(30)})
    lines = in_lines(describe(data, columns))
    assert "  and 30 more classes" in lines
    assert "  and 10 more columns" in lines
