"""Where runs are carried out: processes of this machine, or the workers of a cluster."""

import os
import threading
import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, InvalidStateError
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar, cast, final
from weakref import WeakSet

import joblib
from joblib.externals.loky.process_executor import ProcessPoolExecutor, TerminatedWorkerError
from typing_extensions import override

from bpgnn.errors import InputError

T = TypeVar("T")
Task = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]  # as joblib.delayed makes them
Pool = Callable[[Iterable[Task]], Iterable[Any]]

# One at a time: what is finished must not wait for others of its batch.
_OPTIONS: dict[str, Any] = {
    "return_as": "generator_unordered",
    "pre_dispatch": "n_jobs",
    "batch_size": 1,
}


_WAIT = 10
"""Seconds in which the first worker of a cluster must be there."""

_PATIENCE = 60.0
"""Seconds for which a cluster may be without workers: one that died is soon started again."""

_LOOK = 1.0
"""Seconds between two looks at whether there are any."""


class LostWorkerError(Exception):
    """Tell that a process was killed with what it was doing."""


class ClusterGoneError(Exception):
    """Tell that a cluster has lost its scheduler, or all of its workers, in a sentence."""


LOST = (LostWorkerError, TerminatedWorkerError)
"""What either kind of pool raises when a process was killed."""


class Workers(ABC):
    """Hand out pools, one after the other: one that lost a worker cannot be used again.

    Its `parent` is the process without which a worker is of no use, None on a cluster, whose
    workers are nobody's children.
    """

    parent: int | None = None

    @abstractmethod
    def pool(self) -> Pool:
        """Make a pool of all workers, never of this process: what kills one spares the rest."""

    @abstractmethod
    def alone(self, call: Callable[..., T], *arguments: object) -> T:
        """Call in a process, while nothing else is under way."""


@contextmanager
def workers(jobs: int, cluster: str | None) -> Iterator[Workers]:
    """Hold the workers of this machine, or of a Dask scheduler.

    Args:
        jobs: Processes on this machine.
        cluster: Address of the scheduler, whose workers are used instead.
    """
    if cluster is None:
        with warnings.catch_warnings():
            # loky says so whenever it replaces a worker for its memory; no job is lost by that.
            warnings.filterwarnings("ignore", message="A worker stopped while some jobs")
            # Nor is anything lost where the grid is given up: what was under way is made again.
            warnings.filterwarnings("ignore", message=r"\d+ tasks which were still being")
            yield _Local(jobs)
        return
    with _client(cluster) as client:
        from distributed.client import FutureCancelledError

        try:
            yield _Cluster(client, cluster)
        except (FutureCancelledError, ClusterGoneError) as error:
            words = str(error) if isinstance(error, ClusterGoneError) else _gone(cluster)
            raise InputError(
                f"{words} What was finished is in the store; start a scheduler and workers, and "
                "the same command goes on."
            ) from None


@final
class _Local(Workers):
    def __init__(self, jobs: int) -> None:
        self.jobs = jobs
        self.parent = os.getpid()

    @override
    def pool(self) -> Pool:
        # With one job joblib would work in this process, and be killed with it.
        return self._in_turn if self.jobs == 1 else joblib.Parallel(n_jobs=self.jobs, **_OPTIONS)

    @override
    def alone(self, call: Callable[..., T], *arguments: object) -> T:
        return next(self._in_turn([joblib.delayed(call)(*arguments)]))

    def _in_turn(self, tasks: Iterable[Task]) -> Iterator[Any]:
        pool = ProcessPoolExecutor(max_workers=1)
        try:
            for call, arguments, named in tasks:
                yield pool.submit(call, *arguments, **named).result()
        finally:
            pool.shutdown(kill_workers=True)


