"""An experiment as a value: the runs behind a table or a figure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import final

from bpgnn.experiments.execute import Job, distinct
from bpgnn.experiments.run import Run


@final
@dataclass(frozen=True)
class Experiment:
    """Say which runs answer a question.

    Args:
        name: What it is called on the command line.
        question: What it answers, in a sentence.
        num_seeds: Seeds of each cell, unless asked otherwise.
        grid: Lists the runs of some seeds, the most telling first.
        is_quick: Tells the runs that a fast pass makes; the others it leaves out.
        needs: What the record of a run must tell of its latent graph, if anything; lines that
            are older than this figure are made again.
    """

    name: str
    question: str
    num_seeds: int
    grid: Callable[[range], Sequence[Job]]
    is_quick: Callable[[Job], bool] = lambda _: True
    needs: str | None = None

    def runs(self, num_seeds: int | None = None, *, fast: bool = False) -> list[Job]:
        """List each run once; `fast` ones take few steps, to try all rather than to believe it."""
        found = distinct(self.grid(range(self.num_seeds if num_seeds is None else num_seeds)))
        if not fast:
            return found
        kept = [job for job in found if self.is_quick(job)]
        return [quickened(job) if isinstance(job, Run) else job for job in kept]


def quickened(run: Run) -> Run:
    """Cut a run down to a few steps.

    Example:
        >>> quickened(Run("cora")).plan.changes["max_steps"]
        6
    """
    method, is_large = run.plan.method, run.dataset in _LARGE
    few = {**(_FEWER if is_large else _FEW), **_FEW_OF.get(method, {})}
    if is_large:
        few |= _FEWER_OF.get(method, {})
    changes = {**(run.plan.changes or {}), **few}
    return replace(run, plan=replace(run.plan, changes=changes))


_FEW = {"max_steps": 6, "evaluate_every": 3, "num_samples": 2}

# What is slow a step takes fewer; what learns in phases goes through all of them.
_FEW_OF: dict[str, dict[str, object]] = {
    "idgl": {"max_steps": 2, "evaluate_every": 2, "max_iterations": 1},
    "idgl-anch": {"max_steps": 2, "evaluate_every": 2, "max_iterations": 1},
    "lds": {"max_steps": 10, "evaluate_every": 1},
    "slaps": {"max_steps": 6, "warm_up": 3, "evaluate_every": 3},
}

_LARGE = ("pubmed", "photo")

_FEWER = {"max_steps": 2, "evaluate_every": 2, "num_samples": 1}

_FEWER_OF: dict[str, dict[str, object]] = {
    "slaps": {"max_steps": 2, "warm_up": 1, "evaluate_every": 2},
}
