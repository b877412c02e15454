"""One run, carried out wherever it is sent, as a line for the store."""

import time
import warnings
from collections.abc import Callable

import torch

from bpgnn.errors import BPGNNError, NotEnoughMemoryError
from bpgnn.experiments.run import Run
from bpgnn.experiments.store import Line
from bpgnn.training.fit import Evaluation, fit
from bpgnn.training.record import forget_peak_memory
from bpgnn.training.run import load_for


def execute(run: Run, deadline: float | None = None) -> Line | None:
    """Train and test; a failure becomes a line as well, with its `error`.

    Args:
        run: What to do.
        deadline: Seconds since the epoch after which the run is given up.

    Returns:
        A line for the store, or None where time ran out.
    """
    torch.set_num_threads(run.threads)
    forget_peak_memory()
    try:
        with warnings.catch_warnings():
            # What was repaired in the data is in the record of the data, not of each run.
            warnings.simplefilter("ignore")
            data = load_for(run.plan, run.dataset, run.split)
            record = fit(data, run.plan, watch=_stops_at(deadline)).record
    except _OutOfTimeError:
        return None
    except (NotEnoughMemoryError, MemoryError) as error:
        return failure(run, "memory", str(error) or "There was not enough memory.")
    except BPGNNError as error:
        return failure(run, "refused", str(error))
    except Exception as error:  # noqa: BLE001  a failing run must not stop the rest
        return failure(run, "failed", f"{type(error).__name__}: {error}")
    return {"command": run.command, **record.to_json()}


def failure(run: Run, kind: str, words: str) -> Line:
    """Write the line of a run that has no result."""
    plan = run.plan
    return {
        "command": run.command,
        "method": plan.method,
        "dataset": run.dataset,
        "preset": plan.preset,
        "seed": plan.seed,
        "error": {"kind": kind, "words": words},
    }


class _OutOfTimeError(Exception):
    """Leave the training loop."""


def _stops_at(deadline: float | None) -> Callable[[Evaluation], None]:
    def watch(_: Evaluation) -> None:
        if deadline is not None and time.time() > deadline:
            raise _OutOfTimeError

    return watch
