import sys

import pytest

from bpgnn.errors import InputError
from bpgnn.training.fit import fit
from bpgnn.training.logs.mlflow import MLflowLog

pytest.importorskip("mlflow")


@pytest.fixture
def store(tmp_path, monkeypatch):
    """MLflow's store of files: its database takes seconds to make."""
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", (tmp_path / "mlruns").as_uri())
    from mlflow.tracking import MlflowClient

    return MlflowClient()


def test_a_run_holds_every_step_the_results_and_the_settings(small, make_plan, store):
    seen = []
    with MLflowLog("first") as log:

        def watch(evaluation):
            seen.append(evaluation)
            log(evaluation)

        record = fit(small, make_plan(), watch=watch).record
        log.finish(record)
    assert log.trouble is None
    run = store.get_run(log.run_id)
    assert (run.info.run_name, run.info.status) == ("first", "FINISHED")
    assert store.get_experiment(run.info.experiment_id).name == "bpgnn"
    for name in seen[0].losses:
        history = store.get_metric_history(log.run_id, f"loss/{name}")
        written = {one.step: one.value for one in history}
        assert written == {one.step: one.losses[name] for one in seen}
    history = store.get_metric_history(log.run_id, "validation/accuracy")
    assert [one.step for one in history] == [3, 6, 9, 12]
    assert run.data.metrics["test/accuracy"] == record.test_accuracy
    assert run.data.params["method"] == "bpgnn"
    assert run.data.params["settings/k"] == "4"
    assert run.data.tags["bpgnn.torch"] == record.versions["torch"]


def test_a_second_run_joins_the_experiment_and_a_failed_one_is_marked(store):
    ids = []
    for _ in range(2):
        log = MLflowLog()
        with pytest.raises(ZeroDivisionError), log:
            _ = 1 / 0
        ids.append(log.run_id)
    runs = [store.get_run(one) for one in ids]
    assert len({run.info.experiment_id for run in runs}) == 1
    assert [run.info.status for run in runs] == ["FAILED", "FAILED"]


def test_a_server_that_is_not_there_is_a_sentence_before_any_training(monkeypatch):
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://127.0.0.1:9")
    with pytest.raises(InputError, match="MLflow cannot be written to .* Check MLFLOW_TRACKING"):
        MLflowLog()


@pytest.mark.parametrize("package", ["mlflow.tracking", "mlflow.entities"])
def test_a_missing_extra_is_named(monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(InputError, match=r"pip install bpgnn\[mlflow\]"):
        MLflowLog()


@pytest.mark.slow
def test_without_an_address_it_keeps_a_database_here(monkeypatch, tmp_path):
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    monkeypatch.chdir(tmp_path)
    with MLflowLog("first"):
        pass
    assert (tmp_path / "mlflow.db").exists()
