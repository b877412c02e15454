import pytest

from bpgnn.training.plan import Plan
from bpgnn.training.sized import sized


@pytest.mark.parametrize("plan", [Plan("gcn"), Plan(preset="paper")])
def test_only_tuned_bpgnn_is_fitted_to_the_size(plan):
    assert sized(plan, 10**6) is plan
    assert sized(Plan(), 2_999) == Plan()


def test_more_nodes_get_fewer_steps_and_samples():
    few, some, many = (sized(Plan(), number).settings_for("mine") for number in (99, 5000, 50_000))
    assert few.max_steps > some.max_steps > many.max_steps
    assert few.validation_samples is None
    assert some.num_samples > some.validation_samples > many.validation_samples
    assert some.latent_dim == few.latent_dim > many.latent_dim


def test_what_was_asked_for_stays():
    asked = {"max_steps": 900, "latent_dim": 9}
    found = sized(Plan(changes=asked), 20_000).changes
    assert asked.items() <= found.items()
    assert found["validation_samples"] == 2
