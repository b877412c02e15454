"""The race of exponential clocks over rows of P~, without forming any row."""

import math
from typing import NamedTuple

import numba
import numpy as np

from bpgnn.infer.compiled import inlined, lean
from bpgnn.infer.sample.cells import Cells
from bpgnn.infer.sample.scan import Frontiers
from bpgnn.infer.sample.streams import advanced, exponential, stream_of, uniform
from bpgnn.infer.space import Space, squared
from bpgnn.infer.threads import in_threads

# Rates are relative to the best of the row. A row in which no witness has K rates above this
# is raced in log space instead; which rows these are depends on the rates alone.
FAINT = 1e-250

# What is true of cells' bounds, by experience, and how many times the expected time is waited.
# Either only decides about speed.
_TRUE_SHARE, _PATIENCE = 0.25, 2.0


class Clocks(NamedTuple):
    """Hold whose clocks ring in each row, as arrays; points are places in the cells' order.

    Args:
        order: The rows in the order of the cells, in which they are raced: what is known of
            their witnesses is then often at hand, shape (N,).
        place: Where each row's own point is, shape (N,).
        pointer: Where each row's witnesses begin, shape (N + 1,).
        witnesses: The witnesses of every row, shape (E,).
        log_weights: The logarithms of their votes' weights, shape (E,).
        edge_pointer: Where each row's clocks of single points begin, shape (N + 1,).
        edges: Those points, shape (M,).
        edge_log_rates: The logarithms of their rates, shape (M,).
        across: Whether the transposed product rings as well.
        back_pointer: Where those begin whom a point is a witness of, by place, (N + 1,).
        back: Who they are, shape (E,).
        back_log_weights: The logarithms of its votes' weights for them, shape (E,).
        back_weights: Running sums of those weights, for each point anew, shape (E,).
        back_totals: Running sums of all its votes' weights, by place, shape (N + 1,).
        alone: Points without witnesses, whose rows are constant, shape (L,).
        log_alone: The logarithm of that constant.
        self_pairs: Whether a row's own point may be drawn.
    """

    order: np.ndarray
    place: np.ndarray
    pointer: np.ndarray
    witnesses: np.ndarray
    log_weights: np.ndarray
    edge_pointer: np.ndarray
    edges: np.ndarray
    edge_log_rates: np.ndarray
    across: bool
    back_pointer: np.ndarray
    back: np.ndarray
    back_log_weights: np.ndarray
    back_weights: np.ndarray
    back_totals: np.ndarray
    alone: np.ndarray
    log_alone: float
    self_pairs: bool


class Known(NamedTuple):
    """Hold what all rows and samples share.

    Args:
        space: Latent points, in the order of the cells.
        cells: The cells.
        frontiers: The cover of each row of P.
    """

    space: Space
    cells: Cells
    frontiers: Frontiers


class Finish(NamedTuple):
    """Hold the end of a race.

    Args:
        winners: The places of the first K distinct points of each row, shape (N, K).
        log_times: The logarithms of their times, shape (N, K).
        ratios: The largest acceptance ratio that each row met; none may be above one.
    """

    winners: np.ndarray
    log_times: np.ndarray
    ratios: np.ndarray


class _Best(NamedTuple):
    """Keep the K best of distinct points, in order of time."""

    times: np.ndarray
    points: np.ndarray


def race_rows(known: Known, clocks: Clocks, *, k: int, seed: int) -> Finish:
    """Let every row's clocks ring until K distinct points have.

    Args:
        known: What is known of P.
        clocks: Whose clocks ring in each row.
        k: Distinct points wanted, K.
        seed: Where the randomness comes from.

    Returns:
        Winners and their times.
    """
    num_nodes = len(clocks.place)
    finish = Finish(
        winners=np.full((num_nodes, k), -1, np.int64),
        log_times=np.full((num_nodes, k), np.inf),
        ratios=np.zeros(num_nodes),
    )
    in_threads(num_nodes, lambda begin, end: _race(known, clocks, finish, seed, begin, end))
    return finish


@numba.njit(cache=True)
def running_sums(weights: np.ndarray, pointer: np.ndarray) -> tuple:
    """Add up weights along each run, afresh in every run, and all runs' totals."""
    sums = np.empty(len(weights))
    totals = np.zeros(len(pointer))
    for run in range(len(pointer) - 1):
        total = 0.0
        for place in range(pointer[run], pointer[run + 1]):
            total += weights[place]
            sums[place] = total
        totals[run + 1] = totals[run] + total
    return sums, totals


