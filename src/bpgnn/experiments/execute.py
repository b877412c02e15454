"""One run, carried out wherever it is sent, as a line for the store."""

import time
import warnings
from collections.abc import Callable

import torch

from bpgnn.errors import BPGNNError, NotEnoughMemoryError
from bpgnn.experiments.run import Run
from bpgnn.experiments.store import Line
from bpgnn.experiments.timing import Timing, timed
from bpgnn.training.fit import Evaluation, fit
from bpgnn.training.record import forget_peak_memory
from bpgnn.training.run import load_for

Job = Run | Timing


def execute(job: Job, deadline: float | None = None) -> Line | None:
    """Train and test, or time; a failure becomes a line as well, with its `error`.

    Args:
        job: What to do.
        deadline: Seconds since the epoch after which a run is given up.

    Returns:
        A line for the store, or None where time ran out.
    """
    torch.set_num_threads(job.threads)
    forget_peak_memory()
    try:
        with warnings.catch_warnings():
            # What was repaired in the data is in the record of the data, not of each run.
            warnings.simplefilter("ignore")
            if isinstance(job, Timing):
                return timed(job)
            data = load_for(job.plan, job.dataset, job.split)
            record = fit(data, job.plan, watch=_stops_at(deadline)).record
    except _OutOfTimeError:
        return None
    except (NotEnoughMemoryError, MemoryError) as error:
        return failure(job, "memory", str(error) or "There was not enough memory.")
    except BPGNNError as error:
        return failure(job, "refused", str(error))
    except Exception as error:  # noqa: BLE001  a failing run must not stop the rest
        return failure(job, "failed", f"{type(error).__name__}: {error}")
    return {"command": job.command, **record.to_json()}


def failure(job: Job, kind: str, words: str) -> Line:
    """Write the line of a job that has no result."""
    return {"command": job.command, **job.facts, "error": {"kind": kind, "words": words}}


class _OutOfTimeError(Exception):
    """Leave the training loop."""


def _stops_at(deadline: float | None) -> Callable[[Evaluation], None]:
    def watch(_: Evaluation) -> None:
        if deadline is not None and time.time() > deadline:
            raise _OutOfTimeError

    return watch
