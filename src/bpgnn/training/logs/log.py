"""What every log of a training does."""

import warnings
from abc import ABC, abstractmethod
from types import TracebackType
from typing import Any, Self

from bpgnn.training.fit import Evaluation, Watcher
from bpgnn.training.record import RunRecord


class TrainingLog(ABC):
    """Write a training down elsewhere, while it runs: a watcher to be used in a `with` block.

    What can be known to fail, fails before the training. What fails later (a full disk, a lost
    server) is kept in `trouble` and warned of once, and the training goes on without the log:
    it is worth more.
    """

    trouble: str | None = None

    def __call__(self, seen: Evaluation) -> None:
        """Write one step down."""
        if self.trouble is None:
            try:
                self._write_step(seen)
            except Exception as error:  # noqa: BLE001  whatever a log raises, the training lives
                self._give_up(f"at step {seen.step}", error)

    def finish(self, record: RunRecord) -> None:
        """Write down what came out, once the training is over."""
        if self.trouble is None:
            try:
                self._write_record(record)
            except Exception as error:  # noqa: BLE001
                self._give_up("at the end", error)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self._close(failed=error is not None)
        except Exception as late:  # noqa: BLE001
            self._give_up("while closing", late)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        # Scikit-learn's clone copies a classifier's callbacks; an open file has no copy.
        return self

    @abstractmethod
    def _write_step(self, seen: Evaluation) -> None:
        """Write losses, and validation loss and accuracy if there are any."""

    @abstractmethod
    def _write_record(self, record: RunRecord) -> None:
        """Write settings and results."""

    @abstractmethod
    def _close(self, *, failed: bool) -> None:
        """Let go of files and connections."""

    def _give_up(self, when: str, error: Exception) -> None:
        if self.trouble is None:
            first = (str(error).splitlines() or [""])[0]
            self.trouble = (
                f"{type(self).__name__} stopped {when}, the training did not: "
                f"{type(error).__name__}: {first}"
            )
            warnings.warn(self.trouble, stacklevel=3)


def scalars_of(seen: Evaluation) -> dict[str, float]:
    """Name the numbers of one step.

    Example:
        >>> scalars_of(Evaluation(3, 9, {"classification": 0.5}, 0.25, 0.75, 3))
        {'loss/classification': 0.5, 'validation/loss': 0.25, 'validation/accuracy': 0.75}
    """
    found = {f"loss/{name}": value for name, value in seen.losses.items()}
    if seen.validation_loss is not None:
        found["validation/loss"] = seen.validation_loss
    if seen.validation_accuracy is not None:
        found["validation/accuracy"] = seen.validation_accuracy
    return found


def results_of(record: RunRecord) -> dict[str, float]:
    """Name the numbers that came out; what was not measured is left out."""
    named = {
        "test/accuracy": record.test_accuracy,
        "test/macro_f1": record.test_macro_f1,
        "test/balanced_accuracy": record.test_balanced_accuracy,
        "best/validation_accuracy": record.validation_accuracy,
        "best/validation_loss": record.validation_loss,
        "best/step": record.best_step,
        "steps": record.steps,
        "cpu_seconds": record.cpu_seconds,
        "wall_seconds": record.wall_seconds,
        "peak_memory_mb": record.peak_memory_mb,
    }
    return {name: float(value) for name, value in named.items() if value is not None}


def choices_of(record: RunRecord) -> dict[str, str | int | float | bool]:
    """Name what was run, and every setting; values that are not plain become text."""
    names = ("method", "dataset", "split", "preset", "seed", "add_edges", "drop_edges")
    named = {name: getattr(record, name) for name in (*names, "labels_per_class", "device")}
    named |= {f"settings/{name}": value for name, value in record.settings.items()}
    return {
        name: value if isinstance(value, str | int | float | bool) else str(value)
        for name, value in named.items()
    }


def watched_by(watchers: list[Watcher]) -> Watcher:
    """Join watchers into one."""

    def watch(seen: Evaluation) -> None:
        for watcher in watchers:
            watcher(seen)

    return watch
