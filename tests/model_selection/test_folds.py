import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import StratifiedKFold

from bpgnn.errors import InputError
from bpgnn.model_selection import NodeKFold

LABELS = st.lists(st.sampled_from([-1, 0, 1, 2]), min_size=4, max_size=40).filter(
    lambda labels: len(set(labels) - {-1}) >= 2 and sum(label >= 0 for label in labels) >= 4
)


@given(LABELS, st.integers(2, 4), st.booleans(), st.integers(0, 3))
def test_every_labelled_node_is_tested_once_and_no_other_ever(labels, n_splits, shuffle, seed):
    folds = NodeKFold(n_splits, stratified=False, shuffle=shuffle, random_state=seed)
    known = np.flatnonzero(np.array(labels) >= 0).tolist()
    tested = []
    for train, test in folds.split(None, labels):
        assert sorted([*train, *test]) == known
        tested += test.tolist()
    assert sorted(tested) == known


def test_stratified_folds_are_scikit_learns_among_the_labelled():
    y = np.array([0, 0, 1, 1, 0, 1, 0, 1])
    wide = np.full(16, -1)
    wide[::2] = y
    reference = StratifiedKFold(2, shuffle=True, random_state=3).split(y, y)
    for (train, test), (other_train, other_test) in zip(
        NodeKFold(2, random_state=3).split(None, wide), reference, strict=True
    ):
        assert train.tolist() == (2 * other_train).tolist()
        assert test.tolist() == (2 * other_test).tolist()
        assert wide[test].sum() == 2


@pytest.mark.parametrize("missing", [None, "", np.nan])
def test_texts_with_gaps_are_parted_too(missing):
    y = ["a", missing, "b", "a", "b"]
    assert [test.tolist() for _, test in NodeKFold(2, shuffle=False).split(None, y)] == [
        [0, 2],
        [3, 4],
    ]


def test_it_counts_its_folds_and_shows_its_choices():
    folds = NodeKFold(3, random_state=1)
    assert folds.get_n_splits() == folds.get_n_splits(None, [0, 1], None) == 3
    assert repr(folds) == "NodeKFold(n_splits=3, stratified=True, shuffle=True, random_state=1)"


@pytest.mark.parametrize("count", [1, 0, 2.5, True, "5"])
def test_a_bad_number_of_folds_is_refused(count):
    with pytest.raises(InputError, match="`n_splits` must be a whole number from 2 up"):
        NodeKFold(count)


def test_too_few_labels_are_refused_with_the_cure():
    with pytest.raises(InputError, match="one class has 1 only. Make fewer folds, or set strat"):
        list(NodeKFold(2).split(None, [0, 0, 1]))
    with pytest.raises(InputError, match="5 folds need as many labelled nodes, but there are 3"):
        list(NodeKFold(5, stratified=False).split(None, [0, 0, 1, -1, -1, -1]))
    with pytest.raises(InputError, match="hand in `y`"):
        list(NodeKFold().split([[0]], None))
