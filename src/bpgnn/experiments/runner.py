"""Many runs, on this machine or on a cluster, of which only the missing are made."""

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast, final

import joblib
from joblib.externals.loky.process_executor import ProcessPoolExecutor, TerminatedWorkerError

from bpgnn.errors import InputError
from bpgnn.experiments.execute import Job, execute, failure
from bpgnn.experiments.store import Append, Line, Store

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
    """

    total: int
    done: int
    failed: int
    running: int
    seconds_left: float | None
    latest: Line | None = None


Watch = Callable[[Progress], None]


def run_missing(
    runs: Iterable[Job],
    store: Store,
    *,
    jobs: int = 1,
    cluster: str | None = None,
    hours: float | None = None,
    retry: bool = False,
    watch: Watch | None = None,
    execute: Execute = execute,
) -> Progress:
    """Make the runs that are not in the store, and add each as soon as it is finished.

    Args:
        runs: What should be in the store in the end; the same run twice counts once.
        store: Where it goes.
        jobs: Processes on this machine.
        cluster: Address of a Dask scheduler, whose workers are used instead.
        hours: Give up what is not finished after this time.
        retry: Make those again that failed.
        watch: Called when a run begins or ends.
        execute: What makes a run; a test hands in its own.
    """
    if jobs < 1:
        raise InputError(f"`jobs` must be 1 or more, but got {jobs}.")
    deadline = None if hours is None else time.time() + 3600 * hours
    with store.writing() as append:
        distinct = list({run.command: run for run in runs}.values())
        grid = _Grid(distinct, store.read(), append, watch, retry=retry)
        with _workers(jobs, cluster) as parallel:
            grid.carry_out(parallel, execute, deadline)
        return grid.progress(None)


@final
class _Grid:
    """Know which runs are missing, under way, done and failed."""

    def __init__(
        self,
        runs: list[Job],
        known: dict[str, Line],
        append: Append,
        watch: Watch | None,
        *,
        retry: bool,
    ) -> None:
        self.runs, self.append, self.watch = runs, append, watch
        wanted = {run.command: run for run in runs}
        self.found = {
            command: line
            for command, line in known.items()
            if command in wanted
            and wanted[command].agrees(line)
            and not (retry and "error" in line)
        }
        # Runs are handed out in a thread of joblib's, and come back in this one.
        self.lock = threading.RLock()
        self.under_way: dict[str, Job] = {}
        self.pace = _Pace(known.values())

    def missing(self) -> list[Job]:
        return [run for run in self.runs if run.command not in self.found]

    def carry_out(
        self, parallel: Callable[[], joblib.Parallel], execute: Execute, deadline: float | None
    ) -> None:
        self.tell(None)
        while self.missing() and not _is_over(deadline):
            try:
                self._pass_through(parallel(), execute, deadline)
                return
            except TerminatedWorkerError:
                self._make_alone(execute, deadline)

    def _pass_through(
        self, parallel: joblib.Parallel, execute: Execute, deadline: float | None
    ) -> None:
        call = joblib.delayed(_named)
        tasks = (call(execute, run, deadline) for run in self._begun(deadline))
        finished = cast(Iterable[tuple[str, Line | None]], parallel(tasks))
        for command, line in finished:
            with self.lock:
                self.under_way.pop(command, None)
                if line is not None:
                    self._add(command, line)

    def _begun(self, deadline: float | None) -> Iterator[Job]:
        """Hand out runs one by one, as workers ask for them."""
        for run in self.missing():
            if _is_over(deadline):
                return
            with self.lock:
                self.under_way[run.command] = run
                self.tell(None)
            yield run

    def _make_alone(self, execute: Execute, deadline: float | None) -> None:
        """Make one by one what was under way when a worker was killed, to find what kills."""
        suspects, self.under_way = self.under_way, {}
        for command, run in suspects.items():
            if _is_over(deadline):
                return
            self.under_way = {command: run}
            with ProcessPoolExecutor(max_workers=1) as pool:
                try:
                    line = pool.submit(_named, execute, run, deadline).result()[1]
                except TerminatedWorkerError:
                    words = "Its process was killed twice, as happens when memory runs out."
                    line = failure(run, "killed", words)
            self.under_way = {}
            if line is not None:
                self._add(command, line)

    def _add(self, command: str, line: Line) -> None:
        self.append(line)
        self.found[command] = line
        self.pace.see(line)
        self.tell(line)

    def tell(self, line: Line | None) -> None:
        if self.watch is not None:
            self.watch(self.progress(line))

    def progress(self, line: Line | None) -> Progress:
        failed = sum("error" in found for found in self.found.values())
        left = self.pace.seconds(self.missing(), max(len(self.under_way), 1))
        return Progress(
            len(self.runs), len(self.found), failed, len(self.under_way), left, latest=line
        )


@final
class _Pace:
    """Guess what a run takes by those of its method on its data, or by all."""

    def __init__(self, lines: Iterable[Line]) -> None:
        self.seconds_of: dict[tuple[str, str, str], list[float]] = {}
        for line in lines:
            self.see(line)

    def see(self, line: Line) -> None:
        if "wall_seconds" in line and "preset" in line:
            key = (line["method"], line["dataset"], line["preset"])
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


@contextmanager
def _workers(jobs: int, cluster: str | None) -> Iterator[Callable[[], joblib.Parallel]]:
    """Hand out what makes a pool: one that lost a worker cannot be used again."""
    # One at a time: what is finished must not wait for others of its batch.
    options: dict[str, Any] = {
        "return_as": "generator_unordered",
        "pre_dispatch": "n_jobs",
        "batch_size": 1,
    }
    if cluster is None:
        yield lambda: joblib.Parallel(n_jobs=jobs, **options)
        return
    with _client(cluster), joblib.parallel_config(backend="dask"):
        yield lambda: joblib.Parallel(n_jobs=-1, **options)


def _client(address: str):  # noqa: ANN202  the type is an extra's
    try:
        from distributed import Client
    except ImportError:
        raise InputError(
            "A cluster needs Dask. Get it with: pip install 'bpgnn[cluster]'"
        ) from None
    try:
        client = Client(address, timeout="5s")
    except (OSError, ValueError) as error:
        raise InputError(
            f"There is no Dask scheduler at {address} ({error}). Start one with: dask scheduler"
        ) from None
    if any(threads > 1 for threads in cast(dict[str, int], client.nthreads()).values()):
        client.close()
        raise InputError(
            f"A worker of {address} has several threads, and runs that share a process disturb "
            "each other. Start workers with: dask worker --nthreads 1"
        )
    return client


def _named(execute: Execute, run: Job, deadline: float | None) -> tuple[str, Line | None]:
    return run.command, execute(run, deadline)


def _is_over(deadline: float | None) -> bool:
    return deadline is not None and time.time() > deadline
