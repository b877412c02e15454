import os
import time

import joblib
import numpy as np

from bpgnn.experiments.workers import workers

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
