import pytest

from bpgnn.errors import InputError
from bpgnn.infer.checked import CheckedInference


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"k": 0}, "`k` must be 1 or more"),
        ({"latent_dim": 2.5}, "`latent_dim` must be a whole number"),
        ({"metric": "euclidian"}, "Did you mean euclidean"),
        ({"temperature": 6.0}, "`temperature` must be between -5 and 5"),
        ({"gate": -1.0}, "`gate` must be 0 or more"),
        ({"own_share": 1.0}, "`own_share` must be between 0 and 1"),
        ({"witness": "gatd"}, "Did you mean gated"),
    ],
)
def test_what_cannot_be_is_refused(changes, words):
    with pytest.raises(InputError, match=words):
        CheckedInference(**changes)


def test_the_defaults_are_fine():
    assert CheckedInference().k == 8