@numba.njit(cache=True, nogil=True)
def _race(known: Known, clocks: Clocks, finish: Finish, seed: int, begin: int, end: int) -> None:
    k = finish.winners.shape[1]
    best = _Best(np.empty(k), np.empty(k, np.int64))
    room = known.frontiers.points.shape[1] + known.frontiers.cells.shape[1]
    shares = np.empty(room)
    for row in clocks.order[begin:end]:
        if clocks.across and clocks.pointer[row] == clocks.pointer[row + 1]:
            continue  # drawn otherwise
        best.times[:] = np.inf
        best.points[:] = -1
        top = _top(row, clocks)
        state = stream_of(seed, row)
        first = _first_to_ring(row, top, known.frontiers, clocks, k)
        logs = first < 0
        if logs:
            state, ratio = _race_in_logs(row, known, clocks, best, state)
        else:
            # Rings up to a time by which K are likely to have rung; if they have not, all that
            # come later. A clock has no memory: what did not ring may start again.
            horizon = _horizon(row, top, known.frontiers, clocks, k)
            best.times[:] = horizon
            state, ratio = _race_row(row, first, top, known, clocks, best, 0.0, state, shares)
            if best.points[k - 1] < 0 and horizon < np.inf:
                for place in range(k):
                    if best.points[place] < 0:
                        best.times[place] = np.inf
                state, met = _race_row(row, first, top, known, clocks, best, horizon, state, shares)
                ratio = max(ratio, met)
        finish.ratios[row] = ratio
        for place in range(k):
            time = best.times[place]
            finish.winners[row, place] = best.points[place]
            finish.log_times[row, place] = time if logs else math.log(time) - top


@lean
def _top(row: int, clocks: Clocks) -> float:
    """Find the logarithm of the highest rate that rates are taken relative to."""
    top = -np.inf
    for vote in range(clocks.pointer[row], clocks.pointer[row + 1]):
        top = max(top, clocks.log_weights[vote])
    for edge in range(clocks.edge_pointer[row], clocks.edge_pointer[row + 1]):
        top = max(top, clocks.edge_log_rates[edge])
    return top


@lean
def _first_to_ring(row: int, top: float, frontiers: Frontiers, clocks: Clocks, k: int) -> int:
    """Find the vote that alone would be over soonest; -1 if all are too faint for floats.

    Once it has rung, the time to beat is finite: the row's own point is the one of its first
    K + 1 that may not count.
    """
    needed = k - 1 if clocks.self_pairs else k
    first, highest = -1, math.log(FAINT) + top
    for vote in range(clocks.pointer[row], clocks.pointer[row + 1]):
        witness = clocks.witnesses[vote]
        if frontiers.num_points[witness] > needed:
            log_rate = clocks.log_weights[vote] + frontiers.exponents[witness, needed]
            if log_rate > highest:
                first, highest = vote, log_rate
    return first


@lean
def _horizon(row: int, top: float, frontiers: Frontiers, clocks: Clocks, k: int) -> float:
    """Guess the time by which K points have rung; without bound where few rates are all.

    The heaviest K of each witness are left out: one of them rings many times and counts once.
    """
    total = 0.0
    for vote in range(clocks.pointer[row], clocks.pointer[row + 1]):
        witness = clocks.witnesses[vote]
        num_cells = frontiers.num_cells[witness]
        weight = math.exp(clocks.log_weights[vote] - top)
        if frontiers.num_points[witness] > k:
            peak = math.exp(frontiers.exponents[witness, 0])
            total += weight * peak * float(frontiers.masses[witness, k])
        if num_cells > 0:
            bounds = float(frontiers.rates[witness, num_cells - 1])
            total += weight * _TRUE_SHARE * math.exp(frontiers.top[witness]) * bounds
    return _PATIENCE * k / total if total > 0 else np.inf


@inlined
def _offer(best: _Best, time: float, point: int) -> None:
    """Take a ring into the K best of distinct points, kept in order of time."""
    times, points = best.times, best.points
    place = len(times) - 1
    for known in range(len(times)):
        if points[known] == point:
            if times[known] <= time:
                return
            place = known
            break
    while place > 0 and times[place - 1] > time:
        times[place] = times[place - 1]
        points[place] = points[place - 1]
        place -= 1
    times[place] = time
    points[place] = point


