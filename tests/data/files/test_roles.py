import numpy as np
import pytest

from bpgnn.data.files.roles import find_id, find_label, named_column, read_ids, read_labels
from bpgnn.data.files.table import FileTable
from bpgnn.errors import InputError


def table_of(**columns):
    cells = {name: np.array(values, dtype=object) for name, values in columns.items()}
    return FileTable("nodes.csv", cells, range(2, 2 + len(next(iter(cells.values())))))


@pytest.mark.parametrize(
    ("columns", "found"),
    [
        ({"x": ["a", "b"], "Node_ID": ["1", "2"]}, "Node_ID"),
        ({"name": ["a", "b"], "id": ["1", "2"]}, "id"),
        ({"x": ["1", "2"], "who": ["a", "b"]}, "who"),
        ({"x": ["a", "a"], "who": ["a", "b"]}, "who"),
        ({"x": ["1", "2"], "y": ["a", "a"]}, None),
        ({"x": ["a", ""]}, None),
        ({"email": ["a@b", "c@d"], "Customer ID": ["7", "8"]}, "Customer ID"),
        ({"name": ["Ann", "Ann"], "userId": ["7", "8"]}, "userId"),
        ({"name": ["Ann", "Ann"], "group_id": ["7", "7"]}, "name"),
        ({"paid": ["1", "2"]}, None),
    ],
)
def test_ids_are_found_by_name_or_by_being_distinct_text(columns, found):
    assert find_id(table_of(**columns), None) == found


def test_labels_are_never_taken_for_ids():
    assert find_id(table_of(kind=["a", "b"]), None, "kind") is None


def test_a_given_column_wins_and_a_wrong_one_is_answered_with_the_nearest():
    table = table_of(id=["1", "2"], other=["a", "b"])
    assert find_id(table, "Other") == "other"
    with pytest.raises(InputError, match=r"no column 'othr' \(--id-column\). Did you mean other"):
        find_id(table, "othr")
    with pytest.raises(InputError, match=r"no column 'z' \(--drop\)"):
        named_column(table, "z", "--drop")


def test_labels_are_found_by_name_or_asked_for_with_the_columns_listed():
    assert find_label(table_of(y=["a"], Label=["b"]), None) == "Label"
    with pytest.raises(InputError, match="with --label-column: id, age"):
        find_label(table_of(id=["1"], age=["2"]), None)


def test_an_id_that_is_missing_or_there_twice_is_refused_with_its_line():
    with pytest.raises(InputError, match=r"nodes.csv, line 3, column 'id': the id is missing"):
        read_ids(table_of(id=["a", " "]), "id")
    with pytest.raises(InputError, match=r"line 4, column 'id': the id 'a' was .* in line 2"):
        read_ids(table_of(id=["a", "b", "a"]), "id")


def test_an_id_may_be_any_text():
    assert read_ids(table_of(id=["NA", "<script>", 7]), "id") == ("NA", "<script>", "7")


def test_classes_are_sorted_and_the_unlabelled_are_minus_one():
    labels, names = read_labels("n", "label", ["10", "9", "", "NA", None, " 10 ", float("nan")])
    assert names == ("9", "10")
    assert labels.tolist() == [1, 0, -1, -1, -1, 1, -1]


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        (["a", "a", ""], "at least two classes, but there is only 'a'. Label some"),
        (["", "NA"], "no label at all"),
        ([f"{number / 7}" for number in range(30)], "30 classes among 30 labelled.*Group"),
    ],
)
def test_labels_that_cannot_be_learned_are_refused(cells, words):
    with pytest.raises(InputError, match=rf"nodes.csv, column 'label': .*{words}"):
        read_labels("nodes.csv", "label", cells)
