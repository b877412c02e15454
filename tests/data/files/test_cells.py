import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpgnn.data.files.cells import (
    has_decimal_comma,
    in_order,
    is_missing,
    is_number,
    missing_rows,
    numbers_of,
    texts_of,
)
from bpgnn.errors import InputError


@pytest.mark.parametrize("text", ["", "NA", "na", "N/A", "NaN", "nan", "null", "NULL", "<NA>"])
def test_words_for_nothing_are_missing(text):
    assert is_missing(text)
    assert not is_number(text)


@pytest.mark.parametrize("text", ["None", "none", "0", "-", "Nancy", "unknown", "Natal"])
def test_other_words_are_values(text):
    assert not is_missing(text)


@pytest.mark.parametrize("text", ["2", "1.5", "-1.5", "+3", "1e3", " 2 ", "1E-3", ".5"])
def test_numbers_are_read_as_python_reads_them(text):
    assert is_number(text)
    assert numbers_of([text]).tolist() == [float(text)]


@pytest.mark.parametrize("text", ["two", "1,5", "1_000", "0x1", "1 000", "--1"])
def test_other_text_is_no_number(text):
    assert not is_number(text)
    assert numbers_of(["1", text]) is None


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False)))
def test_numbers_come_back_from_their_text(values):
    assert numbers_of(texts_of(values)).tolist() == values


@given(st.lists(st.one_of(st.text("NAnaul/ <>\t"), st.none(), st.integers(), st.booleans())))
def test_rows_that_say_nothing_are_those_whose_cell_does(values):
    texts = texts_of(values)
    assert all(text == text.strip() for text in texts)
    assert missing_rows(texts) == [row for row, text in enumerate(texts) if is_missing(text)]


def test_whole_floats_are_written_as_the_whole_numbers_of_other_files():
    assert texts_of(np.array([1.0, 2.5, np.nan])) == ["1", "2.5", "nan"]


def test_bytes_that_are_no_utf8_are_refused_with_the_cure():
    with pytest.raises(InputError, match=r"UTF-8, but got b'.xe4'.*latin-1"):
        texts_of([b"tea", b"\xe4"])


def test_decimal_commas_are_seen():
    assert has_decimal_comma("-12,5")
    assert not has_decimal_comma("12,5,1")


def test_numbers_are_sorted_by_value_and_words_by_letters():
    assert in_order(["10", "2", "-1"]) == ("-1", "2", "10")
    assert in_order(["b10", "b2"]) == ("b10", "b2")
