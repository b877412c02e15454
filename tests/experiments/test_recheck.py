import math
import statistics
from collections import Counter
from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpgnn.errors import InputError
from bpgnn.experiments.recheck import Recheck, compared, drawn_cells
from bpgnn.experiments.run import over_seeds
from bpgnn.experiments.timing import Timing

WIDTHS = (4, 8, 16, 32)
CELLS = {
    width: over_seeds("cora", range(3), method="gcn", changes={"hidden": (width,)})
    for width in WIDTHS
}
JOBS = [run for runs in CELLS.values() for run in runs]


def line(run, accuracy=0.9, seconds=1.0):
    settings = asdict(run.plan.settings_for("cora"))
    found = {"command": run.command, "seed": run.plan.seed, "test_accuracy": accuracy}
    return {
        **found,
        "cpu_seconds": seconds,
        "settings": {**settings, "hidden": list(settings["hidden"])},
    }


LINES = {run.command: line(run) for run in JOBS}


def test_runs_of_a_cell_differ_by_their_seed_alone():
    cells = drawn_cells([*JOBS, *JOBS, Timing("sparse", 100)], LINES, 4, draw=0)
    assert sorted(len(cell) for cell in cells) == [3, 3, 3, 3]
    for cell in cells:
        assert len({str(run.plan.changes) for run in cell}) == 1
        assert [run.plan.seed for run in cell] == [0, 1, 2]


def test_every_cell_is_as_likely_and_a_draw_is_repeatable():
    def first(draw):
        return drawn_cells(JOBS, LINES, 1, draw=draw)[0][0].plan.changes["hidden"]

    assert first(7) == first(7)
    counts = Counter(first(draw) for draw in range(400))
    assert sorted(counts) == [(width,) for width in WIDTHS]
    # Beyond four standard deviations of a binomial variable.
    assert max(abs(count - 100) for count in counts.values()) < 4 * math.sqrt(400 * 0.25 * 0.75)


def test_what_has_one_seed_failed_or_had_other_settings_is_not_drawn():
    lines = dict(LINES)
    one, failed, stale, good = CELLS.values()
    for run in one[1:]:
        del lines[run.command]
    for run in failed:
        lines[run.command] = {"command": run.command, "error": {"kind": "memory", "words": "35 GB"}}
    for run in stale:
        lines[run.command] = {**line(run), "settings": {**line(run)["settings"], "dropout": 0.123}}
    assert drawn_cells(JOBS, lines, 1, draw=3) == [tuple(good)]
    with pytest.raises(InputError, match="There is 1 such cell "):
        drawn_cells(JOBS, lines, 2, draw=0)


def test_cells_with_a_long_run_are_left_out_if_asked():
    slow = CELLS[8][2]
    lines = {**LINES, slow.command: line(slow, seconds=500.0)}
    for draw in range(5):
        cells = drawn_cells(JOBS, lines, 3, draw=draw, longest=100)
        assert slow not in [run for cell in cells for run in cell]


def test_failed_runs_of_now_do_not_count():
    cell = tuple(CELLS[4])
    again = {run.command: line(run, 0.8) for run in cell}
    again[cell[0].command] = {"command": cell[0].command, "error": {"kind": "memory", "words": ""}}
    found = compared(cell, LINES, again)
    assert found.again == pytest.approx((80.0, 80.0))
    assert found.command == cell[0].command
    only = {cell[0].command: again[cell[0].command]}
    assert compared(cell, LINES, only) is None


def test_the_standard_error_is_that_of_two_samples_with_one_spread():
    stored, again = (88.0, 90.0, 89.0, 91.0), (90.0, 92.0)
    variance = (3 * statistics.variance(stored) + 1 * statistics.variance(again)) / 4
    wanted = math.sqrt(variance * (1 / 4 + 1 / 2))
    assert Recheck("", stored, again).standard_error == pytest.approx(wanted)


@given(st.lists(st.floats(0, 100), min_size=2, max_size=10))
def test_a_cell_agrees_with_itself(stored):
    assert Recheck("", tuple(stored), tuple(stored)).agrees


def test_figures_far_apart_do_not_agree():
    assert not Recheck("", (88.0, 88.2, 88.1), (80.0, 80.2, 80.1)).agrees
    assert not Recheck("", (88.0, 88.0), (88.2,)).agrees
