"""Trainings in TensorBoard."""

import json
import os
from pathlib import Path
from typing import Any, final

from typing_extensions import override

from bpgnn.errors import InputError
from bpgnn.training.fit import Evaluation
from bpgnn.training.logs.log import TrainingLog, choices_of, results_of, scalars_of
from bpgnn.training.record import RunRecord


@final
class TensorBoardLog(TrainingLog):
    """Write a training to TensorBoard's event files.

    Scalars by step are `loss/NAME`, `validation/loss` and `validation/accuracy`; at the end
    come the test's numbers, the settings as hyperparameters, and the whole record as text.

    Args:
        folder: Where to write; made at the first step. A training that goes on adds to it.

    Example:
        >>> import bpgnn, tempfile
        >>> data = bpgnn.block_model(60, seed=0)
        >>> plan = bpgnn.Plan("gcn", changes={"max_steps": 3})
        >>> with tempfile.TemporaryDirectory() as place:
        ...     with TensorBoardLog(f"{place}/tensorboard") as log:
        ...         fitted = bpgnn.fit(data, plan, watch=log)
        ...         log.finish(fitted.record)
        ...     len(list(Path(place, "tensorboard").glob("events*"))) > 0
        True
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        """Refuse what cannot be written to, before any training."""
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            raise InputError(
                "A log for TensorBoard needs tensorboard. Install it with: "
                "pip install bpgnn[tensorboard]"
            ) from None
        self.folder = Path(folder)
        _check_place(self.folder)
        self._make_writer = SummaryWriter
        self._writer: Any = None

    @override
    def _write_step(self, seen: Evaluation) -> None:
        for name, value in scalars_of(seen).items():
            self._opened().add_scalar(name, value, seen.step)

    @override
    def _write_record(self, record: RunRecord) -> None:
        writer = self._opened()
        results = results_of(record)
        for name, value in results.items():
            writer.add_scalar(name, value, record.steps)
        text = json.dumps(record.to_json(), indent=2)
        writer.add_text("record", "\n".join(f"    {line}" for line in text.splitlines()))
        # In the same folder: by default each would make a run of its own, named by the time.
        writer.add_hparams(choices_of(record), results, run_name=".", global_step=record.steps)

    @override
    def _close(self, *, failed: bool) -> None:
        if self._writer is not None:
            self._writer.close()

    def _opened(self) -> Any:
        # Not before the first step: a new run refuses a folder that holds anything.
        if self._writer is None:
            self._writer = self._make_writer(str(self.folder))
        return self._writer


def _check_place(folder: Path) -> None:
    place = folder.absolute()
    while not place.exists():
        place = place.parent
    if not place.is_dir() or not os.access(place, os.W_OK):
        raise InputError(
            f"TensorBoard's files cannot be written to {folder}: {place} is not a folder that may "
            "be written to. Choose another."
        )
