import pytest

from bpgnn.errors import (
    BPGNNError,
    DataUnavailableError,
    InputError,
    RepairWarning,
    RunFolderError,
    nearest,
)


@pytest.mark.parametrize("error", [InputError, DataUnavailableError, RunFolderError])
def test_every_failure_can_be_caught_by_one_name(error):
    with pytest.raises(BPGNNError, match="what happened"):
        raise error("what happened")


def test_bad_input_is_a_value_error_as_users_expect():
    assert issubclass(InputError, ValueError)


def test_a_repair_is_a_warning_and_not_a_failure():
    assert issubclass(RepairWarning, UserWarning)
    assert not issubclass(RepairWarning, BPGNNError)


def test_a_misspelt_word_is_met_with_the_nearest_known_one():
    assert nearest("Croa", ["photo", "cora"]) == " Did you mean cora? Known: photo, cora."


def test_a_word_like_no_other_is_met_with_all_known_ones():
    assert nearest("xyz", ["photo", "cora"]) == " Known: photo, cora."