@final
class _Cluster(Workers):
    def __init__(self, client: Any, address: str) -> None:
        self.client, self.address = client, address

    @override
    def pool(self) -> Pool:
        if len(self.client.nthreads()) <= 1:
            # joblib would work in this process, and not on the cluster.
            return self._in_turn
        return self._side_by_side

    @override
    def alone(self, call: Callable[..., T], *arguments: object) -> T:
        from distributed import KilledWorker
        from distributed.client import FutureCancelledError
        from distributed.comm.core import CommClosedError

        try:
            future = self.client.submit(call, *arguments, pure=False)
            look = self._watch()
            while True:
                try:
                    return future.result(timeout=_LOOK)
                except TimeoutError:
                    if future.done():
                        # It took its time and has ended by now, or this is an error of its own.
                        return future.result()
                    if not look():
                        future.cancel()
                        raise ClusterGoneError(
                            f"The Dask scheduler at {self.address} has no workers any more."
                        ) from None
        except KilledWorker as error:
            raise LostWorkerError(str(error)) from None
        except (FutureCancelledError, CommClosedError):
            raise ClusterGoneError(_gone(self.address)) from None

    def _in_turn(self, tasks: Iterable[Task]) -> Iterator[Any]:
        for call, arguments, _ in tasks:
            yield self.alone(call, *arguments)

    def _side_by_side(self, tasks: Iterable[Task]) -> Iterator[Any]:
        begun: WeakSet[Future] = WeakSet()
        over = threading.Event()

        def look_after() -> None:
            look = self._watch()
            while not over.wait(_LOOK):
                if not look():
                    # joblib would wait for ever.
                    for future in list(begun):
                        with suppress(InvalidStateError):
                            future.set_exception(LostWorkerError("There are no workers."))
                    return

        threading.Thread(target=look_after, daemon=True).start()
        pool = joblib.Parallel(n_jobs=-1, backend=_backend(self.client, begun), **_OPTIONS)
        try:
            yield from pool(tasks)
        finally:
            over.set()

    def _watch(self) -> Callable[[], bool]:
        """Make what tells whether there are workers, or were not long ago."""
        seen = time.monotonic()

        def look() -> bool:
            nonlocal seen
            try:
                there = bool(self.client.nthreads())
            except OSError:
                there = False
            now = time.monotonic()
            seen = now if there else seen
            return now - seen < _PATIENCE

        return look


def _gone(address: str) -> str:
    return f"The Dask scheduler at {address} is gone."


@final
@dataclass(frozen=True)
class _Lost:
    """Stand for the result of a task that the scheduler gave up."""

    error: BaseException


def _backend(client: Any, begun: "WeakSet[Future]") -> Any:
    """Make joblib's backend for Dask, and let it tell of tasks that were given up.

    joblib waits for a callback, which its own backend makes for results only: of a task whose
    workers died one after the other, it never hears.

    Args:
        client: Of the scheduler.
        begun: Where the futures of tasks are added.
    """
    from joblib._dask import DaskDistributedBackend

    class Backend(DaskDistributedBackend):
        def submit(self, func: Any, callback: Any = None) -> Any:
            def tell(done: Future) -> None:
                error = done.exception()
                if error is not None and callback is not None:
                    callback(_Lost(error))

            future = super().submit(func, callback)
            future.add_done_callback(tell)
            begun.add(future)
            return future

        def retrieve_result_callback(self, out: Any) -> Any:
            if isinstance(out, _Lost):
                raise LostWorkerError(str(out.error))
            return super().retrieve_result_callback(out)

    return Backend(client=client)


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
    try:
        client.wait_for_workers(1, timeout=_WAIT)
    except TimeoutError:
        client.close()
        raise InputError(
            f"The Dask scheduler at {address} has no workers. Start some with: "
            f"dask worker {address} --nthreads 1"
        ) from None
    if any(threads > 1 for threads in cast(dict[str, int], client.nthreads()).values()):
        client.close()
        raise InputError(
            f"A worker of {address} has several threads, and runs that share a process disturb "
            f"each other. Start workers with: dask worker {address} --nthreads 1"
        )
    return client


@cache
def end_with(parent: int | None) -> None:
    """End this process when its parent is gone, which nobody else would read results for.

    Args:
        parent: The process that hands out work. It may be gone already: a worker takes seconds
            to start. Where it is None, nothing is done.
    """
    if parent is None:
        return

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
