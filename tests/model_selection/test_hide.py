import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from bpgnn.errors import InputError
from bpgnn.estimator.labels import read_labels
from bpgnn.model_selection import hide_labels

KINDS = {
    "list of numbers": [0, 1, 0, 2, 1],
    "list of texts": ["a", "b", "a", "c", "b"],
    "list with gaps": ["a", None, "a", "c", "b"],
    "int8": np.array([0, 1, 0, 2, 1], np.int8),
    "uint8": np.array([0, 1, 0, 2, 1], np.uint8),
    "float32": np.array([0, 1, 0, 2, 1], np.float32),
    "bool": np.array([True, False, False, True, True]),
    "fixed text": np.array(["a", "b", "a", "c", "b"]),
    "object": np.array(["a", "b", "c", "c", None], object),
    "tensor": torch.tensor([0, 1, 0, 2, 1]),
    "one column": np.array([[0], [1], [0], [2], [1]]),
    "series": pd.Series([0, 1, 0, 2, 1], index=list("vwxyz"), name="kind"),
    "series of texts": pd.Series(["a", "b", "a", "c", "b"]),
    "series with gaps": pd.Series([0, 1, 2, 2, None], dtype="Int64"),
    "series of truth values": pd.Series([True, False, False, None, True], dtype="boolean"),
    "list of truth values with gaps": [True, None, False, False, True],
    "categories of numbers": pd.Series([3, 4, 5, 5, None], dtype="category"),
    "categories": pd.Series(["a", "b", "a", "c", "b"], dtype="category"),
}


@pytest.mark.parametrize("name", KINDS)
def test_the_estimator_reads_exactly_the_hidden_labels_as_missing(name):
    y = KINDS[name]
    before = repr(y)
    hidden = hide_labels(y, [1, 3])
    assert repr(y) == before
    whole_classes, whole = read_labels(hide_labels(y, []), 5)
    classes, codes = read_labels(hidden, 5)
    assert [bool(code == -1) for code in codes[[1, 3]]] == [True, True]
    assert classes.dtype.kind == whole_classes.dtype.kind
    kept = [node for node in (0, 2, 4) if whole[node] >= 0]
    assert classes[codes[kept]].tolist() == whole_classes[whole[kept]].tolist()


@pytest.mark.parametrize(
    ("y", "expected"),
    [
        (np.array([4, 5]), [-1, 5]),
        (np.array([4, 5], np.uint8), [-1, 5]),
        (np.array(["x", "y"]), [None, "y"]),
        (np.array([True, False]), [None, False]),
        (["x", ""], [None, ""]),
    ],
)
def test_missing_follows_the_type(y, expected):
    hidden = hide_labels(y, [0])
    assert hidden.tolist() == expected
    assert hidden.dtype == (object if None in expected else np.int64)


def test_missing_among_floats_is_nan():
    hidden = hide_labels(np.array([1.0, 2.0], np.float32), [1])
    assert hidden.dtype == np.float32
    np.testing.assert_array_equal(hidden, [1.0, np.nan])


def test_a_series_keeps_its_index_and_name():
    hidden = hide_labels(KINDS["series"], [0])
    assert hidden.index.tolist() == list("vwxyz")
    assert hidden.name == "kind"
    assert hidden.tolist() == [-1, 1, 0, 2, 1]


@given(st.lists(st.integers(0, 3), min_size=1, max_size=20), st.data())
def test_a_mask_and_numbers_hide_the_same(labels, data):
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(labels), max_size=len(labels))))
    by_mask = hide_labels(labels, mask)
    np.testing.assert_array_equal(by_mask, hide_labels(labels, np.flatnonzero(mask)))
    np.testing.assert_array_equal(by_mask, np.where(mask, -1, labels))


@pytest.mark.parametrize("hidden", [[5], [-1], [0.5], ["a"], [[0], [1]], [True, False]])
def test_what_names_no_nodes_is_refused(hidden):
    with pytest.raises(InputError, match="`hidden` must be numbers of nodes from 0 to 2"):
        hide_labels([0, 1, 0], hidden)


@pytest.mark.parametrize("y", [np.zeros((3, 2)), [[1], [2, 3]], 7])
def test_what_is_not_one_label_a_node_is_refused(y):
    with pytest.raises(InputError, match="one label a node"):
        hide_labels(y, [])
