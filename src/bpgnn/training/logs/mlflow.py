"""Trainings in MLflow."""

import os
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, final

from typing_extensions import override

from bpgnn.errors import InputError
from bpgnn.training.fit import Evaluation
from bpgnn.training.logs.log import TrainingLog, choices_of, results_of, scalars_of
from bpgnn.training.record import RunRecord

EXPERIMENT = "bpgnn"
# A server takes at most this many numbers, or settings, in one request.
_MOST_METRICS, _MOST_PARAMS = 1000, 100
_SECONDS = 2.0


@final
class MLflowLog(TrainingLog):
    """Write a training to MLflow, as a run of the experiment `bpgnn`.

    Metrics by step are `loss/NAME`, `validation/loss` and `validation/accuracy`; at the end
    come the test's numbers and the settings as parameters. The run goes where MLflow's own
    `MLFLOW_TRACKING_URI` says: to a server, or to a database. Without it MLflow keeps the
    database `mlflow.db` in the present folder, for which no server is needed. MLflow's active
    run, if there is one, is not touched.

    Args:
        name: The name of the run; MLflow invents one if None.
    """

    def __init__(self, name: str | None = None) -> None:
        """Begin a run, so that a server that is not there is found before any training."""
        # A training is reported to the user's own store and to nobody else.
        os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
        try:
            from mlflow.entities import Metric, Param
            from mlflow.tracking import MlflowClient
        except ImportError:
            raise InputError(_missing("mlflow")) from None
        self._metric, self._param = Metric, Param
        self._waiting: list[Any] = []
        self._last_sent = time.monotonic()
        try:
            with _quick():
                self._client = MlflowClient()
                known = self._client.get_experiment_by_name(EXPERIMENT)
                place = known.experiment_id if known else self._client.create_experiment(EXPERIMENT)
                self.run_id: str = self._client.create_run(place, run_name=name).info.run_id
        except ImportError as error:
            raise InputError(_missing(error.name or "sqlalchemy")) from None
        except Exception as error:
            first = (str(error).splitlines() or [type(error).__name__])[0]
            raise InputError(
                f"MLflow cannot be written to ({first}). Check MLFLOW_TRACKING_URI, or train "
                "without this log."
            ) from error

    @override
    def _write_step(self, seen: Evaluation) -> None:
        self._add(scalars_of(seen), seen.step)
        # Each sending takes longer than a quick step.
        full = len(self._waiting) >= _MOST_METRICS // 2
        if full or time.monotonic() - self._last_sent > _SECONDS:
            self._send()

    @override
    def _write_record(self, record: RunRecord) -> None:
        self._add(results_of(record), record.steps)
        self._send()
        params = [self._param(name, str(value)) for name, value in choices_of(record).items()]
        tags = {name: str(value) for name, value in record.versions.items() if value is not None}
        with _quick():
            for first in range(0, len(params), _MOST_PARAMS):
                some = params[first : first + _MOST_PARAMS]
                self._client.log_batch(self.run_id, params=some)
            for name, value in {**tags, "machine": record.machine}.items():
                self._client.set_tag(self.run_id, f"bpgnn.{name}", value)

    @override
    def _close(self, *, failed: bool) -> None:
        if self.trouble is not None:
            return
        self._send()
        with _quick():
            self._client.set_terminated(self.run_id, "FAILED" if failed else "FINISHED")

    def _add(self, values: dict[str, float], step: int) -> None:
        now = int(time.time() * 1000)
        self._waiting += [self._metric(name, value, now, step) for name, value in values.items()]

    def _send(self) -> None:
        with _quick():
            while self._waiting:
                self._client.log_batch(self.run_id, metrics=self._waiting[:_MOST_METRICS])
                del self._waiting[:_MOST_METRICS]
        self._last_sent = time.monotonic()


def _missing(package: str) -> str:
    return f"A log for MLflow needs {package}. Install it with: pip install bpgnn[mlflow]"


@contextmanager
def _quick() -> Iterator[None]:
    """Ask a silent server twice, not for minutes, and keep MLflow's own warnings to itself."""
    name = "MLFLOW_HTTP_REQUEST_MAX_RETRIES"
    is_set = name in os.environ
    os.environ.setdefault(name, "2")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        if not is_set:
            del os.environ[name]
