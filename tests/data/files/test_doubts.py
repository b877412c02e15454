import numpy as np
import pytest

from bpgnn.data.files.columns import learn_columns
from bpgnn.data.files.doubts import class_doubts, column_doubts, row_numbers
from bpgnn.data.files.node_table import own_from_tables
from bpgnn.data.files.table import FileTable

ROWS = range(60)


def doubts_of(cells):
    table = {"of age": np.array(cells, dtype=object)}
    return column_doubts(learn_columns(table).items, table)


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ([f"2023-01-{1 + row % 28:02d}" for row in ROWS], "holds dates"),
        ([f"{1 + row % 28}.1.2023" for row in ROWS], "holds dates"),
        ([f"2023-01-{1 + row % 28:02d} 10:00:00" for row in ROWS], "holds dates"),
        ([f"${row % 9}.50" for row in ROWS], "holds amounts such as '$0.50'"),
        ([f"{row % 9} %" for row in ROWS], "holds amounts"),
        ([f"said {row % 40}" for row in ROWS], "has 40 different values in 60 rows"),
        ([f"0{row % 40:03d}" for row in ROWS], "though '0000' looks like a code"),
    ],
)
def test_what_may_be_meant_otherwise_is_noted(cells, words):
    (note,) = doubts_of(cells)
    assert words in note
    assert note.endswith("or leave it out with --drop 'of age'.")


@pytest.mark.parametrize(
    "cells",
    [
        [f"zone {row % 9}" for row in ROWS],
        [str(row % 9) for row in ROWS],
        ["0.5", "0", *map(str, ROWS)],
        ["yes" if row % 2 else "no" for row in ROWS],
        [float(row) for row in ROWS],
    ],
)
def test_plain_columns_are_left_alone(cells):
    assert doubts_of(cells) == ()


@pytest.mark.parametrize("word", ["?", "Unknown", "None"])
def test_a_class_that_may_be_none_is_noted(word):
    (note,) = class_doubts({"a": 3, word: 4})
    assert f"'{word}' has 4 nodes" in note


def test_minus_one_is_a_class_beside_one_alone():
    assert class_doubts({"-1": 3, "1": 4}) == ()
    assert class_doubts({"-1": 3, "+1": 4}) == ()
    assert len(class_doubts({"-1": 3, "cat": 4})) == 1
    assert len(class_doubts({"-1": 3, "0": 4, "1": 5})) == 1


@pytest.mark.parametrize(
    ("words", "difference"),
    [
        (["True", "true", "FALSE"], "'True', 'true' differ only in case"),
        (["1", "1.0", "2"], "'1', '1.0' are the same number"),
        (["b", "a", "A", "á"], "'a', 'A' differ only in case"),
    ],
)
def test_classes_that_may_be_one_are_noted(words, difference):
    (note,) = class_doubts(dict.fromkeys(words, 3))
    assert note == f"The classes {difference}. If they are one, write them alike."


@pytest.mark.parametrize("words", [["a", "b"], ["1", "-1"], ["1", "one", "10"], ["1 a", "1a"]])
def test_classes_that_differ_in_more_are_left_alone(words):
    assert class_doubts(dict.fromkeys(words, 3)) == ()


def test_classes_of_a_table_that_may_be_one_are_among_its_notes():
    columns = {"x": ["4", "5", "6"], "label": ["True", "FALSE", "true"]}
    cells = {name: np.array(column, dtype=object) for name, column in columns.items()}
    own = own_from_tables("mine", FileTable("nodes.csv", cells, [2, 3, 4]), None)
    assert own.dataset.num_classes == 3
    assert any("'True', 'true' differ only in case" in note for note in own.dataset.notes)


def test_rows_numbered_by_pandas_or_in_order_are_no_feature():
    table = {
        "Unnamed: 0": ["5", "3"],
        "__index_level_0__": [7, 1],
        "index": ["1", "2"],
        "row": ["1", "5"],
        "column 1": ["a", "b"],
        "age": ["0", "1"],
    }
    cells = {name: np.array(column, dtype=object) for name, column in table.items()}
    assert row_numbers(cells) == ["Unnamed: 0", "__index_level_0__", "index"]


def test_row_numbers_are_left_out_unless_edges_name_them():
    columns = {"column 1": ["0", "1"], "who": ["a", "b"], "x": ["4", "5"], "label": ["u", "?"]}
    cells = {name: np.array(column, dtype=object) for name, column in columns.items()}
    nodes = FileTable("nodes.csv", cells, [2, 3])
    own = own_from_tables("mine", nodes, None)
    assert (own.id_name, own.columns.names) == ("who", ("x",))
    assert any("'column 1', which numbers the rows" in note for note in own.dataset.notes)
    assert any("The class '?'" in note for note in own.dataset.notes)
    ends = {name: np.array([end], dtype=object) for name, end in (("from", "0"), ("to", "1"))}
    assert own_from_tables("mine", nodes, FileTable("edges.csv", ends, [2])).ids == ("0", "1")
