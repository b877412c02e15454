"""Many runs, on this machine or on a cluster, of which only the missing are made."""

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import cast, final

import joblib

from bpgnn.errors import InputError
from bpgnn.experiments.execute import Job, distinct, failure
from bpgnn.experiments.execute import execute as _execute
from bpgnn.experiments.store import Append, Line, Store
from bpgnn.experiments.workers import (
    LOST,
    ClusterGoneError,
    Workers,
    end_with,
    workers,
)

Execute = Callable[[Job, float | None], Line | None]


@final
@dataclass(frozen=True)
class Progress:
    """Tell how far a grid is.

    Args:
        total: Runs asked for.
        done: Runs in the store, those that failed among them.
        failed: Runs that ended in an error.
        running: Runs under way.
        seconds_left: What the missing ones will take, or None where nothing is known yet.
        latest: The line that came last.
        unavailable: Why data sets could not be had, whose runs are still missing.
    """

    total: int
    done: int
    failed: int
    running: int
    seconds_left: float | None
    latest: Line | None = None
    unavailable: tuple[str, ...] = ()


Watch = Callable[[Progress], None]


def run_missing(
    runs: Iterable[Job],
    store: Store,
    *,
    jobs: int = 1,
    cluster: str | None = None,
    hours: float | None = None,
    run_hours: float | None = None,
    retry: bool = False,
    needs: Mapping[str, str] | None = None,
    watch: Watch | None = None,
    execute: Execute | None = None,
) -> Progress:
    """Make the runs that are not in the store, and add each as soon as it is finished.

    Args:
        runs: What should be in the store in the end; the same run twice counts once.
        store: Where it goes.
        jobs: Processes on this machine.
        cluster: Address of a Dask scheduler, whose workers are used instead.
        hours: Give up what is not finished after this time.
        run_hours: Processor time after which a single run counts as out of time; one that was,
            with less, is made again.
        retry: Make those again that failed.
        needs: What a line must tell of the latent graph to count, by the command of its run.
        watch: Called when a run begins or ends.
        execute: What makes a run, if not :func:`~bpgnn.experiments.execute.execute`.
    """
    if jobs < 1:
        raise InputError(f"`jobs` must be 1 or more, but got {jobs}.")
    deadline = None if hours is None else time.time() + 3600 * hours
    with store.writing() as append:
        asked = distinct(runs)
        known = store.read()
        kept = {
            run.command: known[run.command]
            for run in asked
            if run.command in known
            and _counts(known[run.command], run, run_hours, retry=retry, here=cluster is None)
            and not _lacks(known[run.command], (needs or {}).get(run.command))
        }
        make = execute or partial(_execute, run_hours=run_hours)
        grid = _Grid(asked, kept, append, watch, make, deadline)
        for line in known.values():
            grid.pace.see(line)
        with workers(jobs, cluster) as hands:
            grid.carry_out(hands, several=jobs > 1 or cluster is not None)
        return grid.progress(None)


def _counts(line: Line, run: Job, run_hours: float | None, *, retry: bool, here: bool) -> bool:
    """Tell whether a line of the store makes a run needless."""
    error = line.get("error")
    if error is not None and (retry or _had_less_time(error, run_hours)):
        return False
    # What machines a cluster has, this process does not know.
    return run.agrees(line) or (run.is_of_machine and not here)


def _lacks(line: Line, figure: str | None) -> bool:
    """Tell whether a line is older than a figure of the latent graph that is asked for.

    Example:
        >>> _lacks({"latent_graph": {"num_edges": 8}}, "test_pairs")
        True
        >>> _lacks({"latent_graph": None}, "test_pairs")
        False
    """
    graph = line.get("latent_graph")
    return figure is not None and graph is not None and figure not in graph


def _had_less_time(error: dict, run_hours: float | None) -> bool:
    given = error.get("hours")
    return given is not None and run_hours is not None and run_hours > given


