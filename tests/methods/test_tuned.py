import tomllib
from importlib.resources import files

import pytest

from bpgnn.data.catalog import CATALOG
from bpgnn.methods.registry import METHODS, settings_of
from bpgnn.methods.tuned import tuned_for

FOUND = tomllib.loads(files("bpgnn.methods").joinpath("tuned.toml").read_text("utf-8"))
CELLS = [(method, dataset) for method, by_dataset in FOUND.items() for dataset in by_dataset]


@pytest.mark.parametrize(("method", "dataset"), CELLS)
def test_every_cell_of_the_file_is_of_a_method_and_data_set_and_changes_what_it_says(
    method, dataset
):
    assert method in METHODS
    assert dataset in CATALOG
    settings = settings_of(method, "tuned", dataset)
    for name, value in FOUND[method][dataset].items():
        assert getattr(settings, name) == (tuple(value) if isinstance(value, list) else value)


def test_no_cell_settles_what_is_not_for_a_search_to_choose():
    for method, dataset in CELLS:
        assert not {"split", "seed", "sampler"} & set(tuned_for(method, dataset))


def test_other_presets_and_other_data_are_left_alone():
    assert settings_of("bpgnn", "paper", "photo") == METHODS["bpgnn"].preset("paper", "photo")
    assert settings_of("bpgnn", "tuned", "mine") == METHODS["bpgnn"].preset("tuned", "mine")
