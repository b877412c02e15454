import pytest

from bpgnn.methods.registry import METHODS
from bpgnn.training.plan import Plan
from bpgnn.training.sized import sized

WITH_K = [name for name, method in METHODS.items() if hasattr(method.settings_type, "k")]


@pytest.mark.parametrize("plan", [Plan("gcn"), Plan(preset="paper")])
def test_only_tuned_bpgnn_is_fitted_to_the_size(plan):
    assert sized(plan, "mine", 10**6) == (plan, ())
    assert sized(Plan(), "mine", 2_999) == (Plan(), ())


def test_more_nodes_get_fewer_steps_and_samples():
    few, some, many = (
        sized(Plan(), "mine", number)[0].settings_for("mine") for number in (99, 5000, 50_000)
    )
    assert few.max_steps > some.max_steps > many.max_steps
    assert few.validation_samples is None
    assert some.num_samples > some.validation_samples > many.validation_samples
    assert some.latent_dim == few.latent_dim > many.latent_dim


def test_what_was_asked_for_stays():
    asked = {"max_steps": 900, "latent_dim": 9}
    found = sized(Plan(changes=asked), "mine", 20_000)[0].changes
    assert asked.items() <= found.items()
    assert found["validation_samples"] == 2


@pytest.mark.parametrize("method", WITH_K)
@pytest.mark.parametrize("changes", [None, {"k": "12"}])
def test_no_node_has_more_neighbours_than_there_are_others(method, changes):
    plan, notes = sized(Plan(method, changes=changes), "mine", 5)
    assert plan.settings_for("mine").k == 4
    assert len(notes) == 1
    assert "is 4 instead of" in notes[0]
    assert sized(plan, "mine", 5) == (plan, ())
