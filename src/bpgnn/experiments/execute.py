"""One run, carried out wherever it is sent, as a line for the store."""

import time
import warnings
from collections.abc import Callable, Iterable

import torch

from bpgnn.data.catalog import load
from bpgnn.errors import (
    BPGNNError,
    DataUnavailableError,
    InputError,
    NotEnoughMemoryError,
    is_out_of_memory,
)
from bpgnn.experiments.run import Run
from bpgnn.experiments.store import Line
from bpgnn.experiments.timing import Timing, timed
from bpgnn.training.fit import Evaluation, fit
from bpgnn.training.record import forget_peak_memory, machine, versions
from bpgnn.training.run import load_for

Job = Run | Timing


def distinct(jobs: Iterable[Job]) -> list[Job]:
    """List each job once, however often it is asked for."""
    return list({job.command: job for job in jobs}.values())


def execute(
    job: Job, deadline: float | None = None, *, run_hours: float | None = None
) -> Line | None:
    """Train and test, or time; a failure becomes a line as well, with its `error`.

    Args:
        job: What to do.
        deadline: Seconds since the epoch after which a run is given up.
        run_hours: Processor time after which a run counts as out of time, which is a failure.

    Returns:
        A line for the store, or None where time ran out.
    """
    torch.set_num_threads(job.threads)
    forget_peak_memory()
    try:
        with warnings.catch_warnings():
            # What was repaired in the data is in the record of the data, not of each run.
            warnings.simplefilter("ignore")
            return _made(job, deadline, run_hours)
    except _DeadlineError:
        return None
    except _TooLongError as error:
        return failure(job, "time", str(error), hours=run_hours)
    except DataUnavailableError as error:
        return failure(job, "unavailable", str(error))
    except NotEnoughMemoryError as error:
        return failure(job, "memory", str(error))
    except BPGNNError as error:
        return failure(job, "refused", str(error))
    except Exception as error:  # noqa: BLE001  a failing run must not stop the rest
        if is_out_of_memory(error):
            return failure(job, "memory", f"There was not enough memory: {error}")
        return failure(job, "failed", f"{type(error).__name__}: {error}")


def _made(job: Job, deadline: float | None, run_hours: float | None) -> Line:
    """Train and test, or time; that a file cannot be read says nothing of the job."""
    try:
        if isinstance(job, Timing):
            return timed(job)
        data = load_for(job.plan, job.dataset, job.split)
        record = fit(data, job.plan, watch=_stops_at(deadline, run_hours)).record
    except InputError:
        try:
            load(job.dataset)
        except InputError as error:
            raise DataUnavailableError(str(error)) from None
        raise
    return {"command": job.command, **record.to_json()}


def failure(job: Job, kind: str, words: str, **details: object) -> Line:
    """Write the line of a job that has no result: why, with which code, and where."""
    return {
        "command": job.command,
        **job.facts,
        "threads": job.threads,
        "machine": machine(),
        "versions": versions(),
        "error": {"kind": kind, "words": words, **details},
    }


class _DeadlineError(Exception):
    """Leave the training loop: the grid's time is over."""


class _TooLongError(Exception):
    """Leave the training loop: the run's own time is over."""


def _stops_at(deadline: float | None, run_hours: float | None) -> Callable[[Evaluation], None]:
    begun = time.process_time()

    def watch(at: Evaluation) -> None:
        if deadline is not None and time.time() > deadline:
            raise _DeadlineError
        spent = time.process_time() - begun
        if run_hours is not None and spent > 3600 * run_hours:
            raise _TooLongError(
                f"Given up after {spent / 3600:.2g} hours of processor time, at step {at.step} of "
                f"at most {at.max_steps}: {spent / at.step:.3g} seconds a step."
            )

    return watch
