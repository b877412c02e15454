import numpy as np
import pytest

from bpgnn.data.files.columns import learn_columns
from bpgnn.data.files.refuse import listed, shown
from bpgnn.errors import InputError


def test_an_id_or_free_text_is_refused_with_the_cure():
    cells = [f"customer {number}" for number in range(201)]
    with pytest.raises(InputError, match="'key', row 0 .* like an id.*201 different.*use --drop"):
        learn_columns({"key": cells}, how_to_drop="use --drop")
    assert len(learn_columns({"key": cells[:200]}).items[0].categories) == 200
    assert len(learn_columns({"key": cells * 2}).items[0].categories) == 201


def test_too_many_categories_are_refused():
    cells = [f"city {number}" for number in range(1001)] * 2
    with pytest.raises(InputError, match="1,001 different values, more than the 1,000.*Merge"):
        learn_columns({"city": cells})


def test_a_decimal_comma_is_refused_with_the_cure():
    with pytest.raises(InputError, match=r"row 1: '1,5' has a comma in a number. Write a point"):
        learn_columns({"x": ["2", "1,5"]})


def test_a_slip_among_numbers_is_refused_with_its_place():
    cells = [str(number) for number in range(50)] + ["l2"]
    with pytest.raises(InputError, match=r"row 50: 'l2' is not a number, but 50 of the 51 cells"):
        learn_columns({"x": cells})


def test_numbers_among_few_words_are_a_category():
    assert learn_columns({"x": ["1", "2", "3A"] * 9}).items[0].categories == ("1", "2", "3A")


@pytest.mark.parametrize(
    "cells", [["1", "inf"], np.array([1.0, np.inf]), ["1", "1e39"], [1, -1e300]]
)
def test_numbers_that_are_no_feature_are_refused(cells):
    with pytest.raises(InputError, match="row 1: .* is infinite or too large"):
        learn_columns({"x": cells})


def test_long_text_and_long_lists_are_cut():
    assert len(shown("a" * 99)) == 42
    assert listed(list("abcdefg")) == "'a', 'b', 'c', 'd', 'e' and 2 more"
