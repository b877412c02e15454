import pytest
import torch

from bpgnn.layers.correctness import RunningCorrectness


def test_every_node_starts_at_one_half_and_the_buffer_grows_with_what_is_observed():
    correctness = RunningCorrectness()
    assert correctness.of(torch.tensor([7, 2])).tolist() == [0.5, 0.5]
    assert len(correctness.expected_right) == 0
    correctness.observe(torch.tensor([7]), torch.tensor([True]))
    assert len(correctness.expected_right) == 8
    nobody = torch.tensor([], dtype=torch.long)
    correctness.observe(nobody, torch.tensor([]))
    assert correctness.of(nobody).shape == (0,)


def test_only_the_nodes_observed_move_by_a_twentieth():
    correctness = RunningCorrectness()
    for _ in range(3):
        correctness.observe(torch.tensor([4, 1]), torch.tensor([True, False]))
    found = correctness.of(torch.arange(5)).tolist()
    rest = 0.5 * 0.95**3
    assert found == pytest.approx([0.5, rest, 0.5, 0.5, 1 - rest])


@pytest.mark.parametrize("length", [0, 2, 9])
def test_a_saved_buffer_of_any_length_is_taken(length):
    saved, other = RunningCorrectness(), RunningCorrectness()
    saved.observe(torch.tensor([4]), torch.tensor([1.0]))
    other.observe(torch.arange(length), torch.zeros(length))
    other.load_state_dict(saved.state_dict())
    assert torch.equal(other.expected_right, saved.expected_right)
    assert other.expected_right.data_ptr() != saved.expected_right.data_ptr()


def test_a_state_without_the_buffer_is_refused_if_strict():
    with pytest.raises(RuntimeError, match="expected_right"):
        RunningCorrectness().load_state_dict({})