@lean
def _race_row(
    row: int,
    first: int,
    top: float,
    known: Known,
    clocks: Clocks,
    best: _Best,
    since: float,
    state: int,
    shares: np.ndarray,
) -> tuple:
    """Race one row from a time on, in time relative to its top rate."""
    own, last = clocks.place[row], len(best.times) - 1
    ratio = 0.0
    for edge in range(clocks.edge_pointer[row], clocks.edge_pointer[row + 1]):
        state = advanced(state)
        time = since + exponential(state) / math.exp(clocks.edge_log_rates[edge] - top)
        if time < best.times[last] and (clocks.self_pairs or clocks.edges[edge] != own):
            _offer(best, time, clocks.edges[edge])
    start, stop = clocks.pointer[row], clocks.pointer[row + 1]
    for turn in range(start, stop):
        vote = first if turn == start else (start if turn == first else turn)
        scale = math.exp(clocks.log_weights[vote] - top)
        state, met = _ring(
            own, clocks.witnesses[vote], scale, known, clocks.self_pairs, best, since, state
        )
        ratio = max(ratio, met)
    if clocks.across:
        state, met = _ring_across(own, math.exp(-top), known, clocks, best, since, state, shares)
        ratio = max(ratio, met)
        # Rows that are constant give every other row one clock each, of the same rate.
        rate = math.exp(clocks.log_alone - top) * len(clocks.alone)
        time = since
        while rate > 0:
            state = advanced(state)
            time += exponential(state) / rate
            if not time < best.times[last]:
                break
            state = advanced(state)
            point = clocks.alone[int(uniform(state) * len(clocks.alone))]
            if clocks.self_pairs or point != own:
                _offer(best, time, point)
    return state, ratio


@lean
def _ring(
    own: int,
    witness: int,
    scale: float,
    known: Known,
    self_pairs: bool,
    best: _Best,
    since: float,
    state: int,
) -> tuple:
    """Let a witness's points ring: the heaviest one by one, all the others together."""
    frontiers = known.frontiers
    last = len(best.times) - 1
    count, num_cells = frontiers.num_points[witness], frontiers.num_cells[witness]
    peak = scale * math.exp(frontiers.exponents[witness, 0])
    cells = 0.0
    if num_cells > 0:
        cells = scale * math.exp(frontiers.top[witness]) * frontiers.rates[witness, num_cells - 1]
    place = 0
    while place < count:
        # From here on the expected number of rings that matter is small: one stream for all.
        if peak * frontiers.masses[witness, place] * (best.times[last] - since) < 0.5:
            break
        point = frontiers.points[witness, place]
        if self_pairs or point != own:
            rate = scale * math.exp(frontiers.exponents[witness, place])
            state = advanced(state)
            time = since + exponential(state) / rate if rate > 0 else np.inf
            if time < best.times[last]:
                _offer(best, time, point)
        place += 1
    points = peak * frontiers.masses[witness, place] if place < count else 0.0
    total = points + cells
    time, ratio = since, 0.0
    while total > 0:
        state = advanced(state)
        time += exponential(state) / total
        if not time < best.times[last]:
            break
        state = advanced(state)
        share = uniform(state) * total
        if share < points:
            # The remaining masses fall along the row: find where the drawn share lies.
            wanted = share / peak
            low, high = place, count - 1
            while low < high:
                middle = (low + high + 1) // 2
                if frontiers.masses[witness, middle] >= wanted:
                    low = middle
                else:
                    high = middle - 1
            point = frontiers.points[witness, low]
        else:
            wanted = (share - points) / cells * frontiers.rates[witness, num_cells - 1]
            state, point, accepted, met = _propose(witness, wanted, known, state)
            ratio = max(ratio, met)
            if not accepted:
                continue
        if self_pairs or point != own:
            _offer(best, time, point)
    return state, ratio


@inlined
def _propose(witness: int, wanted: float, known: Known, state: int) -> tuple:
    """Draw a point of the cell in which a share of the running sum of rates lies; judge it."""
    frontiers = known.frontiers
    low, high = 0, frontiers.num_cells[witness] - 1
    while low < high:
        middle = (low + high) // 2
        if frontiers.rates[witness, middle] > wanted:
            high = middle
        else:
            low = middle + 1
    cell = frontiers.cells[witness, low]
    begin = known.cells.begin[cell]
    number = known.cells.end[cell] - begin
    state = advanced(state)
    point = begin + min(int(uniform(state) * number), number - 1)
    step = float(frontiers.rates[witness, low])
    if low > 0:
        step -= float(frontiers.rates[witness, low - 1])
    bound = frontiers.top[witness] + math.log(step / number)
    state, accepted, ratio = _accept(witness, point, low, bound, known, state)
    return state, point, accepted, ratio


