import json
import os
import sys

import pytest

from bpgnn.errors import InputError
from bpgnn.training.fit import fit
from bpgnn.training.folder import RunFolder
from bpgnn.training.logs.choose import open_logs
from bpgnn.training.logs.tensorboard import TensorBoardLog

accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")


def read(path):
    events = accumulator.EventAccumulator(str(path))
    events.Reload()
    return events


def test_event_files_hold_every_step_the_results_and_the_settings(small, make_plan, tmp_path):
    folder, seen = RunFolder(tmp_path / "run"), []
    with open_logs(["tensorboard"], folder) as (log,):

        def watch(evaluation):
            seen.append(evaluation)
            log(evaluation)

        record = fit(small, make_plan(), folder=folder, watch=watch).record
        log.finish(record)
    events = read(tmp_path / "run" / "tensorboard")
    for name in seen[0].losses:
        written = {event.step: event.value for event in events.Scalars(f"loss/{name}")}
        assert written == pytest.approx({one.step: one.losses[name] for one in seen})
    judged = [one for one in seen if one.validation_loss is not None]
    assert [event.step for event in events.Scalars("validation/loss")] == [3, 6, 9, 12]
    assert [event.value for event in events.Scalars("validation/accuracy")] == pytest.approx(
        [one.validation_accuracy for one in judged]
    )
    assert events.Scalars("test/accuracy")[-1].value == pytest.approx(record.test_accuracy)
    (text,) = events.Tensors("record/text_summary")
    assert json.loads(text.tensor_proto.string_val[0]) == json.loads(json.dumps(record.to_json()))
    started = events.PluginTagToContent("hparams")["_hparams_/session_start_info"]
    assert b"settings/hidden" in started


def test_a_place_that_cannot_be_written_to_is_refused_before_any_training(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(InputError, match="TensorBoard's files cannot be written to"):
        TensorBoardLog(tmp_path / "file" / "tensorboard")
    if os.getuid() != 0:
        (tmp_path / "locked").mkdir(mode=0o500)
        with pytest.raises(InputError, match="may be written to"):
            TensorBoardLog(tmp_path / "locked" / "tensorboard")


def test_nothing_is_written_before_the_first_step(tmp_path):
    with TensorBoardLog(tmp_path / "tensorboard"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_missing_extra_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(InputError, match=r"pip install bpgnn\[tensorboard\]"):
        TensorBoardLog(tmp_path)
