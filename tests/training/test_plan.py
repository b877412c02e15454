import math

import pytest

from bpgnn.errors import InputError
from bpgnn.methods.registry import METHODS, settings_of
from bpgnn.training.plan import Plan


def test_settings_are_the_preset_for_the_data_set_with_the_changes():
    expected = METHODS["bpgnn"].preset("paper", "photo").changed({"k": 3})
    assert Plan(preset="paper", changes={"k": "3"}).settings_for("photo") == expected
    assert Plan().settings_for("cora") == settings_of("bpgnn", "tuned", "cora")


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        ({"seed": -1}, "`seed` must be a whole number from 0 up, but got -1."),
        ({"seed": "0"}, "`seed` must be a whole number from 0 up, but got '0'."),
        ({"seed": True}, "`seed` must be a whole number from 0 up, but got True."),
        (
            {"labels_per_class": 0},
            "`labels_per_class` must be a whole number from 1 up, but got 0.",
        ),
        ({"add_edges": -0.5}, "`add_edges` must be a finite number from 0 up, but got -0.5."),
        ({"add_edges": math.nan}, "`add_edges` must be a finite number from 0 up, but got nan."),
        ({"add_edges": "x"}, "`add_edges` must be a finite number from 0 up, but got 'x'."),
        ({"drop_edges": 1.5}, "`drop_edges` must be between 0 and 1, but got 1.5."),
        ({"drop_edges": -1}, "`drop_edges` must be between 0 and 1, but got -1."),
        ({"method": ["bpgnn"]}, "`method` must be text, but got ['bpgnn']."),
        ({"device": 3}, "`device` must be text, but got 3."),
        ({"changes": [1]}, "`changes` must name settings and their values, but got [1]."),
    ],
)
def test_a_plan_checks_what_it_holds(plan, words):
    with pytest.raises(InputError) as caught:
        Plan(**plan)
    assert str(caught.value).startswith(words)