@inlined
def _accept(witness: int, point: int, found: int, bound: float, known: Known, state: int) -> tuple:
    """Keep a proposed point with its true rate's share of what it was proposed at."""
    state = advanced(state)
    ratio = math.exp(min(1.0, -squared(known.space, witness, point) - bound))
    if uniform(state) >= ratio:
        return state, False, ratio
    if _is_elsewhere(witness, point, found, known):
        return state, False, 0.0
    return state, True, ratio


@inlined
def _is_elsewhere(witness: int, point: int, found: int, known: Known) -> bool:
    """Tell whether a point of a cell stands alone or is in another cell of the row as well."""
    frontiers = known.frontiers
    rest = frontiers.rest[witness] and found == frontiers.num_cells[witness] - 1
    if rest or frontiers.scanned[witness]:
        for place in range(frontiers.num_points[witness]):
            if frontiers.points[witness, place] == point:
                return True
    if rest:
        for place in range(found):
            cell = frontiers.cells[witness, place]
            if known.cells.begin[cell] <= point < known.cells.end[cell]:
                return True
    return False


@lean
def _ring_across(
    own: int,
    scale: float,
    known: Known,
    clocks: Clocks,
    best: _Best,
    since: float,
    state: int,
    shares: np.ndarray,
) -> tuple:
    """Let the transposed product ring: pairs (k, j) of rate P_ik W_jk, grouped by k.

    Each ring of k draws anew whom k is a witness of. Heavy k, and all cells, are unrolled into
    one clock for each such node where that takes fewer clocks than rings are to be expected.
    """
    frontiers, cells = known.frontiers, known.cells
    last = len(best.times) - 1
    count, num_cells = frontiers.num_points[own], frontiers.num_cells[own]
    # Running sums of what the points and then the cells ring at, from the lightest on.
    total = 0.0
    for place in range(num_cells):
        cell = frontiers.cells[own, place]
        votes = clocks.back_totals[cells.end[cell]] - clocks.back_totals[cells.begin[cell]]
        total += scale * votes * math.exp(float(frontiers.bounds[own, place]))
        shares[place] = total
    for place in range(count - 1, -1, -1):
        point = frontiers.points[own, place]
        votes = clocks.back_totals[point + 1] - clocks.back_totals[point]
        total += scale * votes * math.exp(frontiers.exponents[own, place])
        shares[num_cells + count - 1 - place] = total
    kept = num_cells + count
    while kept > num_cells:
        place = num_cells + count - kept
        point = frontiers.points[own, place]
        rate = shares[kept - 1] - (shares[kept - 2] if kept > 1 else 0.0)
        number = clocks.back_pointer[point + 1] - clocks.back_pointer[point]
        # Fewer rings are to be expected than there are clocks: as part of the stream.
        if best.times[last] < np.inf and number > rate * (best.times[last] - since):
            break
        peak = scale * math.exp(frontiers.exponents[own, place])
        state = _unroll(own, point, peak, clocks, best, since, state)
        kept -= 1
    bounds = shares[num_cells - 1] if num_cells > 0 else 0.0
    if bounds > 0 and not bounds * (best.times[last] - since) < _clocks_of_cells(
        own, known, clocks
    ):
        # What this row is raced against comes from other rows, and may be late.
        state = _unroll_cells(own, scale, known, clocks, best, since, state)
    else:
        bounds = 0.0
    rest = shares[kept - 1] - bounds if kept > 0 else 0.0
    time, ratio = since, 0.0
    while rest > 0:
        state = advanced(state)
        time += exponential(state) / rest
        if not time < best.times[last]:
            break
        state = advanced(state)
        found = np.searchsorted(shares[:kept], bounds + uniform(state) * rest, side="right")
        found = min(found, kept - 1)
        if found >= num_cells:
            point = frontiers.points[own, num_cells + count - 1 - found]
        else:
            cell = frontiers.cells[own, found]
            state = advanced(state)
            point = _drawn(clocks.back_totals, cells.begin[cell], cells.end[cell], uniform(state))
            bound = float(frontiers.bounds[own, found])
            state, accepted, met = _accept(own, point, found, bound, known, state)
            ratio = max(ratio, met)
            if not accepted:
                continue
        begin, end = clocks.back_pointer[point], clocks.back_pointer[point + 1]
        if begin == end:
            continue
        state = advanced(state)
        node = clocks.back[_drawn_below(clocks.back_weights, begin, end, uniform(state))]
        if clocks.self_pairs or node != own:
            _offer(best, time, node)
    return state, ratio


