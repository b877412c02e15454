"""The one training loop."""

import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields, replace
from typing import cast, final

import torch
from torch import Tensor

from bpgnn.data.dataset import Dataset
from bpgnn.errors import InputError, RunFolderError
from bpgnn.graph import Graph
from bpgnn.method import Method, Output, Problem
from bpgnn.methods.registry import METHODS
from bpgnn.nn.sparse import values_of
from bpgnn.randomness import generator_for, repeatable_sums, seeded_globally
from bpgnn.training.checkpoint import (
    TrainingState,
    from_bytes,
    optimizer_tensors,
    restore_optimizer,
    to_bytes,
)
from bpgnn.training.compare import compare_graphs, merged, recovery, same_label_counts
from bpgnn.training.evaluate import predict, score
from bpgnn.training.folder import CHECKPOINT, DATA, PLAN, RESULT, WEIGHTS, RunFolder
from bpgnn.training.memory import check_memory
from bpgnn.training.plan import Plan
from bpgnn.training.problem import make_problem, stopping_nodes
from bpgnn.training.record import (
    LatentSummary,
    RunRecord,
    fingerprint,
    machine,
    peak_memory_mb,
    versions,
)

# Streams of a run's seed: drawing more of one leaves the others as they are.
_WEIGHTS, _TRAINING, _EVALUATION = 0, 1, 2

# Test nodes whose pairs are counted; the paper's test sets have as many.
_PAIRED_NODES = 500


@final
@dataclass(frozen=True)
class Evaluation:
    """Tell a watcher how the training stands.

    Args:
        step: Steps done.
        max_steps: Most steps.
        losses: The last training losses by name.
        validation_loss: Validation loss, or None between evaluations.
        validation_accuracy: Validation accuracy, or None between evaluations.
        best_step: The best step so far, as `select_by` judges.
    """

    step: int
    max_steps: int
    losses: dict[str, float]
    validation_loss: float | None
    validation_accuracy: float | None
    best_step: int


Watcher = Callable[[Evaluation], None]


@final
@dataclass(frozen=True, eq=False)
class Fit:
    """Hold what a training gives.

    Args:
        dataset: What it was trained on.
        method: The trained method, with the weights that were tested.
        problem: The data as the method saw them.
        output: The forward pass that was tested.
        probabilities: Class probabilities of every node, shape (N, C).
        latent_graph: The mean of the sampled graphs, or None.
        record: What was run and what came out.
    """

    dataset: Dataset
    method: Method
    problem: Problem
    output: Output
    probabilities: Tensor
    latent_graph: Graph | None
    record: RunRecord


def fit(
    dataset: Dataset,
    plan: Plan | None = None,
    *,
    folder: RunFolder | None = None,
    resume: bool = False,
    watch: Watcher | None = None,
    checkpoint_seconds: float = 2.0,
    class_weight: Tensor | None = None,  # (C,)
    data: bytes | None = None,
) -> Fit:
    """Train a method on a data set and test it.

    Adam, or the optimiser that the method makes, minimises the sum of the method's losses over
    the whole graph. Every few steps it is validated, with predictions averaged over sampled
    graphs; training stops after `patience` steps without progress, and the best weights are
    tested, both as `select_by` judges.

    Args:
        dataset: The data, with a split.
        plan: What to run; by default BPGNN as tuned, seed 0.
        folder: Where to write settings, history, checkpoint, weights and result, if anywhere.
        resume: Go on from the folder's checkpoint; the end is that of an undisturbed run.
        watch: Called after every step.
        checkpoint_seconds: Least time between two checkpoints.
        class_weight: What an error on each class costs, instead of what the settings say.
        data: The data to keep in the folder, where they cannot be loaded by a name; see
            :func:`bpgnn.data.files.save.save_own`.

    Returns:
        The trained method, its predictions and the record of the run.
    """
    plan = plan or Plan()
    training = _Training(dataset, plan, folder, watch, checkpoint_seconds, class_weight)
    if folder is not None:
        training.open_folder(folder, resume=resume)
        if data is not None and not resume:
            folder.write(DATA, data)
    with repeatable_sums(training.generator.device):
        training.run()
        return training.finish()


