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
    width: over_seeds("cora", range(4), method="gcn", changes={"hidden": (width,)})
    for width in WIDTHS
}
JOBS = [run for runs in CELLS.values() for run in runs]


def line(run, accuracy=0.9, seconds=1.0):
    settings = asdict(run.plan.settings_for("cora"))
    settings["hidden"] = list(settings["hidden"])
    found = {"command": run.command, "seed": run.plan.seed, "settings": settings}
    return {**found, "test_accuracy": accuracy, "cpu_seconds": seconds}


def failed(run):
    return {"command": run.command, "error": {"kind": "memory", "words": "It takes 35 GB."}}


LINES = {run.command: line(run) for run in JOBS}


def test_runs_of_a_cell_differ_by_their_seed_alone():
    cells = drawn_cells([*JOBS, *JOBS, Timing("sparse", 100)], LINES, 4, draw=0)
    for cell in cells:
        assert len({str(run.plan.changes) for run in cell}) == 1
        assert [run.plan.seed for run in cell] == [0, 1, 2, 3]
    assert len({str(cell[0].plan.changes) for cell in cells}) == 4


def test_every_cell_is_as_likely_and_a_draw_is_repeatable():
    def first(draw):
        return drawn_cells(JOBS, LINES, 1, draw=draw)[0][0].plan.changes["hidden"]

    assert first(7) == first(7)
    counts = Counter(first(draw) for draw in range(400))
    assert sorted(counts) == [(width,) for width in WIDTHS]
    # Within four standard deviations of a binomial variable.
    assert max(abs(count - 100) for count in counts.values()) < 4 * math.sqrt(400 * 0.25 * 0.75)


def test_a_cell_that_is_new_in_the_store_leaves_the_order_of_the_others():
    before = [run for width in WIDTHS[:3] for run in CELLS[width]]
    for draw in range(20):
        order = drawn_cells(before, LINES, 3, draw=draw)
        with_new = drawn_cells(JOBS, LINES, 4, draw=draw)
        assert [cell for cell in with_new if cell in order] == order


def test_what_has_two_seeds_failed_or_had_other_settings_is_not_drawn():
    lines = dict(LINES)
    few, broken, stale, good = CELLS.values()
    for run in few[2:]:
        del lines[run.command]
    lines |= {run.command: failed(run) for run in broken}
    for run in stale:
        lines[run.command] = {**line(run), "settings": {**line(run)["settings"], "dropout": 0.123}}
    assert drawn_cells(JOBS, lines, 1, draw=3) == [tuple(good)]
    with pytest.raises(InputError, match="3 seeds or more the store has 1, and 2 were asked for"):
        drawn_cells(JOBS, lines, 2, draw=0)


def test_cells_with_a_long_run_are_left_out_if_asked():
    slow = CELLS[8][2]
    lines = {**LINES, slow.command: line(slow, seconds=500.0)}
    for draw in range(5):
        cells = drawn_cells(JOBS, lines, 3, draw=draw, longest=100)
        assert slow not in [run for cell in cells for run in cell]
    with pytest.raises(InputError, match="no run of more than 100 CPU-seconds"):
        drawn_cells(JOBS, lines, 4, draw=0, longest=100)


def test_the_same_seeds_are_compared_and_no_others():
    cell = tuple(CELLS[4])
    accuracies = (0.8, 0.9, 0.7, 0.6)
    lines = {run.command: line(run, value) for run, value in zip(cell, accuracies, strict=True)}
    made = {run.command: line(run, 0.1) for run in cell[2:]}
    made |= {run.command: lines[run.command] for run in cell[:2]}
    found = compared(cell, cell[:2], lines, made)
    assert found.pairs == ((80.0, 80.0), (90.0, 90.0))
    assert (found.num_same, found.agrees) == (2, True)
    # How much it varies is told by all seeds of the store.
    assert found.deviation == pytest.approx(100 * statistics.stdev(accuracies))
    assert compared(cell, cell[:3], lines, made).num_same == 2


def test_a_cell_with_a_failed_or_missing_run_does_not_agree():
    cell = tuple(CELLS[4])
    made = {cell[0].command: failed(cell[0]), cell[1].command: line(cell[1])}
    found = compared(cell, cell[:2], LINES, made)
    assert found.pairs == ((90.0, 90.0),)
    assert found.failures == ("It takes 35 GB.",)
    assert not found.agrees
    assert not compared(cell, cell[:2], LINES, {}).agrees


def test_means_of_independent_seeds_agree_as_often_as_three_standard_errors_say():
    generator = statistics.NormalDist(90.0, 1.0)
    draws = generator.samples(6000, seed=0)
    pairs = [
        tuple(zip(draws[at : at + 3], draws[at + 3 : at + 6], strict=True))
        for at in range(0, 6000, 6)
    ]
    share = statistics.mean(Recheck(own, deviation=1.0).agrees for own in pairs)
    # 99.7 of 100 normal variables are within three standard deviations.
    assert share > 0.99


def test_runs_that_went_wrong_do_not_widen_what_is_allowed():
    good = Recheck(((88.0, 88.0), (89.0, 89.0), (90.0, 90.0)), deviation=1.0)
    wrong = Recheck(((88.0, 60.0), (89.0, 89.0), (90.0, 90.0)), deviation=1.0)
    assert wrong.allowed == good.allowed == pytest.approx(3 * math.sqrt(2 / 3))
    assert good.agrees
    assert not wrong.agrees
    assert not Recheck(((88.0, 88.2),), deviation=0.0).agrees


@given(st.lists(st.floats(0, 100), min_size=1, max_size=10), st.floats(0, 10))
def test_a_cell_agrees_with_itself(stored, deviation):
    assert Recheck(tuple((value, value) for value in stored), deviation).agrees
