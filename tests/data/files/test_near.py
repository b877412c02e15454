import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpgnn.data.files.near import nearest_id, plain


@given(st.integers(0, 10**9), st.integers(0, 3), st.integers(0, 2))
def test_a_whole_number_is_the_same_however_it_is_written(number, zeros, decimals):
    point = "." + "0" * decimals if decimals else ""
    assert plain("0" * zeros + str(number) + point) == str(number)


@pytest.mark.parametrize("text", ["", "C07", "1.5", "-7", "07a", "1e3", "٣"])
def test_other_text_stays(text):
    assert plain(text) == text


@pytest.mark.parametrize(
    ("word", "near"),
    [("7", "007"), ("12.0", "12"), ("c-1", "C-1"), ("C-1O2", "C-102"), ("zzzzzz", None)],
)
def test_the_id_that_was_meant_is_found(word, near):
    assert nearest_id(word, ["117", "007", "12", "C-1", "C-102"]) == near
