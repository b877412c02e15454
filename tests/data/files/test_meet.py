import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpgnn.data.files.edges import read_ends
from bpgnn.data.files.meet import joined_column, with_known_ends
from bpgnn.data.files.node_table import own_from_tables
from bpgnn.data.files.table import FileTable
from bpgnn.errors import InputError


def table_of(path, **columns):
    cells = {name: np.array(values, dtype=object) for name, values in columns.items()}
    return FileTable(path, cells, range(2, 2 + len(next(iter(cells.values())))))


NODES = table_of(
    "nodes.csv",
    name=["Ann", "Bob", "Cem"],
    code=["7", "8", "9"],
    age=["31", "31", "40"],
    label=["x", "y", ""],
)
MANY = ["a", "b"] * 20


@pytest.mark.parametrize(
    ("edges", "found"),
    [
        ({"source": ["Ann"], "target": ["Bob"]}, "name"),
        ({"source": ["7", "8"], "target": ["8", "9"]}, "code"),
        ({"source": ["7.0", "8.0"], "target": ["8.0", "9.0"]}, "code"),
        ({"day": ["1 May"], "who": ["7"], "whom": ["9"]}, "code"),
        ({"source": ["31"], "target": ["40"]}, "name"),
        ({"source": [], "target": []}, "name"),
    ],
)
def test_the_column_that_edges_name_holds_the_ids(edges, found):
    assert joined_column(NODES, table_of("edges.csv", **edges), "name", "label") == found


def test_edges_decide_between_two_columns_of_ids():
    own = own_from_tables("mine", NODES, table_of("edges.csv", a=["7", "8"], b=["9", "9"]))
    assert own.id_name == "code"
    assert own.dataset.graph.undirected_pairs().tolist() == [[0, 1], [2, 2]]
    assert "'code' is taken for the ids" in own.dataset.notes[0]


def test_numbers_written_otherwise_meet_and_are_noted():
    ends = read_ends(table_of("edges.csv", source=["1.0", "2"], target=["002", "x"]))
    found = with_known_ends(ends, ("1", "2", "x"), "the nodes")
    assert (found.sources[1], found.targets[1]) == (["1", "2"], ["2", "x"])
    assert "edges.csv writes '1.0' for '1'" in found.notes[0]


def test_a_number_that_could_be_two_ids_is_not_guessed():
    ends = read_ends(table_of("edges.csv", source=["7"], target=["x"]))
    with pytest.raises(InputError, match=r"line 2, column 'source': '7' is not among the nodes"):
        with_known_ends(ends, ("07", "007", "x"), "the nodes")


def test_a_few_edges_to_nobody_are_left_out_and_their_weights_with_them():
    weights = [str(number) for number in range(1, 43)]
    table = table_of("edges.csv", source=["a", "", *MANY], target=["q", "a", *MANY], weight=weights)
    found = with_known_ends(read_ends(table), ("a", "b"), "the nodes")
    assert found.sources[1] == found.targets[1] == MANY
    assert found.weight.tolist() == list(range(3, 43))
    (note,) = found.notes
    assert "2 edges were left out" in note
    assert "'q' (edges.csv, line 2, column 'target')" in note


def test_many_edges_to_nobody_are_refused():
    table = table_of("edges.csv", source=["a"] * 3 + MANY, target=["q"] * 3 + MANY)
    with pytest.raises(InputError, match=r"'q' is not among the nodes \(and 2 more edges"):
        with_known_ends(read_ends(table), ("a", "b"), "the nodes")


def test_ends_that_are_all_strange_are_a_matter_of_the_column():
    ends = read_ends(table_of("edges.csv", u=["p", "q"], v=["q", "r"]))
    with pytest.raises(InputError, match=r"columns 'u' and 'v' has both ends .*--id-column"):
        with_known_ends(ends, ("a", "b"), "the nodes")


@given(st.lists(st.tuples(*[st.sampled_from("abc")] * 2), min_size=1))
def test_edges_between_known_nodes_stay_as_they_are(pairs):
    ends = read_ends(table_of("e.csv", source=[a for a, _ in pairs], target=[b for _, b in pairs]))
    assert with_known_ends(ends, "abc", "the nodes") is ends
