import pytest
from sklearn.base import clone

from bpgnn.estimator.classifier import LatentGraphClassifier
from bpgnn.training.fit import Evaluation, fit
from bpgnn.training.logs.log import TrainingLog, choices_of, results_of, scalars_of, watched_by
from bpgnn.training.logs.tensorboard import TensorBoardLog


class Breaking(TrainingLog):
    """A log whose disk is full from some step on."""

    def __init__(self, last_step):
        self.last_step, self.steps, self.closed = last_step, [], None

    def _write_step(self, seen):
        if seen.step > self.last_step:
            raise OSError("No space left on device")
        self.steps.append(seen.step)

    def _write_record(self, record):
        self.steps.append(record.steps)

    def _close(self, *, failed):
        self.closed = failed


def test_a_log_that_fails_is_warned_of_once_and_the_training_goes_on(small, make_plan):
    with Breaking(4) as log:
        with pytest.warns(UserWarning, match="stopped at step 5.*No space") as seen:
            fitted = fit(small, make_plan(), watch=log)
        log.finish(fitted.record)
    assert len(seen) == 1
    assert fitted.record.steps == 12
    assert log.steps == [1, 2, 3, 4]
    assert "Breaking stopped at step 5, the training did not" in log.trouble
    assert log.closed is False


def test_a_failing_training_is_told_to_the_log():
    log = Breaking(1)
    with pytest.raises(ZeroDivisionError), log:
        _ = 1 / 0
    assert log.closed is True


def test_steps_between_evaluations_have_losses_alone():
    assert scalars_of(Evaluation(1, 9, {"a": 0.5}, None, None, 0)) == {"loss/a": 0.5}


def test_choices_are_plain_and_results_are_numbers(small, make_plan):
    record = fit(small, make_plan()).record
    choices = choices_of(record)
    assert choices["method"] == "bpgnn"
    assert choices["settings/hidden"] == "(8, 8)"
    assert choices["settings/k"] == 4
    assert choices["labels_per_class"] == "None"
    assert results_of(record)["test/accuracy"] == record.test_accuracy


def test_all_watchers_see_every_step():
    one, other = [], []
    seen = Evaluation(1, 9, {}, None, None, 0)
    watched_by([one.append, other.append])(seen)
    assert one == other == [seen]


def test_an_open_log_goes_with_the_copies_of_its_classifier(small, tmp_path):
    pytest.importorskip("tensorboard")
    X, y = small.features.numpy(), small.labels.numpy()
    with TensorBoardLog(tmp_path / "tensorboard") as log:
        model = LatentGraphClassifier("gcn", max_steps=1, callbacks=[log]).fit(X, y)
        again = clone(model)
        assert again.callbacks[0] is log
        again.fit(X, y)
    assert log.trouble is None
