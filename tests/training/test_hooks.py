"""What a method may tell the one training loop."""

from dataclasses import dataclass
from typing import ClassVar

import pytest
import torch
from torch import nn

from bpgnn.method import Method, MethodSettings, Output
from bpgnn.methods.registry import METHODS
from bpgnn.training.fit import fit
from bpgnn.training.folder import RunFolder
from bpgnn.training.plan import Plan
from tests.training.test_fit import Killed, history, killed_at, without_times


@dataclass(frozen=True, kw_only=True)
class TalkerSettings(MethodSettings):
    """Evaluate at the steps of a schedule of one's own."""

    schedule: str = "3 5 9 10"


class Talker(Method):
    """A linear map that makes use of every hook."""

    citation = "@misc{none}"
    settings_type = TalkerSettings
    presets: ClassVar = {"tuned": {"max_steps": 12, "learning_rate": 0.5, "evaluate_every": 1}}
    graph_use = "ignored"
    infers_graph = False

    def __init__(self, settings, problem):
        super().__init__()
        self.settings = settings
        self.map = nn.Linear(problem.num_features, problem.num_classes)
        self.register_buffer("seen", torch.zeros(()))

    @classmethod
    def build(cls, settings, problem):
        return cls(settings, problem)

    @classmethod
    def memory(cls, settings, sizes):
        return 8 * sizes.num_values

    def forward(self, problem, *, generator, num_samples=1, draws=None):
        return Output(self.map(problem.features).unsqueeze(0))

    def losses(self, output, problem):
        return {"task": problem.task_loss(output.logits)}

    def observe(self, output, problem):
        self.seen += 1

    def is_due(self, step):
        assert step == int(self.seen)
        return str(step) in self.settings.schedule.split()

    def make_optimizer(self):
        return torch.optim.SGD(self.parameters(), lr=self.settings.learning_rate)

    def rate_factor(self, step):
        return 1.0 if step < 6 else 0.0

    def validation_loss(self, output, nodes, labels):
        return float(100 + self.seen)


@pytest.fixture(autouse=True)
def talker(monkeypatch):
    monkeypatch.setitem(METHODS, "talker", Talker)


def run(data, folder=None, **changes):
    return fit(data, Plan(method="talker", changes=changes), folder=folder)


def test_evaluations_come_when_the_method_says_and_at_the_end(small, tmp_path):
    folder = RunFolder(tmp_path / "run")
    run(small, folder)
    assert [line["step"] for line in history(folder)] == [3, 5, 9, 10, 12]


def test_patience_counts_evaluations(small):
    assert run(small, patience=2).record.steps == 9
    assert run(small, patience=2, evaluate_every=2).record.steps == 5


def test_the_methods_own_validation_loss_chooses_the_weights(small):
    """It rises from step to step, so the first evaluation is the best."""
    assert run(small).record.best_step == 3


def test_accuracy_chooses_the_weights_if_settled_so(small, tmp_path):
    folder = RunFolder(tmp_path / "run")
    record = run(small, folder, select_by="accuracy", schedule="1 2 3 4 5 6 7 8").record
    found = {line["step"]: line["validation"]["accuracy"] for line in history(folder)}
    assert record.best_step == max(found, key=found.get)


def test_where_both_count_either_is_progress_and_only_both_are_kept(small, tmp_path):
    """The loss rises from step to step, so that the accuracy alone can be progress."""
    folder = RunFolder(tmp_path / "run")
    every_step = {"schedule": " ".join(map(str, range(1, 100))), "learning_rate": 0.01}
    options = {**every_step, "patience": 2, "max_steps": 90}
    record = run(small, folder, select_by="both", **options).record
    accuracies = [line["validation"]["accuracy"] for line in history(folder)]
    is_progress = [new >= max(accuracies[:i], default=0) for i, new in enumerate(accuracies)]
    assert record.best_step == 1
    assert is_progress[-2:] == [False, False] or record.steps == 90
    assert [False, False] not in [is_progress[i : i + 2] for i in range(len(accuracies) - 2)]
    assert run(small, select_by="loss", **options).record.steps == 3 < record.steps


def test_the_rate_factor_stops_the_learning(small):
    still = [run(small, max_steps=steps, test_weights="last") for steps in (6, 11)]
    assert torch.equal(*(it.method.map.weight for it in still))
    moving = [run(small, max_steps=steps, test_weights="last") for steps in (5, 6)]
    assert not torch.equal(*(it.method.map.weight for it in moving))


def test_a_resumed_run_ends_as_an_undisturbed_one(small, tmp_path):
    plan = Plan(method="talker", changes={"patience": 3})
    whole = fit(small, plan)
    folder = RunFolder(tmp_path / "run")
    with pytest.raises(Killed):
        fit(small, plan, folder=folder, watch=killed_at(6), checkpoint_seconds=0.0)
    again = fit(small, plan, folder=folder, resume=True)
    assert without_times(again.record) == without_times(whole.record)
    assert torch.equal(again.probabilities, whole.probabilities)
