"""Exact sampling without forming a row: the parts that only it has."""

import os
import subprocess
import sys
import time
from unittest.mock import patch

import numpy as np
import pytest
import torch
from scipy.special import logsumexp

from bpgnn.infer.sample.frontier import Effort
from bpgnn.infer.sample.lazy import LazySampler, clocks_of
from bpgnn.infer.sample.race import race_rows
from tests.infer.examples import METRIC_NAMES, edge_probabilities, graph_of, kernel_of

NODES = 150
SMALL = Effort(max_points=16, max_cells=16, max_opened=40, tolerance=2.0, scan_ratio=50.0)
SCAN = SMALL._replace(max_opened=-1)


def product(sharpness, metric="euclidean", form="product", offset=0.0):
    generator = torch.Generator().manual_seed(0)
    latent = torch.randn(NODES, 4, generator=generator, dtype=torch.double)
    latent[: NODES // 2] += offset
    pairs = torch.randint(NODES, (300, 2), generator=generator)
    graph = graph_of(pairs[pairs[:, 0] != pairs[:, 1]].tolist(), NODES)
    return edge_probabilities(kernel_of(latent, sharpness, metric), graph, form=form)


@pytest.mark.parametrize("metric", METRIC_NAMES)
@pytest.mark.parametrize("effort", [None, SMALL, SCAN])
@pytest.mark.parametrize("sharpness", [1e-3, 2.0, 500.0])
def test_a_frontier_covers_every_point_once_and_no_bound_is_below_a_rate(metric, effort, sharpness):
    probabilities = product(sharpness, metric)
    order, known = LazySampler(4, effort).known(probabilities, 5)
    exact = probabilities.kernel.log_rows(torch.arange(NODES)).numpy()[np.ix_(order, order)]
    frontiers, cells = known.frontiers, known.cells
    for row in range(NODES):
        count = frontiers.num_points[row]
        points = frontiers.points[row, :count]
        np.testing.assert_allclose(
            frontiers.exponents[row, :count], exact[row, points], rtol=1e-7, atol=1e-7
        )
        assert np.all(np.diff(frontiers.exponents[row, :6]) <= 0)
        assert np.all(frontiers.exponents[row, 6:count] <= frontiers.exponents[row, 5])
        mass = np.exp(exact[row, points] - exact[row, points].max())
        np.testing.assert_allclose(frontiers.masses[row, :count], mass[::-1].cumsum()[::-1])
        seen = np.zeros(NODES, int)
        seen[points] += 1
        for place in range(frontiers.num_cells[row]):
            cell = frontiers.cells[row, place]
            inside = np.arange(cells.begin[cell], cells.end[cell])
            if frontiers.rest[row] and place == frontiers.num_cells[row] - 1:
                inside = np.flatnonzero(seen == 0)
            elif frontiers.scanned[row]:
                inside = np.setdiff1d(inside, points)
            seen[inside] += 1
            assert exact[row, inside].max() <= frontiers.bounds[row, place] + 1e-9
        assert np.all(seen == 1)


def test_rows_are_scanned_where_the_tree_is_no_help():
    _, known = LazySampler(4, SCAN).known(product(2.0), 5)
    assert known.frontiers.scanned.all()
    _, known = LazySampler(4, SMALL).known(product(1e-3), 5)
    assert known.frontiers.scanned.mean() < 0.5


def test_what_is_far_from_a_row_is_lumped_where_its_group_knows_more():
    _, known = LazySampler(4, SMALL).known(product(500.0), 5)
    assert known.frontiers.rest.mean() > 0.5
    assert not known.frontiers.rest[known.frontiers.scanned].any()


def test_all_rows_are_scanned_where_the_tree_is_no_help_to_some_that_were_tried():
    latent = torch.randn(5_000, 4, generator=torch.Generator().manual_seed(0)).double()
    effort = SMALL._replace(max_points=64, scan_ratio=1e9)
    for hopeless, all_scanned in ((0.3, False), (-1.0, True)):
        with patch("bpgnn.infer.sample.frontier._HOPELESS", hopeless):
            _, known = LazySampler(4, effort).known(kernel_of(latent, 1e-3), 5)
        assert known.frontiers.scanned.all() == all_scanned


@pytest.mark.parametrize("form", ["product", "symmetric"])
@pytest.mark.parametrize("metric", METRIC_NAMES)
@pytest.mark.parametrize("sharpness", [1e-3, 2.0, 500.0])
def test_no_acceptance_ratio_is_above_one(sharpness, metric, form):
    probabilities = product(sharpness, metric, form)
    for effort in (SMALL, SCAN):
        order, known = LazySampler(4, effort).known(probabilities, 3)
        clocks = clocks_of(probabilities, order, self_pairs=False)
        worst = max(race_rows(known, clocks, k=3, seed=s).ratios.max() for s in range(20))
        assert worst <= 1.0


def test_a_scan_bounds_points_far_from_the_centre_by_the_rounding_of_float32():
    probabilities = product(2.0, offset=1e4)
    order, known = LazySampler(4, SCAN).known(probabilities, 5)
    exact = probabilities.kernel.log_rows(torch.arange(NODES)).numpy()[np.ix_(order, order)]
    frontiers = known.frontiers
    for row in np.flatnonzero(frontiers.scanned):
        points = frontiers.points[row, : frontiers.num_points[row]]
        assert np.delete(exact[row], points).max() <= frontiers.top[row]


def test_many_points_in_one_place_are_in_cells_with_bounds_that_are_tight():
    kernel = kernel_of(torch.zeros(NODES, 2).double(), 1.0)
    _, known = LazySampler(4, SMALL).known(kernel, 5)
    assert np.all(known.frontiers.top == 0.0)
    assert not known.frontiers.scanned.any()


@pytest.mark.parametrize("form", ["product", "symmetric", "sum", "kernel"])
def test_the_sample_does_not_depend_on_the_number_of_threads(form):
    probabilities = product(1.0, form=form)
    before = torch.get_num_threads()
    draws = []
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            generator = torch.Generator().manual_seed(0)
            draws.append(LazySampler(4).sample(probabilities, 5, generator=generator).neighbours)
    finally:
        torch.set_num_threads(before)
    assert torch.equal(draws[0], draws[1])


@pytest.mark.parametrize("max_opened", [20, 40])
@pytest.mark.parametrize("sharpness", [0.5, 50.0, 5000.0])
def test_the_proposals_of_a_row_come_to_an_end_whatever_its_effort(max_opened, sharpness):
    """Twins that are nearer than the K-th point known ring again and again, and count once.

    Cells ring at their bounds until K + 1 points have rung. A row is scanned where that is too
    often, beside the rates of all points, none counting for more than e² times the K-th's.
    """
    generator = torch.Generator().manual_seed(0)
    latent = torch.randn(300, 4, generator=generator).double() ** 3
    twins = torch.cat([latent, latent + 1e-9])
    effort = Effort(24, 48, max_opened, tolerance=2.0, scan_ratio=1000.0)
    kernel = kernel_of(twins, sharpness)
    order, known = LazySampler(2, effort).known(kernel, 8)
    exact = kernel.log_rows(torch.arange(len(twins))).numpy()[np.ix_(order, order)]
    frontiers, cells = known.frontiers, known.cells
    assert not frontiers.scanned.all()
    for row in np.flatnonzero(~frontiers.scanned):
        last, used = frontiers.exponents[row, 8], frontiers.num_cells[row]
        inside = frontiers.cells[row, :used]
        numbers = cells.end[inside] - cells.begin[inside]
        proposed = logsumexp(frontiers.bounds[row, :used] - last, b=numbers)
        useful = logsumexp(np.minimum(exact[row] - last, 2.0))
        assert proposed <= useful + np.log(1001.0)


@pytest.mark.parametrize("gap", [8.0, 30.0, 200.0, 2000.0])
@pytest.mark.parametrize("effort", [None, SMALL])
def test_a_symmetric_race_ends_where_all_of_a_rows_witnesses_are_far(gap, effort):
    """Leaves are near each other and far from the hub, the only witness they have."""
    leaves = 400
    generator = torch.Generator().manual_seed(0)
    latent = 0.1 * torch.randn(leaves + 1, 2, generator=generator).double()
    latent[0, 0] += gap**0.5
    graph = graph_of([(0, leaf) for leaf in range(1, leaves + 1)], leaves + 1)
    probabilities = edge_probabilities(kernel_of(latent, 1.0), graph, form="symmetric")
    order, known = LazySampler(4, effort).known(probabilities, 5)
    clocks = clocks_of(probabilities, order, self_pairs=False)
    race_rows(known, clocks, k=5, seed=1)
    begun = time.process_time()
    finish = race_rows(known, clocks, k=5, seed=0)
    assert time.process_time() - begun < 5.0
    assert (finish.winners >= 0).all()
    assert finish.ratios.max() <= 1.0


ASKED = """
from pathlib import Path
from bpgnn.infer.sample.lazy import is_compiled
from bpgnn.infer.sample.race import running_sums

before = is_compiled()
folder = Path(running_sums.stats.cache_path)
folder.mkdir(exist_ok=True)
(folder / "race._race-1.py.nbi").touch()
print(before, is_compiled())
"""


def test_compiled_code_is_looked_for_where_numba_keeps_it(tmp_path):
    # Numba reads the variable when it is loaded, so only a fresh process can tell.
    finished = subprocess.run(
        [sys.executable, "-c", ASKED],
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.stdout.split() == ["False", "True"], finished.stderr
