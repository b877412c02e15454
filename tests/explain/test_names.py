"""What nodes are called."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpgnn.errors import InputError
from bpgnn.explain.names import name_of, percent


@given(st.text())
def test_a_name_is_one_printable_line_and_never_empty(text):
    name = name_of(0, [text])
    assert name.isprintable()
    assert name.strip()


def test_names_that_do_not_reach_are_refused():
    with pytest.raises(InputError, match="no name for node 7: 2 names were given"):
        name_of(7, ["Ann", "Bob"])


def test_a_small_share_is_not_nothing():
    assert (percent(0.0), percent(0.004), percent(0.006)) == ("0 %", "under 1 %", "1 %")
