"""A run as a value, and the command that makes it again."""

import json
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, ClassVar, final

from bpgnn.errors import InputError
from bpgnn.settings import Settings
from bpgnn.training.plan import Plan


@final
@dataclass(frozen=True)
class Run:
    """Say what to train on what; two runs with the same command are the same.

    Args:
        dataset: A name among the data sets.
        plan: What to train.
        split: The split, where it is not the plan's own.
        threads: Processor threads.

    Example:
        >>> Run("cora", Plan(method="gcn", seed=3)).command
        'bpgnn train cora --seed 3 --threads 1 --method gcn'
    """

    dataset: str
    plan: Plan = field(default_factory=Plan)
    split: str | None = None
    threads: int = 1
    is_of_machine: ClassVar[bool] = False
    """Whether what comes out depends on the machine that it was made on."""

    @cached_property
    def kind(self) -> tuple[str | int, ...]:
        """Say which runs take about as long."""
        try:
            steps = self.plan.settings_for(self.dataset).max_steps
        except InputError:
            steps = 0
        return self.plan.method, self.dataset, self.plan.preset, steps

    def agrees(self, line: Mapping[str, Any]) -> bool:
        """Tell whether a line of the store was made with the settings that the run has now.

        Presets change, and settings come and go. One that the line does not know was not there
        when it was made: it agrees if it is off now, or has its default, which leaves things as
        they were. One that is gone does not count.
        """
        then = line.get("settings")
        if then is None:
            return True
        settings = self.plan.settings_for(self.dataset)
        now, default = _plain(settings), _plain(type(settings)())
        return all(
            value == then[name] if name in then else not value or value == default[name]
            for name, value in now.items()
        )

    @property
    def facts(self) -> dict[str, object]:
        """Say what it is in a line that has no result."""
        plan = self.plan
        found: dict[str, object] = {
            "method": plan.method,
            "dataset": self.dataset,
            "split": self.split,
            "preset": plan.preset,
            "seed": plan.seed,
        }
        try:
            return {**found, "settings": _plain(plan.settings_for(self.dataset))}
        except InputError:
            # That is why it failed.
            return found

    @property
    def command(self) -> str:
        """Write the command that makes the run again."""
        plan = self.plan
        words = ["bpgnn", "train", self.dataset]
        words += ["--seed", str(plan.seed), "--threads", str(self.threads)]
        words += [] if plan.method == "bpgnn" else ["--method", plan.method]
        words += [] if plan.preset == "tuned" else ["--preset", plan.preset]
        words += [] if self.split is None else ["--split", self.split]
        words += ["--add-edges", str(plan.add_edges)] if plan.add_edges else []
        words += ["--drop-edges", str(plan.drop_edges)] if plan.drop_edges else []
        few = plan.labels_per_class
        words += [] if few is None else ["--labels-per-class", str(few)]
        words += [] if plan.device == "cpu" else ["--device", plan.device]
        for name, value in (plan.changes or {}).items():
            words += ["--set", f"{name}={_as_text(value)}"]
        return shlex.join(words)


def over_seeds(
    dataset: str,
    seeds: Iterable[int],
    *,
    method: str = "bpgnn",
    preset: str = "tuned",
    split: str | None = None,
    add_edges: float = 0.0,
    drop_edges: float = 0.0,
    labels_per_class: int | None = None,
    changes: Mapping[str, object] | None = None,
) -> list[Run]:
    """List one run a seed.

    Example:
        >>> [run.plan.seed for run in over_seeds("cora", range(3))]
        [0, 1, 2]
    """
    return [
        Run(
            dataset,
            Plan(
                method,
                preset,
                seed,
                changes or None,
                add_edges,
                drop_edges,
                labels_per_class=labels_per_class,
            ),
            split,
        )
        for seed in seeds
    ]


def _plain(settings: Settings) -> dict[str, Any]:
    """Write settings as they are read back from a line of the store."""
    return json.loads(json.dumps(asdict(settings)))


def _as_text(value: object) -> str:
    """Write a setting as `--set` reads it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple | list):
        return ",".join(map(str, value))
    return str(value)
