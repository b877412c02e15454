import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import save

from bpgnn.errors import RunFolderError
from bpgnn.training.checkpoint import (
    TrainingState,
    from_bytes,
    optimizer_tensors,
    restore_optimizer,
    to_bytes,
)


@pytest.fixture(scope="module")
def state():
    weight = torch.tensor([[1e-45, -0.0], [torch.inf, 3.0]])
    return TrainingState(
        step=30,
        best_loss=0.1 + 0.2,
        best_step=20,
        weights={"layer.weight": weight, "scalar": torch.tensor(2.5), "none": torch.empty(0, 3)},
        best_weights={"layer.weight": weight, "scalar": torch.tensor(-1.0)},
        optimizer={0: {"step": torch.tensor(30.0), "exp_avg": weight}, 3: {"x": weight.T}},
        generator=torch.Generator().manual_seed(3).get_state(),
        cpu_seconds=1 / 3,
        wall_seconds=2.0,
        peak_memory_mb=100.5,
    )


def bits(tensors):
    return {
        name: (t.dtype, tuple(t.shape), t.contiguous().numpy().tobytes())
        for name, t in tensors.items()
    }


def test_a_state_comes_back_bit_by_bit(state):
    found = from_bytes(to_bytes(state), "here")
    assert bits(found.weights) == bits(state.weights)
    assert bits(found.best_weights) == bits(state.best_weights)
    assert found.optimizer.keys() == state.optimizer.keys()
    for index, parts in state.optimizer.items():
        assert bits(found.optimizer[index]) == bits(parts)
    assert torch.equal(found.generator, state.generator)
    for name in ("step", "best_loss", "best_step", "cpu_seconds", "wall_seconds"):
        assert getattr(found, name) == getattr(state, name)
    assert found.peak_memory_mb == 100.5


def test_a_state_before_the_first_step_comes_back_too():
    found = from_bytes(to_bytes(TrainingState()), "here")
    assert found == TrainingState()
    assert found.best_loss == float("inf")


def test_tensors_that_share_memory_come_back_apart():
    shared = torch.arange(3.0)
    found = from_bytes(to_bytes(TrainingState(weights={"a": shared, "b": shared})), "here")
    found.weights["a"][0] = 7
    assert found.weights["b"].tolist() == [0, 1, 2]


@given(st.data())
def test_a_truncated_checkpoint_is_refused(state, data):
    whole = to_bytes(state)
    length = data.draw(st.integers(0, len(whole) - 1))
    with pytest.raises(RunFolderError, match="The checkpoint here is damaged or not one of bpgnn"):
        from_bytes(whole[:length], "here")


@given(st.data())
def test_a_checkpoint_with_any_byte_changed_is_refused(state, data):
    damaged = bytearray(to_bytes(state))
    place = data.draw(st.integers(0, len(damaged) - 1))
    damaged[place] ^= data.draw(st.integers(1, 255))
    with pytest.raises(RunFolderError, match="damaged or not one of bpgnn"):
        from_bytes(bytes(damaged), "here")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"not a checkpoint",
        b"\xff" * 100,
        (2**63).to_bytes(8, "little"),
        (2).to_bytes(8, "little") + b"[]",
        save({"weights/a": torch.ones(2)}),
        save({"weights/a": torch.ones(2)}, metadata={"bpgnn": "{}"}),
        save({"weights/a": torch.ones(2)}, metadata={"bpgnn": "[1]"}),
        save({"odd": torch.ones(2)}, metadata={"bpgnn": "rubbish"}),
    ],
)
def test_a_foreign_file_is_refused(content):
    with pytest.raises(RunFolderError, match="damaged or not one of bpgnn's"):
        from_bytes(content, "here")


def stepped(parameter, optimizer, steps):
    for _ in range(steps):
        optimizer.zero_grad()
        (parameter.sin() * torch.arange(3.0)).sum().backward()
        optimizer.step()


def test_an_optimiser_put_back_steps_on_as_if_nothing_had_happened():
    whole = torch.ones(3, requires_grad=True)
    stepped(whole, torch.optim.Adam([whole], lr=0.1), 7)
    first = torch.ones(3, requires_grad=True)
    optimizer = torch.optim.Adam([first], lr=0.1)
    stepped(first, optimizer, 4)
    parts = from_bytes(
        to_bytes(TrainingState(optimizer=optimizer_tensors(optimizer))), "here"
    ).optimizer
    second = first.detach().clone().requires_grad_()
    resumed = torch.optim.Adam([second], lr=0.1)
    restore_optimizer(resumed, parts)
    stepped(second, resumed, 3)
    assert torch.equal(second, whole)