@final
class _Grid:
    """Know which runs are missing, under way, done and failed."""

    def __init__(
        self,
        runs: list[Job],
        found: dict[str, Line],
        append: Append,
        watch: Watch | None,
        execute: Execute,
        deadline: float | None,
    ) -> None:
        self.runs, self.found, self.append, self.watch = runs, found, append, watch
        self.execute, self.deadline = execute, deadline
        # Runs are handed out in a thread of joblib's, and come back in this one.
        self.lock = threading.RLock()
        self.under_way: dict[str, Job] = {}
        self.crowded: dict[str, Job] = {}
        self.unavailable: dict[str, str] = {}
        self.pace = _Pace()

    def missing(self) -> list[Job]:
        return [run for run in self.runs if run.command not in self.found]

    def carry_out(self, hands: Workers, *, several: bool) -> None:
        self.tell(None)
        while self.missing() and not self._is_over():
            try:
                self._pass_through(hands, several=several)
                break
            except LOST:
                suspects, self.under_way = self.under_way, {}
                self._make_alone(hands, suspects)
        self._make_alone(hands, self.crowded)

    def _pass_through(self, hands: Workers, *, several: bool) -> None:
        call, parent = joblib.delayed(_named), hands.parent
        tasks = (call(self.execute, run, self.deadline, parent) for run in self._begun())
        finished = cast(Iterable[tuple[str, Line | None]], hands.pool()(tasks))
        for command, line in finished:
            with self.lock:
                run = self.under_way.pop(command)
                if line is not None and several and _kind(line) == "memory":
                    # Its neighbours may have had the memory that it lacked.
                    self.crowded[command] = run
                elif line is not None:
                    self._add(run, line)
                else:
                    self.tell(None)

    def _begun(self) -> Iterator[Job]:
        """Hand out runs one by one, as workers ask for them."""
        for run in self.missing():
            if self._is_over():
                return
            if run.command in self.crowded or run.dataset in self.unavailable:
                continue
            with self.lock:
                self.under_way[run.command] = run
                self.tell(None)
            yield run

    def _make_alone(self, hands: Workers, runs: dict[str, Job]) -> None:
        """Make runs one by one, to find which of them kills its process."""
        for command, run in runs.items():
            if self._is_over():
                return
            self.under_way = {command: run}
            try:
                line = hands.alone(_named, self.execute, run, self.deadline, hands.parent)[1]
            except LOST:
                words = "Its process was killed twice, as happens when memory runs out."
                line = failure(run, "killed", words)
            except ClusterGoneError:
                raise
            except Exception as error:  # noqa: BLE001  what one worker cannot do, others may
                line = failure(run, "failed", f"{type(error).__name__}: {error}")
            self.under_way = {}
            if line is not None:
                self._add(run, line)

    def _add(self, run: Job, line: Line) -> None:
        if _kind(line) == "unavailable":
            # It says nothing of the run: with a network, the same command makes it.
            self.unavailable[run.dataset] = line["error"]["words"]
        else:
            self.append(line)
            self.found[run.command] = line
            self.pace.see(line)
        self.tell(line)

    def _is_over(self) -> bool:
        return self.deadline is not None and time.time() > self.deadline

    def tell(self, line: Line | None) -> None:
        if self.watch is not None:
            self.watch(self.progress(line))

    def progress(self, line: Line | None) -> Progress:
        failed = sum("error" in found for found in self.found.values())
        left = self.pace.seconds(self.missing(), max(len(self.under_way), 1))
        return Progress(
            total=len(self.runs),
            done=len(self.found),
            failed=failed,
            running=len(self.under_way),
            seconds_left=left,
            latest=line,
            unavailable=tuple(dict.fromkeys(self.unavailable.values())),
        )


@final
class _Pace:
    """Guess what a run takes by those of its method on its data, or by all."""

    def __init__(self) -> None:
        self.seconds_of: dict[tuple[str | int, ...], list[float]] = {}

    def see(self, line: Line) -> None:
        if "wall_seconds" in line and "preset" in line:
            steps = line.get("settings", {}).get("max_steps", 0)
            key = (line["method"], line["dataset"], line["preset"], steps)
            self.seconds_of.setdefault(key, []).append(line["wall_seconds"])

    def seconds(self, runs: list[Job], workers: int) -> float | None:
        every = [value for values in self.seconds_of.values() for value in values]
        if not every:
            return None
        total = 0.0
        for run in runs:
            values = self.seconds_of.get(run.kind, every)
            total += sum(values) / len(values)
        return total / workers


def _named(
    execute: Execute, run: Job, deadline: float | None, parent: int | None
) -> tuple[str, Line | None]:
    end_with(parent)
    return run.command, execute(run, deadline)


def _kind(line: Line) -> str | None:
    """Say in which way a run failed, None where it did not."""
    return line["error"]["kind"] if "error" in line else None
