import json
import sys

import pytest

from bpgnn import cli
from bpgnn.errors import InputError
from bpgnn.training.folder import RunFolder
from bpgnn.training.logs.choose import LOGS, open_logs
from bpgnn.training.logs.tensorboard import TensorBoardLog

QUICK = ("--set", "max_steps=3", "--method", "gcn", "--threads", "1", "--out", "run")


@pytest.fixture
def run(monkeypatch, tmp_path):
    """Type a command in an empty folder, and return how it ended."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", (tmp_path / "mlruns").as_uri())

    def type_words(*words):
        monkeypatch.setattr(sys, "argv", ["bpgnn", *words])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        return ended.value.code

    return type_words


def test_a_log_named_twice_is_opened_once(tmp_path):
    with open_logs(["tensorboard", "tensorboard"], RunFolder(tmp_path)) as (log,):
        assert isinstance(log, TensorBoardLog)
        assert log.folder == tmp_path / "tensorboard"


def test_an_unknown_log_is_refused(tmp_path):
    refused = pytest.raises(InputError, match="no log 'tensorbord'. Did you mean tensorboard")
    with refused, open_logs(["tensorbord"], RunFolder(tmp_path)):
        pass


def test_the_command_line_offers_all_of_them():
    assert set(cli.Log) == set(LOGS)


def test_a_training_is_logged_in_both_and_resumed_with_a_log(run, tmp_path, capsys):
    mlflow = pytest.importorskip("mlflow.tracking")
    logs = ("--log", "tensorboard", "--log", "mlflow")
    assert run("train", "wine", *QUICK, *logs, "--json") == 0
    result = json.loads(capsys.readouterr().out)
    events = tmp_path / "run" / "tensorboard"
    before = len(list(events.iterdir()))
    assert before > 0
    client = mlflow.MlflowClient()
    experiment = client.get_experiment_by_name("bpgnn")
    (logged,) = client.search_runs([experiment.experiment_id])
    assert logged.info.run_name == "run"
    assert logged.data.metrics["test/accuracy"] == result["test_accuracy"]
    (tmp_path / "run" / "result.json").unlink()
    assert run("train", "--resume", "run", "--log", "tensorboard") == 0
    assert len(list(events.iterdir())) > before


def test_a_log_that_cannot_be_written_is_refused_before_the_run_begins(
    run, tmp_path, monkeypatch, capsys
):
    pytest.importorskip("mlflow")
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://127.0.0.1:9")
    assert run("train", "wine", *QUICK, "--log", "mlflow") == 2
    assert "bpgnn: MLflow cannot be written to" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()
