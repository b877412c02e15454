import sys

import pytest

from bpgnn.errors import InputError
from bpgnn.report.draw import draw
from bpgnn.report.extra import require
from bpgnn.report.write import as_html


def test_what_is_missing_is_named_and_where_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    require("The page", "math")
    with pytest.raises(InputError, match=r"needs jinja2\. .*pip install 'bpgnn\[report\]'"):
        require("The page", "math", "jinja2")
    with pytest.raises(InputError, match="The page needs jinja2"):
        as_html([], "", fast=False)


def test_a_figure_says_that_it_needs_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InputError, match="A figure needs matplotlib"):
        draw("speed", "nothing", [])