@final
class _Training:
    """Carry one training from its first step, or its checkpoint, to its record."""

    def __init__(
        self,
        dataset: Dataset,
        plan: Plan,
        folder: RunFolder | None,
        watch: Watcher | None,
        checkpoint_seconds: float,
        class_weight: Tensor | None,
    ) -> None:
        self.dataset, self.plan, self.folder, self.watch = dataset, plan, folder, watch
        self.checkpoint_seconds = checkpoint_seconds
        self.settings = plan.settings_for(dataset.name)
        device = _device(plan.device)
        self.problem = make_problem(dataset, self.settings, seed=plan.seed, device=device)
        if class_weight is not None:
            weight = class_weight.to(values_of(self.problem.features))
            self.problem = replace(self.problem, class_weight=weight)
        self.validation = stopping_nodes(dataset, self.problem)
        self.judges = bool(self.validation.any())
        check_memory(plan.method, self.settings, self.problem)
        with seeded_globally(plan.seed, _WEIGHTS):
            self.method = METHODS[plan.method].build(self.settings, self.problem).to(device)
        self.optimizer = self.method.make_optimizer()
        self.rates = [group["lr"] for group in self.optimizer.param_groups]
        self.generator = generator_for(plan.seed, _TRAINING, device=device)
        self.state = TrainingState()
        self.clock = (time.process_time(), time.perf_counter())
        self.last_checkpoint = time.monotonic()

    def open_folder(self, folder: RunFolder, *, resume: bool) -> None:
        print_of_data = fingerprint(self.dataset)
        plan = self._plan_json(print_of_data)
        if not resume:
            folder.claim()
            folder.write_json(PLAN, plan)
            folder.cut_history(-1)
            return
        folder.check_unchanged(print_of_data, asdict(self.settings))
        folder.sweep()
        if folder.has(CHECKPOINT):
            self._restore(folder)
        folder.cut_history(self.state.step)

    def run(self) -> None:
        settings, state = self.settings, self.state
        while state.step < settings.max_steps and not self._stopped():
            losses = self._step()
            state.step += 1
            due = self.method.is_due(state.step) or state.step == settings.max_steps
            if due and self.judges:
                self._evaluate(losses)
            elif self.watch is not None:
                self.watch(
                    Evaluation(state.step, settings.max_steps, losses, None, None, state.best_step)
                )
            if self.folder is not None:
                self._maybe_checkpoint(self.folder)

    def finish(self) -> Fit:
        state = self.state
        if self.settings.test_weights == "best" and state.best_weights:
            self.method.load_state_dict(state.best_weights)
        output, latent = final_output(self.method, self.problem, self.plan.seed)
        probabilities = output.probabilities().cpu()
        summary = None if latent is None else self._summary(output, latent)
        record = self._record(probabilities, summary)
        fitted = Fit(self.dataset, self.method, self.problem, output, probabilities, latent, record)
        if self.folder is not None:
            weights = TrainingState(weights=self.method.state_dict(), step=state.step)
            self.folder.write(WEIGHTS, to_bytes(weights))
            self.folder.write_json(RESULT, fitted.record.to_json())
        return fitted

    def _step(self) -> dict[str, float]:
        self.method.train()
        output = self.method(self.problem, generator=self.generator)
        losses = self.method.losses(output, self.problem)
        total = torch.stack([value.reshape(()) for value in losses.values()]).sum()
        self.optimizer.zero_grad()
        total.backward()
        factor = self.method.rate_factor(self.state.step)
        for group, rate in zip(self.optimizer.param_groups, self.rates, strict=True):
            group["lr"] = factor * rate
        self.optimizer.step()
        self.method.observe(output, self.problem)
        found = {name: float(value.detach()) for name, value in losses.items()}
        _check_finite(sum(found.values()), self.state.step + 1)
        return found

    def _evaluate(self, losses: dict[str, float]) -> None:
        state = self.state
        output = predict(
            self.method,
            self.problem,
            generator=self._evaluation_generator(state.step),
            num_samples=self.settings.validation_samples,
        )
        found = score(output.probabilities().cpu(), self.dataset.labels, self.validation)
        loss = self._validation_loss(output)
        _check_finite(loss, state.step)
        progress, best = _judged(self.settings.select_by, loss, found.accuracy, state)
        state.best_loss = min(state.best_loss, loss)
        state.best_accuracy = max(state.best_accuracy, found.accuracy)
        state.stale = 0 if progress else state.stale + 1
        if best:
            state.best_step = state.step
            state.best_weights = {
                name: value.detach().clone() for name, value in self.method.state_dict().items()
            }
        if self.folder is not None:
            line = {"step": state.step, "losses": losses, "validation": asdict(found)}
            self.folder.append_history(line)
        if self.watch is not None:
            self.watch(
                Evaluation(
                    state.step,
                    self.settings.max_steps,
                    losses,
                    found.loss,
                    found.accuracy,
                    state.best_step,
                )
            )

    def _stopped(self) -> bool:
        return self.state.stale * self.settings.evaluate_every >= self.settings.patience

    def _validation_loss(self, output: Output) -> float:
        """Return the loss that early stopping makes small."""
        nodes = self.validation.nonzero().squeeze(1)
        device = output.logits.device
        labels = self.dataset.labels[nodes].to(device)
        return self.method.validation_loss(output, nodes.to(device), labels)

    def _evaluation_generator(self, step: int) -> torch.Generator:
        return _evaluation_generator(self.plan.seed, step, self.generator.device)

    def _maybe_checkpoint(self, folder: RunFolder) -> None:
        if time.monotonic() - self.last_checkpoint < self.checkpoint_seconds:
            return
        spent = self._spent()
        state = TrainingState(
            step=self.state.step,
            best_loss=self.state.best_loss,
            best_accuracy=self.state.best_accuracy,
            best_step=self.state.best_step,
            stale=self.state.stale,
            weights=self.method.state_dict(),
            best_weights=self.state.best_weights,
            optimizer=optimizer_tensors(self.optimizer),
            generator=self.generator.get_state(),
            cpu_seconds=spent[0],
            wall_seconds=spent[1],
            peak_memory_mb=spent[2],
        )
        folder.write(CHECKPOINT, to_bytes(state))
        self.last_checkpoint = time.monotonic()

    def _restore(self, folder: RunFolder) -> None:
        self.state = from_bytes(folder.read(CHECKPOINT), str(folder.path / CHECKPOINT))
        try:
            # The best weights too, so that wrong ones are found now and not after hours.
            if self.state.best_step > 0:
                self.method.load_state_dict(self.state.best_weights)
            self.method.load_state_dict(self.state.weights)
            restore_optimizer(self.optimizer, self.state.optimizer)
            self.generator.set_state(cast(Tensor, self.state.generator))
        except (RuntimeError, ValueError, KeyError, TypeError) as error:
            first = str(error).splitlines()[0]
            raise RunFolderError(
                f"The checkpoint in {folder.path} belongs to another run ({first}). "
                "Train again with another --out."
            ) from None

    def _spent(self) -> tuple[float, float, float]:
        """Add up processor seconds, clock seconds and peak memory over all processes."""
        before = self.state
        return (
            before.cpu_seconds + time.process_time() - self.clock[0],
            before.wall_seconds + time.perf_counter() - self.clock[1],
            max(before.peak_memory_mb, peak_memory_mb()),
        )

    def _summary(self, output: Output, latent: Graph) -> LatentSummary:
        data = self.dataset
        test = data.chosen_split().test.nonzero().squeeze(1)[:_PAIRED_NODES]
        counts = {
            name: same_label_counts(found, test, data.labels)
            for name, found in self.method.edge_probabilities(output).items()
        }
        summary = compare_graphs(data.graph, latent, data.labels)
        if data.graph is None or data.true_graph is None:
            return replace(summary, test_pairs=counts)
        messages = merged(self.method.message_graphs(output, self.problem)).to("cpu")
        found = recovery(data.graph, messages, data.true_graph)
        return replace(summary, test_pairs=counts, recovery=found)

    def _record(self, probabilities: Tensor, summary: LatentSummary | None) -> RunRecord:
        labels, split = self.dataset.labels, self.dataset.chosen_split()
        test = score(probabilities, labels, split.test) if bool(split.test.any()) else None
        validation = score(probabilities, labels, self.validation) if self.judges else None
        cpu, wall, memory = self._spent()
        return RunRecord(
            method=self.plan.method,
            dataset=self.dataset.name,
            split=split.name,
            preset=self.plan.preset,
            seed=self.plan.seed,
            add_edges=self.plan.add_edges,
            drop_edges=self.plan.drop_edges,
            labels_per_class=self.plan.labels_per_class,
            test_accuracy=test and test.accuracy,
            validation_accuracy=validation and validation.accuracy,
            validation_loss=validation and validation.loss,
            test_macro_f1=test and test.macro_f1,
            test_balanced_accuracy=test and test.balanced_accuracy,
            steps=self.state.step,
            best_step=self.state.best_step,
            latent_graph=summary,
            cpu_seconds=round(cpu, 3),
            wall_seconds=round(wall, 3),
            peak_memory_mb=memory,
            sampler=self.method.sampler_name,
            device=self.plan.device,
            threads=torch.get_num_threads(),
            machine=machine(),
            versions=versions(),
            settings=asdict(self.settings),
        )

    def _plan_json(self, print_of_data: str) -> dict[str, object]:
        split = self.dataset.chosen_split()
        return {
            **{item.name: getattr(self.plan, item.name) for item in fields(Plan)},
            "changes": dict(self.plan.changes or {}),
            "dataset": self.dataset.name,
            "split": split.name,
            "threads": torch.get_num_threads(),
            "fingerprint": print_of_data,
            "settings": asdict(self.settings),
            "versions": versions(),
        }


