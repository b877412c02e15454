import multiprocessing
import os
import subprocess
import sys
import time

import joblib
import numpy as np

from bpgnn.experiments.workers import end_with, workers

KEPT = []


def hoard() -> int:
    """Keep more memory than a worker may before it is replaced, for as long as that takes."""
    KEPT.append(np.ones(50_000_000))
    time.sleep(1.1)
    return os.getpid()


def test_a_worker_that_is_replaced_for_its_memory_loses_no_job_and_raises_no_alarm():
    # Warnings are errors here: one in the thread that looks after workers would end the pool.
    with workers(1, None) as found:
        seen = list(found.pool()(joblib.delayed(hoard)() for _ in range(4)))
    assert len(seen) == 4
    assert len(set(seen)) > 1
    assert os.getpid() not in seen


def outlive(parent: int | None, seconds: float) -> None:
    end_with(parent)
    time.sleep(seconds)


def started(parent, seconds):
    process = multiprocessing.get_context("spawn").Process(target=outlive, args=(parent, seconds))
    process.start()
    return process


def test_a_worker_whose_parent_was_gone_before_it_began_ends():
    # As happens when a runner is killed while its workers still load torch.
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    process = started(gone.pid, 60.0)
    process.join(30.0)
    assert process.exitcode == 1


def test_a_worker_that_is_nobodys_child_works_on():
    process = started(None, 2.5)
    process.join(30.0)
    assert process.exitcode == 0
