import re

import numpy as np
import pandas as pd
import pytest

from bpgnn.errors import InputError
from bpgnn.estimator.labels import check_order, read_labels


@pytest.mark.parametrize(
    ("y", "classes", "numbers"),
    [
        ([2, -1, 5, 2], [2, 5], [0, -1, 1, 0]),
        (np.array([0.0, np.nan, 1.0, -1.0]), [0.0, 1.0], [0, -1, 1, -1]),
        (["b", None, "a", ""], ["a", "b"], [1, -1, 0, -1]),
        (np.array(["b", float("nan"), "a", None], dtype=object), ["a", "b"], [1, -1, 0, -1]),
        ([True, False, True, True], [False, True], [1, 0, 1, 1]),
        (pd.Series(["x", None, "y", "x"]), ["x", "y"], [0, -1, 1, 0]),
        (pd.Series([1, None, 3, 1], dtype="Int64"), [1, 3], [0, -1, 1, 0]),
        (pd.Series(["x", None, "y", "x"], dtype="category"), ["x", "y"], [0, -1, 1, 0]),
        (pd.Series([3, None, 4, 3], dtype="category"), [3, 4], [0, -1, 1, 0]),
        (pd.Series([True, None, False, True], dtype="boolean"), [False, True], [1, -1, 0, 1]),
        (np.array([True, None, False, True], dtype=object), [False, True], [1, -1, 0, 1]),
        ([2, None, 10, 2], [2, 10], [0, -1, 1, 0]),
        ([2, float("nan"), 10.0, 2], [2.0, 10.0], [0, -1, 1, 0]),
        (np.array(["b", np.nan, "a", " NA "]), ["a", "b"], [1, -1, 0, -1]),
        (np.array([b"b", b"", b"a", b"nan"]), ["a", "b"], [1, -1, 0, -1]),
        ([b"b", None, "a", "b"], ["a", "b"], [1, -1, 0, 1]),
    ],
)
def test_classes_are_told_from_missing_labels(y, classes, numbers):
    found, codes = read_labels(y, 4)
    assert found.tolist() == classes
    assert [type(name) for name in found.tolist()] == [type(name) for name in classes]
    assert codes.tolist() == numbers


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (None, "requires y to be passed"),
        ([0, 1, 0], "one label for each of the 4 rows"),
        ([-1, -1, -1, -1], "No node has a label"),
        (
            [1, -1, 1, 1],
            r"one class only \(1\).* -1 is a missing one; .* np.where\(y == -1, 0, y\)",
        ),
        ([0.0, -1.0, 0.0, 0.0], r"one class only \(0.0\).* np.where\(y == -1, 1, y\)"),
        (["a", None, "a", "a"], r"one class only \('a'\).*two classes.$"),
        ([[0], [1, 2], [0], [1]], "differ in length"),
        (pd.to_datetime(["2024-01-01", "2024-01-02"] * 2), r"astype\(str\)"),
        ([0.5, 1.5, 2.5, 3.7], "[Uu]nknown label type"),
        ([0.0, np.inf, 1.0, 1.0], "infinity"),
        ([b"a", b"\xff", b"a", b"b"], "UTF-8"),
    ],
)
def test_labels_that_cannot_be_used_are_refused(y, words):
    with pytest.raises(ValueError, match=words) as caught:
        read_labels(y, 4)
    assert isinstance(caught.value, InputError) or "label type" in str(caught.value)


@pytest.mark.parametrize("word", ["-1", "None", "?"])
def test_a_class_that_may_mean_that_none_is_known_is_warned_of(word):
    with pytest.warns(UserWarning, match=rf"The class '{re.escape(word)}' has 2 nodes.*empty"):
        classes, _ = read_labels(np.array(["cat", word, "dog", word]), 4)
    assert classes.tolist() == sorted(["cat", "dog", word])


def test_labels_in_another_order_than_the_rows_are_refused():
    names = np.array(["a", "b", "c"])
    with pytest.raises(InputError, match=r"y.reindex\(X.index\)"):
        check_order(names, pd.Series([0, 1, -1], index=["b", "a", "c"]))
    for index in (["a", "b", "c"], ["d", "e", "f"]):
        check_order(names, pd.Series([0, 1, -1], index=index))
    check_order(names, [0, 1, -1])
    check_order(None, pd.Series([0, 1, -1], index=["b", "a", "c"]))
