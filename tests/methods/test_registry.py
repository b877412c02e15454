import dataclasses
import inspect
import re

import pytest

from bpgnn.method import Method, MethodSettings
from bpgnn.methods.registry import METHODS, settings_of

PAIRS = [(name, dataset) for name in METHODS for dataset in ("cora", "citeseer", "my own")]


def test_bpgnn_is_there_and_every_entry_is_a_method_one_can_build():
    assert "bpgnn" in METHODS
    for method in METHODS.values():
        assert issubclass(method, Method)
        assert not inspect.isabstract(method)


@pytest.mark.parametrize(("name", "dataset"), PAIRS)
def test_every_method_has_tuned_settings_for_any_data_set(name, dataset):
    settings = settings_of(name, "tuned", dataset)
    assert isinstance(settings, MethodSettings)
    with pytest.raises(dataclasses.FrozenInstanceError):
        settings.max_steps = 1


@pytest.mark.parametrize("name", METHODS)
def test_every_citation_is_a_bibtex_entry_with_title_author_and_year(name):
    citation = METHODS[name].citation
    assert re.fullmatch(r"@\w+\{\w+,\n(  .*\n)+\}", citation)
    assert all(f"  {word}" in citation for word in ("title", "author", "year"))
