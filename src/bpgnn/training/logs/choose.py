"""Logs by name."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager

from bpgnn.errors import InputError, nearest
from bpgnn.training.folder import RunFolder
from bpgnn.training.logs.log import TrainingLog
from bpgnn.training.logs.mlflow import MLflowLog
from bpgnn.training.logs.tensorboard import TensorBoardLog

LOGS: dict[str, Callable[[RunFolder], TrainingLog]] = {
    "tensorboard": lambda folder: TensorBoardLog(folder.path / "tensorboard"),
    "mlflow": lambda folder: MLflowLog(folder.path.resolve().name),
}


@contextmanager
def open_logs(names: Iterable[str], folder: RunFolder) -> Iterator[list[TrainingLog]]:
    """Open the logs of a run; what is wrong with one of them is said now.

    Args:
        names: Names among `LOGS`; one that is given twice is opened once.
        folder: The run's folder, in which or by whose name it is logged.

    Yields:
        The logs, to be called after each step and finished with the record.

    Example:
        >>> with open_logs([], RunFolder("runs/first")) as logs:
        ...     logs
        []
    """
    chosen = list(dict.fromkeys(names))
    for name in chosen:
        if name not in LOGS:
            raise InputError(f"There is no log {name!r}.{nearest(name, LOGS)}")
    with ExitStack() as stack:
        yield [stack.enter_context(LOGS[name](folder)) for name in chosen]
