import pytest

from bpgnn.data.counted import counted


@pytest.mark.parametrize(("number", "words"), [(0, "0 men"), (1, "1 man"), (12345, "12,345 men")])
def test_one_is_one_and_the_rest_are_many(number, words):
    assert counted(number, "man", "men") == words
