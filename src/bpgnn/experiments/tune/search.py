"""A search within a budget of processor time, which can be stopped and gone on with."""

import math
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import torch

from bpgnn.data.dataset import Dataset
from bpgnn.errors import InputError, NotEnoughMemoryError
from bpgnn.experiments.tune.space import room_of, starts_of, suggested
from bpgnn.training.fit import Evaluation, fit
from bpgnn.training.plan import Plan
from bpgnn.training.run import load_for


@final
@dataclass(frozen=True)
class Found:
    """Hold the best of a search.

    Args:
        changes: Settings that differ from the `tuned` preset's; none where it was best itself.
        validation_loss: What they were chosen by.
        num_trials: Trials made, those that were broken off among them.
        cpu_seconds: Processor time spent.
    """

    changes: dict[str, object]
    validation_loss: float
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

    The second trial is the `tuned` preset as it is.

    Args:
        method: A name among the methods.
        dataset: A name among the data sets.
        hours: Processor time in all, with what earlier searches of this journal have spent.
        journal: Where trials are kept; a search that was stopped goes on from there.
        seed: Of the trainings, and where the search's randomness comes from.
        watch: Called after each trial.
    """
    optuna = _optuna()
    torch.set_num_threads(1)
    preset = Plan(method=method, seed=seed).settings_for(dataset)
    room, starts = room_of(preset), starts_of(method, dataset, preset)
    data = load_for(Plan(method=method, seed=seed), dataset, None)
    study = _study(optuna, f"{method} on {dataset}, seed {seed}", journal, seed)
    budget = 3600 * hours

    def objective(trial: Any) -> float:
        # A search that was stopped within one of them has not measured it yet.
        tried = {one.user_attrs.get("start") for one in _finished(optuna, study)}
        start = next((name for name in starts if name not in tried), None)
        changes = suggested(trial, room) if start is None else starts[start]
        trial.set_user_attr("start", start)
        trial.set_user_attr("changes", changes)
        begun = time.process_time()
        left = budget - _spent(study)
        try:
            plan = Plan(method=method, seed=seed, changes=changes)
            return _loss(optuna, trial, data, plan, begun + left)
        finally:
            trial.set_user_attr("cpu_seconds", time.process_time() - begun)

    def after(study: Any, _: Any) -> None:
        if watch is not None and _finished(optuna, study):
            watch(_best(study))
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
    return _best(study)


def _loss(optuna: Any, trial: Any, data: Dataset, plan: Plan, end: float) -> float:
    """Train; break off what is worse than most were by then, or out of time."""

    def watch(seen: Evaluation) -> None:
        if seen.validation_loss is None:
            return
        trial.report(seen.validation_loss, seen.step)
        trial.set_user_attr("cpu_seconds", time.process_time() - begun)
        # Only time breaks off those tried first: the others are measured by them.
        spared = trial.user_attrs["start"] is not None
        if time.process_time() > end or (not spared and trial.should_prune()):
            raise optuna.TrialPruned

    begun = time.process_time()
    try:
        loss = fit(data, plan, watch=watch).record.validation_loss
        return math.inf if loss is None else loss
    except (InputError, NotEnoughMemoryError):
        # Some settings do not go together, such as heads that cannot share a width, or do not
        # fit into memory.
        raise optuna.TrialPruned from None


def _study(optuna: Any, name: str, journal: Path, seed: int) -> Any:
    journal.parent.mkdir(parents=True, exist_ok=True)
    backend = optuna.storages.journal.JournalFileBackend(str(journal))
    study = optuna.create_study(
        study_name=name,
        storage=optuna.storages.JournalStorage(backend),
        pruner=optuna.pruners.MedianPruner(n_startup_trials=4),
        load_if_exists=True,
    )
    # A search that goes on draws other settings than it began with.
    study.sampler = optuna.samplers.TPESampler(seed=seed + 7919 * len(study.trials))
    return study


def _spent(study: Any) -> float:
    return sum(trial.user_attrs.get("cpu_seconds", 0.0) for trial in study.trials)


def _finished(optuna: Any, study: Any) -> list[Any]:
    return [one for one in study.trials if one.state == optuna.trial.TrialState.COMPLETE]


def _best(study: Any) -> Found:
    best = study.best_trial
    changes = dict(best.user_attrs["changes"])
    return Found(changes, best.value, len(study.trials), _spent(study))


def _optuna() -> Any:
    try:
        import optuna
    except ImportError:
        raise InputError("A search needs Optuna. Get it with: pip install 'bpgnn[tune]'") from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna
