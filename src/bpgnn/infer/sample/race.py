"""The race of exponential clocks over rows of A ⋄ P, without forming any row."""

import math
from typing import NamedTuple

import numba
import numpy as np

from bpgnn.infer.sample.heavy import Heavy
from bpgnn.infer.sample.streams import advanced, exponential, stream_of, uniform
from bpgnn.infer.sample.threads import in_threads

# Rates are relative to the best of the row. A row in which no witness has K rates above this
# is raced in log space instead; which rows these are depends on the rates alone.
FAINT = 1e-250


class Votes(NamedTuple):
    """Hold who votes for each row and with what weight, as arrays.

    Args:
        pointer: Where each row's witnesses begin, shape (N + 1,).
        witnesses: The witnesses of every row, shape (E,).
        log_weights: The logarithms of their votes' weights, shape (E,).
    """

    pointer: np.ndarray
    witnesses: np.ndarray
    log_weights: np.ndarray


class Finish(NamedTuple):
    """Hold the end of a race.

    Args:
        neighbours: The first K distinct points of each row, shape (N, K); -1 for a row
            without witnesses.
        log_times: The logarithms of their times, shape (N, K).
        ratios: The largest acceptance ratio that each row met; none may be above one.
    """

    neighbours: np.ndarray
    log_times: np.ndarray
    ratios: np.ndarray


def race_rows(
    points: np.ndarray,
    sharpness: float,
    votes: Votes,
    heavy: Heavy,
    *,
    k: int,
    seed: int,
    self_pairs: bool,
) -> Finish:
    """Let every row's clocks ring until K distinct points have.

    Args:
        points: Latent points, shape (N, D).
        sharpness: 1/φ.
        votes: Who votes for each row.
        heavy: What is known of each row of P.
        k: Distinct points wanted, K.
        seed: Where the randomness comes from.
        self_pairs: Whether a row's own point may be drawn.

    Returns:
        Neighbours and their times.
    """
    num_nodes = len(points)
    finish = Finish(
        neighbours=np.full((num_nodes, k), -1, np.int64),
        log_times=np.full((num_nodes, k), np.inf),
        ratios=np.zeros(num_nodes),
    )
    in_threads(
        num_nodes,
        lambda begin, end: _race(
            points, sharpness, votes, heavy, finish, seed, self_pairs, begin, end
        ),
    )
    return finish


@numba.njit(cache=True, nogil=True)
def _race(
    points: np.ndarray,
    sharpness: float,
    votes: Votes,
    heavy: Heavy,
    finish: Finish,
    seed: int,
    self_pairs: bool,
    begin: int,
    end: int,
) -> None:
    k = finish.neighbours.shape[1]
    best_times = np.empty(k)
    best_nodes = np.empty(k, np.int64)
    for row in range(begin, end):
        start, stop = votes.pointer[row], votes.pointer[row + 1]
        if start == stop:
            continue
        first, top = start, -np.inf
        for vote in range(start, stop):
            peak = votes.log_weights[vote] + heavy.exponents[votes.witnesses[vote], 0]
            if peak > top:
                first, top = vote, peak
        best_times[:] = np.inf
        best_nodes[:] = -1
        state = stream_of(seed, row)
        faint = _is_faint(row, top, votes, heavy, k, self_pairs)
        for turn in range(start, stop):
            # The strongest witness goes first, so that the time to beat is short early on.
            vote = first if turn == start else (start if turn == first else turn)
            witness, weight = votes.witnesses[vote], votes.log_weights[vote]
            if faint:
                state, ratio = _ring_in_log_space(
                    row,
                    witness,
                    weight,
                    points,
                    sharpness,
                    heavy,
                    best_times,
                    best_nodes,
                    state,
                    self_pairs,
                )
            else:
                scale = math.exp(weight + heavy.exponents[witness, 0] - top)
                state = _ring_heavy(
                    row, witness, scale, heavy, best_times, best_nodes, state, self_pairs
                )
                state, ratio = _ring_rest(
                    row,
                    witness,
                    weight - top,
                    points,
                    sharpness,
                    heavy,
                    best_times,
                    best_nodes,
                    state,
                    self_pairs,
                )
            finish.ratios[row] = max(finish.ratios[row], ratio)
        for place in range(k):
            time = best_times[place]
            finish.neighbours[row, place] = best_nodes[place]
            finish.log_times[row, place] = time if faint else math.log(time) - top


@numba.njit(cache=True)
def _is_faint(row: int, top: float, votes: Votes, heavy: Heavy, k: int, self_pairs: bool) -> bool:
    """Tell whether no witness has K heavy points of a rate that floating point can hold."""
    limit = math.log(FAINT)
    for vote in range(votes.pointer[row], votes.pointer[row + 1]):
        witness, bright = votes.witnesses[vote], 0
        for place in range(heavy.counts[witness]):
            if votes.log_weights[vote] + heavy.exponents[witness, place] - top < limit:
                break
            bright += self_pairs or heavy.nodes[witness, place] != row
            if bright == k:
                return False
    return True


