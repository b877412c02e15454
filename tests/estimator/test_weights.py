import numpy as np
import pytest

from bpgnn.errors import InputError
from bpgnn.estimator.weights import read_class_weight


@pytest.mark.parametrize(
    ("given", "classes", "weights"),
    [
        ({0: 1, 1: 5}, [0, 1], [1, 5]),
        ({0: 1, 1: 5}, [0.0, 1.0], [1, 5]),
        ({"0": 1, "1": 5}, [0.0, 1.0], [1, 5]),
        ({"0": 1, "1": 5}, [0, 1], [1, 5]),
        ({True: 5}, [False, True], [1, 5]),
        ({"True": 5}, [False, True], [1, 5]),
        ({np.int64(1): np.float32(5)}, [0, 1], [1, 5]),
        ({"tea": 5}, ["milk", "tea"], [1, 5]),
        ({"tea": 5, "milk": 2, "coffee": 9}, ["milk", "tea"], [2, 5]),
    ],
)
def test_weights_are_found_by_the_name_of_their_class(given, classes, weights):
    assert read_class_weight(given, np.array(classes)).tolist() == weights


@pytest.mark.parametrize("given", [None, "balanced"])
def test_without_weights_by_class_the_data_settle_them(given):
    assert read_class_weight(given, np.array([0, 1])) is None


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"taa": 5}, "'taa', which is no class; classes are 'milk', 'tea'"),
        ({"tea": "much"}, "must be a number, not 'much'"),
        ({"tea": -1}, "finite weights of 0 or more, but that of 'tea' is -1"),
        ({"tea": float("nan")}, "finite weights of 0 or more, but that of 'tea' is nan"),
        ({"milk": float("inf")}, "finite weights of 0 or more, but that of 'milk' is inf"),
        ({"tea": 0, "milk": 0}, "must not be 0 for all classes"),
        ("heavy", "'balanced' or a weight by class, but got 'heavy'"),
        ([1, 2], "'balanced' or a weight by class"),
    ],
)
def test_weights_that_say_nothing_are_refused(given, words):
    with pytest.raises(InputError, match=words):
        read_class_weight(given, np.array(["milk", "tea"]))
