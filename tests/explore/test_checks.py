import numpy as np
import pytest

from bpgnn.errors import InputError
from bpgnn.explore.checks import check_shares, to_numbers


def test_a_share_may_exceed_one_by_rounding_only():
    check_shares("weight", np.array([0.0, 1 + 1e-7]))
    with pytest.raises(InputError, match="from 0 to 1.001"):
        check_shares("weight", np.array([0.0, 1.001]))


def test_numbers_are_not_made_from_words_or_truths():
    for values in (["1"], [True]):
        with pytest.raises(InputError, match="must hold whole numbers"):
            to_numbers("labels", values, np.int64)
