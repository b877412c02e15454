import numpy as np
import pytest
import torch

from bpgnn.data.tensors import tensor_of
from bpgnn.errors import InputError


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        *((kind, torch.long) for kind in ("u1", "i2", "u4", "i8", ">i4")),
        *(("f2", torch.half), ("f4", torch.float), (">f8", torch.double), ("?", torch.bool)),
    ],
)
def test_numbers_of_every_type_keep_their_values(kind, expected):
    array = np.array([[0, 1, 1], [1, 0, 1]]).astype(kind)
    # Nor need they lie in order, or be open to writing.
    array = array[:, ::-1].T
    array.flags.writeable = False
    found = tensor_of(array, name="x")
    assert found.dtype == expected
    assert found.tolist() == array.tolist()


def test_a_tensor_is_taken_as_it_is():
    tensor = torch.ones(2)
    assert tensor_of(tensor, name="x") is tensor


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ([1, 2], "`x` must be a tensor or a numpy array of numbers, but got list"),
        (None, "but got NoneType"),
        (np.array(["a"]), "but its type is <U1"),
        (np.array([None]), "but its type is object"),
    ],
)
def test_what_is_no_array_of_numbers_is_refused(value, words):
    with pytest.raises(InputError, match=words):
        tensor_of(value, name="x")