@numba.njit(cache=True, inline="always")
def _offer(time: float, node: int, best_times: np.ndarray, best_nodes: np.ndarray) -> None:
    """Take a ring into the K best of distinct points, kept in order of time."""
    k = len(best_times)
    place = k - 1
    for known in range(k):
        if best_nodes[known] == node:
            if best_times[known] <= time:
                return
            place = known
            break
    while place > 0 and best_times[place - 1] > time:
        best_times[place] = best_times[place - 1]
        best_nodes[place] = best_nodes[place - 1]
        place -= 1
    best_times[place] = time
    best_nodes[place] = node


@numba.njit(cache=True)
def _ring_heavy(
    row: int,
    witness: int,
    scale: float,
    heavy: Heavy,
    best_times: np.ndarray,
    best_nodes: np.ndarray,
    state: int,
    self_pairs: bool,
) -> int:
    """Let a witness's heavy points ring: the heaviest one by one, the light ones together."""
    last = len(best_times) - 1
    count = heavy.counts[witness]
    peak = heavy.exponents[witness, 0]
    place = 0
    while place < count:
        # From here on the expected number of rings that matter is small: one stream for all.
        if scale * heavy.masses[witness, place] * best_times[last] < 0.5:
            break
        node = heavy.nodes[witness, place]
        if self_pairs or node != row:
            rate = scale * math.exp(heavy.exponents[witness, place] - peak)
            state = advanced(state)
            time = exponential(state) / rate if rate > 0 else np.inf
            if time < best_times[last]:
                _offer(time, node, best_times, best_nodes)
        place += 1
    if place == count:
        return state
    total = heavy.masses[witness, place]
    time = 0.0
    while scale * total > 0:
        state = advanced(state)
        time += exponential(state) / (scale * total)
        if not time < best_times[last]:
            break
        state = advanced(state)
        # The remaining masses fall along the row: find where the drawn share lies.
        share = uniform(state) * total
        low, high = place, count - 1
        while low < high:
            middle = (low + high + 1) // 2
            if heavy.masses[witness, middle] >= share:
                low = middle
            else:
                high = middle - 1
        node = heavy.nodes[witness, low]
        if self_pairs or node != row:
            _offer(time, node, best_times, best_nodes)
    return state


@numba.njit(cache=True)
def _proposed(
    row: int,
    witness: int,
    points: np.ndarray,
    sharpness: float,
    heavy: Heavy,
    state: int,
    self_pairs: bool,
) -> tuple:
    """Propose any point, and keep it with its true rate's share of the bound; else -1."""
    num_nodes, dim = points.shape
    state = advanced(state)
    node = min(int(uniform(state) * num_nodes), num_nodes - 1)
    state = advanced(state)
    if node == row and not self_pairs:
        return state, -1, 0.0
    square = 0.0
    for axis in range(dim):
        gap = points[witness, axis] - points[node, axis]
        square += gap * gap
    ratio = math.exp(min(1.0, -sharpness * square - heavy.bounds[witness]))
    if uniform(state) >= ratio:
        return state, -1, 0.0
    # A heavy point has a clock of its own; it is proposed here only to be refused.
    for place in range(heavy.counts[witness]):
        if heavy.nodes[witness, place] == node:
            return state, -1, 0.0
    return state, node, ratio


@numba.njit(cache=True)
def _ring_rest(
    row: int,
    witness: int,
    log_scale: float,
    points: np.ndarray,
    sharpness: float,
    heavy: Heavy,
    best_times: np.ndarray,
    best_nodes: np.ndarray,
    state: int,
    self_pairs: bool,
) -> tuple:
    """Let all other points ring as one stream at their bound, thinned to their true rates."""
    num_nodes = len(points)
    largest = 0.0
    if heavy.counts[witness] == num_nodes:
        return state, largest
    last = len(best_times) - 1
    rate = math.exp(log_scale + heavy.bounds[witness]) * num_nodes
    time = 0.0
    while rate > 0:
        state = advanced(state)
        time += exponential(state) / rate
        if not time < best_times[last]:
            break
        state, node, ratio = _proposed(row, witness, points, sharpness, heavy, state, self_pairs)
        largest = max(largest, ratio)
        if node >= 0:
            _offer(time, node, best_times, best_nodes)
    return state, largest


@numba.njit(cache=True)
def _ring_in_log_space(
    row: int,
    witness: int,
    log_weight: float,
    points: np.ndarray,
    sharpness: float,
    heavy: Heavy,
    best_times: np.ndarray,
    best_nodes: np.ndarray,
    state: int,
    self_pairs: bool,
) -> tuple:
    """Do the same with logarithms of times, one clock at a time: slower, and never zero."""
    num_nodes = len(points)
    last = len(best_times) - 1
    for place in range(heavy.counts[witness]):
        node = heavy.nodes[witness, place]
        if self_pairs or node != row:
            state = advanced(state)
            log_time = math.log(exponential(state)) - log_weight - heavy.exponents[witness, place]
            if log_time < best_times[last]:
                _offer(log_time, node, best_times, best_nodes)
    largest = 0.0
    if heavy.counts[witness] == num_nodes:
        return state, largest
    log_rate = log_weight + heavy.bounds[witness] + math.log(num_nodes)
    rings = 0.0
    while True:
        state = advanced(state)
        rings += exponential(state)
        log_time = math.log(rings) - log_rate
        if not log_time < best_times[last]:
            return state, largest
        state, node, ratio = _proposed(row, witness, points, sharpness, heavy, state, self_pairs)
        largest = max(largest, ratio)
        if node >= 0:
            _offer(log_time, node, best_times, best_nodes)