@lean
def _unroll(
    own: int,
    point: int,
    rate: float,
    clocks: Clocks,
    best: _Best,
    since: float,
    state: int,
) -> int:
    """Let each node that a point is a witness of have a clock of its own."""
    last = len(best.times) - 1
    for back in range(clocks.back_pointer[point], clocks.back_pointer[point + 1]):
        node = clocks.back[back]
        single = rate * math.exp(clocks.back_log_weights[back])
        if (clocks.self_pairs or node != own) and single > 0:
            state = advanced(state)
            time = since + exponential(state) / single
            if time < best.times[last]:
                _offer(best, time, node)
    return state


@lean
def _clocks_of_cells(own: int, known: Known, clocks: Clocks) -> int:
    """Count what unrolling a row's cells goes through."""
    total = 0
    for place in range(known.frontiers.num_cells[own]):
        cell = known.frontiers.cells[own, place]
        begin, end = known.cells.begin[cell], known.cells.end[cell]
        total += int(clocks.back_pointer[end] - clocks.back_pointer[begin] + end - begin)
    return total


@lean
def _unroll_cells(
    own: int,
    scale: float,
    known: Known,
    clocks: Clocks,
    best: _Best,
    since: float,
    state: int,
) -> int:
    """Let each pair of a cell's points have a clock of its own, at its true rate."""
    frontiers = known.frontiers
    for place in range(frontiers.num_cells[own]):
        cell = frontiers.cells[own, place]
        for point in range(known.cells.begin[cell], known.cells.end[cell]):
            if not _is_elsewhere(own, point, place, known):
                rate = scale * math.exp(-squared(known.space, own, point))
                state = _unroll(own, point, rate, clocks, best, since, state)
    return state


@lean
def _drawn(totals: np.ndarray, begin: int, end: int, share: float) -> int:
    """Draw a place between two, in proportion to the steps of running sums over all."""
    wanted = totals[begin] + share * (totals[end] - totals[begin])
    low, high = begin, end - 1
    while low < high:
        middle = (low + high) // 2
        if totals[middle + 1] > wanted:
            high = middle
        else:
            low = middle + 1
    return low


@lean
def _drawn_below(sums: np.ndarray, begin: int, end: int, share: float) -> int:
    """Draw a place between two, in proportion to the steps of running sums of this run."""
    wanted = share * sums[end - 1]
    low, high = begin, end - 1
    while low < high:
        middle = (low + high) // 2
        if sums[middle] > wanted:
            high = middle
        else:
            low = middle + 1
    return low


@lean
def _race_in_logs(row: int, known: Known, clocks: Clocks, best: _Best, state: int) -> tuple:
    """Do the same with logarithms of times, one clock at a time: slower, and never zero."""
    own = clocks.place[row]
    ratio = 0.0
    for edge in range(clocks.edge_pointer[row], clocks.edge_pointer[row + 1]):
        if clocks.self_pairs or clocks.edges[edge] != own:
            state = _ring_once(best, clocks.edge_log_rates[edge], clocks.edges[edge], state)
    for vote in range(clocks.pointer[row], clocks.pointer[row + 1]):
        state, met = _ring_in_logs(
            own, clocks.witnesses[vote], clocks.log_weights[vote], known, clocks, best, state
        )
        ratio = max(ratio, met)
    if clocks.across:
        state, met = _ring_across_in_logs(own, known, clocks, best, state)
        ratio = max(ratio, met)
        for place in range(len(clocks.alone)):
            if clocks.self_pairs or clocks.alone[place] != own:
                state = _ring_once(best, clocks.log_alone, clocks.alone[place], state)
    if clocks.pointer[row] == clocks.pointer[row + 1] and clocks.log_alone > -np.inf:
        state = _ring_evenly(own, len(clocks.place), clocks, best, state)
    return state, ratio


