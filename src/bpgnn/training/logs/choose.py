"""Logs by name."""

from collections.abc import Callable, Iterable

from bpgnn.errors import InputError, nearest
from bpgnn.training.folder import RunFolder
from bpgnn.training.logs.log import TrainingLog
from bpgnn.training.logs.mlflow import MLflowLog
from bpgnn.training.logs.tensorboard import TensorBoardLog

LOGS: dict[str, Callable[[RunFolder], TrainingLog]] = {
    "tensorboard": lambda folder: TensorBoardLog(folder.path / "tensorboard"),
    "mlflow": lambda folder: MLflowLog(folder.path.name),
}


def check_logs(names: Iterable[str]) -> list[str]:
    """Refuse a log that there is not; one that is named twice is kept once.

    Example:
        >>> check_logs(["mlflow", "mlflow"])
        ['mlflow']
    """
    chosen = list(dict.fromkeys(names))
    for name in chosen:
        if name not in LOGS:
            raise InputError(f"There is no log {name!r}.{nearest(name, LOGS)}")
    return chosen
