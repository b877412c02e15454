import sys

import pytest

from bpgnn.errors import InputError
from bpgnn.explore.canvas import empty_drawing


def test_without_bokeh_the_error_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "bokeh.embed", None)
    with pytest.raises(InputError) as caught:
        empty_drawing()
    wanted = "The page needs bokeh. Install it with: pip install bpgnn[explore]"
    assert str(caught.value) == wanted