def final_output(method: Method, problem: Problem, seed: int) -> tuple[Output, Graph | None]:
    """Predict as the end of a training does, and give the mean of the sampled graphs."""
    generator = _evaluation_generator(seed, 0, values_of(problem.features).device)
    output = predict(method, problem, generator=generator)
    graphs = method.latent_graphs(output)
    return output, merged(graphs).to("cpu") if graphs else None


def _evaluation_generator(seed: int, step: int, device: torch.device) -> torch.Generator:
    return generator_for(seed, _EVALUATION, step, device=device)


def _judged(
    select_by: str, loss: float, accuracy: float, state: TrainingState
) -> tuple[bool, bool]:
    """Tell whether an evaluation is progress, and whether its weights are the best."""
    if select_by == "both":
        no_worse = (loss <= state.best_loss, accuracy >= state.best_accuracy)
        return any(no_worse), all(no_worse)
    better = loss < state.best_loss if select_by == "loss" else accuracy > state.best_accuracy
    return better, better


def _check_finite(loss: float, step: int) -> None:
    if not math.isfinite(loss):
        raise InputError(
            f"The loss became {loss} at step {step}. Lower `learning_rate`, or check the scale "
            "of the features."
        )


def _device(name: str) -> torch.device:
    try:
        device = torch.device(name)
        # A device such as `meta` can be named, but holds no values.
        torch.zeros(1, device=device).tolist()
        torch.Generator(device)
    except (RuntimeError, AssertionError, ImportError) as error:
        first = str(error).splitlines()[0]
        raise InputError(f"The device {name!r} cannot be used here ({first}). Try cpu.") from None
    return device