@lean
def _ring_once(best: _Best, log_rate: float, point: int, state: int) -> int:
    state = advanced(state)
    log_time = math.log(exponential(state)) - log_rate
    if log_time < best.times[len(best.times) - 1]:
        _offer(best, log_time, point)
    return state


@lean
def _ring_evenly(own: int, num_nodes: int, clocks: Clocks, best: _Best, state: int) -> int:
    """Let all points ring at one rate: the row of a node without witnesses."""
    last = len(best.times) - 1
    log_rate = clocks.log_alone + math.log(num_nodes)
    rings = 0.0
    while True:
        state = advanced(state)
        rings += exponential(state)
        log_time = math.log(rings) - log_rate
        if not log_time < best.times[last]:
            return state
        state = advanced(state)
        point = min(int(uniform(state) * num_nodes), num_nodes - 1)
        if clocks.self_pairs or point != own:
            _offer(best, log_time, point)


@lean
def _ring_in_logs(
    own: int,
    witness: int,
    log_weight: float,
    known: Known,
    clocks: Clocks,
    best: _Best,
    state: int,
) -> tuple:
    frontiers, last = known.frontiers, len(best.times) - 1
    for place in range(frontiers.num_points[witness]):
        point = frontiers.points[witness, place]
        if clocks.self_pairs or point != own:
            log_rate = log_weight + frontiers.exponents[witness, place]
            state = _ring_once(best, log_rate, point, state)
    ratio = 0.0
    num_cells = frontiers.num_cells[witness]
    if num_cells == 0:
        return state, ratio
    total = frontiers.rates[witness, num_cells - 1]
    log_rate = log_weight + frontiers.top[witness] + math.log(total)
    rings = 0.0
    while True:
        state = advanced(state)
        rings += exponential(state)
        log_time = math.log(rings) - log_rate
        if not log_time < best.times[last]:
            return state, ratio
        state = advanced(state)
        state, point, accepted, met = _propose(witness, uniform(state) * total, known, state)
        ratio = max(ratio, met)
        if accepted and (clocks.self_pairs or point != own):
            _offer(best, log_time, point)


@lean
def _ring_across_in_logs(own: int, known: Known, clocks: Clocks, best: _Best, state: int) -> tuple:
    frontiers, cells = known.frontiers, known.cells
    last = len(best.times) - 1
    for place in range(frontiers.num_points[own]):
        point, exponent = frontiers.points[own, place], frontiers.exponents[own, place]
        state = _unroll_in_logs(own, point, exponent, clocks, best, state)
    ratio = 0.0
    num_clocks = _clocks_of_cells(own, known, clocks)
    for place in range(frontiers.num_cells[own]):
        cell = frontiers.cells[own, place]
        votes = clocks.back_totals[cells.end[cell]] - clocks.back_totals[cells.begin[cell]]
        if votes <= 0:
            continue
        log_rate = float(frontiers.bounds[own, place]) + math.log(votes)
        if not log_rate + best.times[last] < math.log(num_clocks):
            for point in range(cells.begin[cell], cells.end[cell]):
                if not _is_elsewhere(own, point, place, known):
                    exponent = -squared(known.space, own, point)
                    state = _unroll_in_logs(own, point, exponent, clocks, best, state)
            continue
        rings = 0.0
        while True:
            state = advanced(state)
            rings += exponential(state)
            log_time = math.log(rings) - log_rate
            if not log_time < best.times[last]:
                break
            state = advanced(state)
            point = _drawn(clocks.back_totals, cells.begin[cell], cells.end[cell], uniform(state))
            bound = float(frontiers.bounds[own, place])
            state, accepted, met = _accept(own, point, place, bound, known, state)
            ratio = max(ratio, met)
            begin, end = clocks.back_pointer[point], clocks.back_pointer[point + 1]
            if not accepted or begin == end:
                continue
            state = advanced(state)
            node = clocks.back[_drawn_below(clocks.back_weights, begin, end, uniform(state))]
            if clocks.self_pairs or node != own:
                _offer(best, log_time, node)
    return state, ratio


@lean
def _unroll_in_logs(
    own: int, point: int, exponent: float, clocks: Clocks, best: _Best, state: int
) -> int:
    """Let each node that a point is a witness of have a clock of its own."""
    for back in range(clocks.back_pointer[point], clocks.back_pointer[point + 1]):
        if clocks.self_pairs or clocks.back[back] != own:
            log_rate = exponent + clocks.back_log_weights[back]
            state = _ring_once(best, log_rate, clocks.back[back], state)
    return state
