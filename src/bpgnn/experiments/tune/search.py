"""A search within a budget of processor time, which can be stopped and gone on with."""

import math
import time
import warnings
import zlib
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, final

import torch

from bpgnn.data.dataset import Dataset
from bpgnn.errors import InputError, NotEnoughMemoryError, is_out_of_memory
from bpgnn.experiments.tune.space import room_of, starts_of, suggested
from bpgnn.training.fit import Evaluation, fit
from bpgnn.training.plan import Plan
from bpgnn.training.run import load_for

_SHARE_OF_A_TRIAL = 0.25


@final
@dataclass(frozen=True)
class Found:
    """Hold the best of a search.

    Args:
        changes: Settings that differ from the `tuned` preset's; none where it was best itself.
        validation_loss: What they were chosen by.
        known: The losses of what was tried first, by name; none of what was not finished.
        num_trials: Trials made, those that were broken off among them.
        cpu_seconds: Processor time spent.
    """

    changes: dict[str, object]
    validation_loss: float
    known: dict[str, float]
    num_trials: int
    cpu_seconds: float


def search(
    method: str,
    dataset: str,
    *,
    hours: float,
    journal: Path,
    seed: int = 0,
    watch: Callable[[Found], None] | None = None,
) -> Found:
    """Look for settings by validation loss; the published ones are tried first.

    The second trial is the `tuned` preset as it is. No trial takes more than a quarter of the
    time: a slow one is judged by the best that it had by then.

    Args:
        method: A name among the methods.
        dataset: A name among the data sets.
        hours: Processor time in all, with what earlier searches of this journal have spent.
        journal: Where trials are kept; a search that was stopped goes on from there, unless the
            preset or the room it looks in have changed since, which begins a new one.
        seed: Of the trainings, and where the search's randomness comes from.
        watch: Called after each trial.
    """
    optuna = _optuna()
    torch.set_num_threads(1)
    preset = Plan(method=method, seed=seed).settings_for(dataset)
    room, starts = room_of(preset), starts_of(method, dataset, preset)
    data = load_for(Plan(method=method, seed=seed), dataset, None)
    mark = zlib.crc32(repr((method, dataset, seed, asdict(preset), room)).encode())
    study = _study(optuna, f"{method} on {dataset}, seed {seed}, {mark:08x}", journal, mark)
    budget = 3600 * hours

    def objective(trial: Any) -> float:
        # A search that was stopped within one of them has not measured it yet.
        tried = {one.user_attrs.get("start") for one in _ended(optuna, study)}
        start = next((name for name in starts if name not in tried), None)
        changes = suggested(trial, room) if start is None else starts[start]
        trial.set_user_attr("start", start)
        trial.set_user_attr("changes", changes)
        begun = time.process_time()
        left = min(budget - _spent(study), _SHARE_OF_A_TRIAL * budget)
        try:
            plan = Plan(method=method, seed=seed, changes=changes)
            return _loss(optuna, trial, data, plan, begun + left)
        finally:
            trial.set_user_attr("cpu_seconds", time.process_time() - begun)

    def after(study: Any, _: Any) -> None:
        if watch is not None and _finished(optuna, study):
            watch(_best(optuna, study))
        if _spent(study) >= budget:
            study.stop()

    if _spent(study) < budget:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            study.optimize(objective, callbacks=[after])
    if not _finished(optuna, study):
        raise InputError(
            f"No trial of {method} on {dataset} was finished within {hours:g} hours of processor "
            "time. Give it more with --hours."
        )
    return _best(optuna, study)


def _loss(optuna: Any, trial: Any, data: Dataset, plan: Plan, end: float) -> float:
    """Train; break off what is worse than most were by then, or out of time."""
    # Only time breaks off those tried first: the others are measured by them.
    start, best = trial.user_attrs["start"], math.inf

    def watch(seen: Evaluation) -> None:
        nonlocal best
        if seen.validation_loss is not None:
            if seen.step == seen.best_step:
                best = seen.validation_loss
            trial.report(seen.validation_loss, seen.step)
            trial.set_user_attr("cpu_seconds", time.process_time() - begun)
            if start is None and trial.should_prune():
                raise optuna.TrialPruned
        if time.process_time() > end:
            raise _OutOfTimeError

    begun = time.process_time()
    try:
        loss = fit(data, plan, watch=watch).record.validation_loss
        return math.inf if loss is None else loss
    except _OutOfTimeError:
        if math.isinf(best):
            raise optuna.TrialPruned from None
        trial.set_user_attr("out_of_time", True)
        return best
    except Exception as error:
        # Some settings do not go together, such as heads that cannot share a width, or do not
        # fit into memory. Where the preset does not, nobody need look further.
        if start == "tuned" or not (
            isinstance(error, InputError | NotEnoughMemoryError) or is_out_of_memory(error)
        ):
            raise
        raise optuna.TrialPruned from None


class _OutOfTimeError(Exception):
    """Break off a training."""


def _study(optuna: Any, name: str, journal: Path, mark: int) -> Any:
    try:
        journal.parent.mkdir(parents=True, exist_ok=True)
        _mend(journal)
        backend = optuna.storages.journal.JournalFileBackend(str(journal))
        study = optuna.create_study(
            study_name=name,
            storage=optuna.storages.JournalStorage(backend),
            pruner=optuna.pruners.MedianPruner(n_startup_trials=4),
            load_if_exists=True,
        )
    except OSError as error:
        raise InputError(
            f"{journal} cannot be written ({error.strerror}). Name another file with --journal."
        ) from None
    except (ValueError, LookupError, TypeError, AssertionError):
        raise InputError(
            f"{journal} is not the journal of a search, or is damaged. Name another file with "
            "--journal."
        ) from None
    # A search that goes on draws other settings than it began with.
    study.sampler = optuna.samplers.TPESampler(seed=(mark + 7919 * len(study.trials)) % 2**32)
    return study


def _mend(journal: Path) -> None:
    """Cut off a last line that a crash left unfinished: Optuna would read no further.

    Optuna takes any other last line for one of those, and would write on behind it.
    """
    content = journal.read_bytes() if journal.exists() else b""
    beginning = b'{"op_code":'
    if not content.startswith(beginning[: len(content)]):
        raise ValueError
    if content and not content.endswith(b"\n"):
        with journal.open("r+b") as file:
            file.truncate(content.rfind(b"\n") + 1)


def _spent(study: Any) -> float:
    return sum(trial.user_attrs.get("cpu_seconds", 0.0) for trial in study.trials)


def _finished(optuna: Any, study: Any) -> list[Any]:
    return [one for one in study.trials if one.state == optuna.trial.TrialState.COMPLETE]


def _ended(optuna: Any, study: Any) -> list[Any]:
    """List trials that came to an end of their own; of what was killed, there is none."""
    pruned = [one for one in study.trials if one.state == optuna.trial.TrialState.PRUNED]
    return [*_finished(optuna, study), *pruned]


def _best(optuna: Any, study: Any) -> Found:
    best, finished = study.best_trial, _finished(optuna, study)
    starts = [(one.user_attrs["start"], one.value) for one in finished]
    return Found(
        changes=dict(best.user_attrs["changes"]),
        validation_loss=best.value,
        known={name: value for name, value in starts if name is not None},
        num_trials=len(study.trials),
        cpu_seconds=_spent(study),
    )


def _optuna() -> Any:
    try:
        import optuna
    except ImportError:
        raise InputError("A search needs Optuna. Get it with: pip install 'bpgnn[tune]'") from None
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna
