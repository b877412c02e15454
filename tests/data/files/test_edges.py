import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpgnn.data.files.edges import edge_index_of, positions, read_ends
from bpgnn.data.files.table import FileTable
from bpgnn.errors import InputError


def table_of(**columns):
    cells = {name: np.array(values, dtype=object) for name, values in columns.items()}
    return FileTable("edges.csv", cells, range(2, 2 + len(next(iter(cells.values())))))


@pytest.mark.parametrize(
    "columns",
    [
        {"source": ["a"], "target": ["b"]},
        {"when": ["1"], "To": ["b"], "From": ["a"]},
        {"when": ["1"], "dst": ["b"], "src": ["a"]},
        {"one": ["a"], "other": ["b"], "third": ["c"]},
    ],
)
def test_ends_are_found_by_name_or_come_first(columns):
    ends = read_ends(table_of(**columns))
    assert (ends.sources[1], ends.targets[1]) == (["a"], ["b"])
    assert bool(ends.notes) == (len(columns) > 2)


def test_ends_without_a_usual_name_are_the_columns_of_ids():
    table = table_of(day=["1 May", "2 May"], user_a=["a", "b"], kind=["x", "y"], user_b=["b", "a"])
    ends = read_ends(table, {"a", "b"})
    assert (ends.sources[0], ends.targets[0]) == ("user_a", "user_b")
    assert read_ends(table, {"z"}).sources[0] == "day"


def test_numbers_of_edges_are_not_taken_for_ends():
    ids = {str(number) for number in range(9)}
    table = table_of(id=["0", "1", "2"], a=["4", "4", "5"], b=["7", "8", "8"])
    ends = read_ends(table, ids)
    assert (ends.sources[0], ends.targets[0]) == ("a", "b")
    assert ends.notes[0].endswith("'id'. Edges join 'a' and 'b'.")
    referred = table_of(who=["0", "1", "2"], by=["4", "4", "5"], day=["may", "june", "july"])
    assert read_ends(referred, ids).sources[0] == "who"
    mixed = table_of(count=["1", "40", "2"], a=["4", "4", "5"], b=["7", "8", "8"])
    assert read_ends(mixed, ids).sources[0] == "a"


def test_weights_are_read():
    ends = read_ends(table_of(source=["a"], target=["b"], Weight=["2.5"]))
    assert ends.weight.tolist() == [2.5]
    assert ends.notes == ()


@pytest.mark.parametrize("weight", ["0", "-1", "", "heavy", "inf", "nan", "1e-60", "1e60"])
def test_a_weight_that_is_not_positive_is_refused_with_its_line(weight):
    with pytest.raises(InputError, match=r"edges.csv, line 3, column 'weight': a weight must be"):
        read_ends(table_of(source=["a", "a"], target=["b", "c"], weight=["1", weight]))


def test_an_unknown_id_is_refused_with_line_and_nearest():
    ends = read_ends(table_of(source=["c-01", "c-02"], target=["c-02", "c-1O"]))
    words = (
        r"edges.csv, line 3, column 'target': 'c-1O' is not among the nodes. Did you mean 'c-10'"
    )
    with pytest.raises(InputError, match=words):
        edge_index_of(ends, {"c-01": 0, "c-02": 1, "c-10": 2})


def test_the_nearest_of_very_many_ids_is_found_quickly():
    ids = {f"customer-{number:06d}": number for number in range(50_000)}
    ends = read_ends(table_of(source=["customer-00x123"], target=["zzz"]))
    with pytest.raises(InputError, match=r"Did you mean 'customer-0\d+123'\? Add that node"):
        edge_index_of(ends, ids)


def test_a_missing_end_is_refused():
    with pytest.raises(InputError, match=r"line 2, column 'target': the id is missing"):
        edge_index_of(read_ends(table_of(source=["a"], target=[""])), {"a": 0})


def test_one_column_is_no_edge():
    with pytest.raises(InputError, match="two columns of ids.*it has 1: 'a'"):
        read_ends(table_of(a=["x"]))


@given(st.lists(st.integers(0, 9)), st.sets(st.integers(0, 9)))
def test_positions_are_those_of_the_ids(words, known):
    ids = {str(word): number for number, word in enumerate(sorted(known))}
    order = sorted(known)
    wanted = [order.index(word) if word in known else -1 for word in words]
    assert positions([str(word) for word in words], ids).tolist() == wanted
