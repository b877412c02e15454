"""Exact chances of draws without replacement, and tests of draws against them.

Everything is done for all rows of P~ at once. Rows are drawn independently, so their statistics
and degrees of freedom are added up and a test gives one p-value for a whole graph. Letters: S
draws, R rows, N nodes, C cells.
"""

import numpy as np
from scipy import stats
from scipy.special import logsumexp

NEVER = -1e9
"""The log-weight of a node that must not be drawn; finite, so that differences stay numbers."""

LEAST = 5.0
"""A cell of smaller expectation is pooled, a direction of smaller variance left out."""

STATISTICS = (
    "first picks",
    "first two",
    "sets",
    "sets before the last",
    "inclusion",
    "two rows",
    "two graphs",
    "scores",
)
LARGE_STATISTICS = ("first picks", "second picks", "ranks of first", "ranks of second", "scores")


def p_values(neighbours, scores, log_weights):  # (S, N, K), (S, N, K), (N, N)
    """Test draws against the Plackett–Luce law of their weights, in every way there is.

    Returns:
        A p-value for each of `STATISTICS`.
    """
    _, num_nodes, k = neighbours.shape
    first, second = neighbours[:, :, 0], neighbours[:, :, 1]
    chances = first_chances(log_weights)
    log_rest = log_rests(log_weights)
    sets = set_chances(log_weights, log_rest)
    drawn = np.bitwise_or.accumulate(1 << neighbours, axis=2)
    # Rows two apart share a witness on a path, with self-loops and without.
    row = np.array([i for i in range(num_nodes - 2) if i % 4 < 2])
    two_rows = _outer(chances[row], chances[row + 2])
    pairs = len(first) // 2
    before = np.concatenate([np.zeros_like(drawn[:, :, :1]), drawn[:, :, :-1]], axis=2)
    found = (
        chi_square(first, chances),
        chi_square(first * num_nodes + second, pair_chances(log_weights)),
        chi_square(drawn[:, :, -1], sets * (_sizes(num_nodes) == k)),
        chi_square(drawn[:, :, -2], sets * (_sizes(num_nodes) == k - 1)),
        inclusion_wald(neighbours, sets * (_sizes(num_nodes) == k)),
        chi_square(first[:, row] * num_nodes + first[:, row + 2], two_rows),
        chi_square(first[:pairs] * num_nodes + first[-pairs:], _outer(chances, chances)),
        gap_test(scores, log_rest[np.arange(num_nodes)[:, None], before]),
    )
    return dict(zip(STATISTICS, found, strict=True))


def large_p_values(neighbours, scores, log_weights):  # (S, N, K), (S, N, K), (N, N)
    """Test the first two picks where the nodes are too many for all that `p_values` does.

    Returns:
        A p-value for each of `LARGE_STATISTICS`.
    """
    first, second = neighbours[:, :, 0], neighbours[:, :, 1]
    first_chance = first_chances(log_weights)
    second_chance = second_chances(log_weights)
    totals = logsumexp(log_weights, 1)[:, None]
    found = (
        chi_square(first, first_chance),
        chi_square(second, second_chance),
        rank_wald(first, first_chance),
        rank_wald(second, second_chance),
        gap_test(scores[:, :, :1], totals),
    )
    return dict(zip(LARGE_STATISTICS, found, strict=True))


def first_chances(log_weights):  # (R, N) -> (R, N)
    """Compute the chance of each first pick."""
    return np.exp(log_weights - logsumexp(log_weights, 1, keepdims=True))


def pair_chances(log_weights):  # (R, N) -> (R, N * N)
    """Compute the chance of each ordered first two, first * N + second."""
    num_rows, num_nodes = log_weights.shape
    log_second = log_weights[:, None, :] - _log_sum_of_others(log_weights)[:, :, None]
    log_second[:, np.arange(num_nodes), np.arange(num_nodes)] = -np.inf
    return (first_chances(log_weights)[:, :, None] * np.exp(log_second)).reshape(num_rows, -1)


def second_chances(log_weights):  # (R, N) -> (R, N)
    """Compute the chance of each second pick, whatever the first."""
    log_first = log_weights - logsumexp(log_weights, 1, keepdims=True)
    log_after = _log_sum_of_others(log_first - _log_sum_of_others(log_weights))
    return np.exp(log_weights + log_after)


def log_rests(log_weights):  # (R, N) -> (R, 2^N)
    """Compute the logarithm of the weight left when a set, a number in binary, is taken."""
    left = np.where(_members(log_weights.shape[1]), -np.inf, log_weights[:, None])
    left[:, -1] = NEVER
    return logsumexp(left, 2)


def set_chances(log_weights, log_rest):  # (R, N), (R, 2^N) -> (R, 2^N)
    """Compute the chance of each set to be the first ones drawn, whatever their order.

    The last of a set may be any of its members, drawn when the others had been.
    """
    num_rows, num_nodes = log_weights.shape
    log_chance = np.full((num_rows, 2**num_nodes), -np.inf)
    log_chance[:, 0] = 0.0
    sizes, members = _sizes(num_nodes), _members(num_nodes)
    for size in range(1, num_nodes + 1):
        for last in range(num_nodes):
            these = np.flatnonzero((sizes == size) & members[:, last])
            others = these ^ (1 << last)
            step = log_chance[:, others] + log_weights[:, last, None] - log_rest[:, others]
            log_chance[:, these] = np.logaddexp(log_chance[:, these], step)
    return np.exp(log_chance)


def chi_square(codes, chances):  # (S, R), (R, C) -> p-value
    """Test how often each cell was drawn, in all rows together.

    Cells of expectation under 5 are pooled. A row's pool that is still under 5 is left out
    and the row tested given what remains; all these leftovers together are a Poisson count
    with a test of its own, and twice the smaller p-value is returned.
    """
    num_draws, num_rows = codes.shape
    cells = chances.shape[1]
    seen = np.bincount((codes + cells * np.arange(num_rows)).ravel(), minlength=chances.size)
    seen = seen.reshape(chances.shape)
    if seen[chances == 0].any():
        return 0.0
    wanted = num_draws * chances
    rare = wanted < LEAST
    seen = np.c_[np.where(rare, 0, seen), (seen * rare).sum(1)]
    wanted = np.c_[np.where(rare, 0.0, wanted), (wanted * rare).sum(1)]
    kept = wanted >= LEAST
    count, mean = seen[~kept].sum(), wanted[~kept].sum()
    too_few_or_many = 2 * min(stats.poisson.cdf(count, mean), stats.poisson.sf(count - 1, mean))
    seen, wanted = seen * kept, wanted * kept
    wanted *= (seen.sum(1) / np.maximum(wanted.sum(1), LEAST))[:, None]
    statistic = ((seen - wanted)[kept] ** 2 / np.maximum(wanted[kept], 1e-300)).sum()
    freedom = np.maximum(kept.sum(1) - 1, 0).sum()
    return float(min(1.0, 2 * min(_chi_square_tail(statistic, freedom), too_few_or_many)))


def inclusion_wald(neighbours, sets):  # (S, R, K), (R, 2^N) -> p-value
    """Test how often each node is among those drawn; such counts are not multinomial."""
    num_nodes = sets.shape[1].bit_length() - 1
    members = _members(num_nodes).astype(float)
    chance = sets @ members
    both = np.einsum("rs,si,sj->rij", sets, members, members, optimize=True)
    covariance = both - chance[:, :, None] * chance[:, None, :]
    seen = (neighbours[..., None] == np.arange(num_nodes)).sum((0, 2))
    return wald(seen - len(neighbours) * chance, len(neighbours) * covariance)


def rank_wald(picks, chances):  # (S, R), (R, N) -> p-value
    """Test how often the likeliest node of a row is picked, the second likeliest, and so on.

    Counts are added over rows, which shows small faults that all rows have in common.
    """
    order = np.argsort(-chances, axis=1)
    rank = np.argsort(order, axis=1)[np.arange(len(chances)), picks]
    falling = np.take_along_axis(chances, order, axis=1)
    seen = np.bincount(rank.ravel(), minlength=chances.shape[1])
    covariance = np.diag(falling.sum(0)) - falling.T @ falling
    difference = seen - len(picks) * falling.sum(0)
    return wald(difference[None], len(picks) * covariance[None])


def wald(difference, covariance):  # (R, C), (R, C, C) -> p-value
    """Weigh differences by the pseudo-inverse of their covariance; the rank is the freedom.

    A direction in which a count varies by less than 5 is far from normal: it counts as null.
    """
    variance, direction = np.linalg.eigh(covariance)
    along = np.einsum("rij,ri->rj", direction, difference)
    kept = variance >= LEAST
    return _chi_square_tail((along[kept] ** 2 / variance[kept]).sum(), kept.sum())


def gap_test(scores, log_rest):  # (S, R, K), (..., R, K) -> p-value
    """Test the times of rings, which minus the scores are the logarithms of.

    From one ring to the next it takes a standard exponential over the weight that is left.
    """
    log_times = -scores
    log_gaps = log_times.copy()
    with np.errstate(divide="ignore"):
        log_gaps[..., 1:] += np.log(-np.expm1(-np.diff(log_times)))
    # The test of Kolmogorov and Smirnov sorts: a part of many gaps is enough.
    gaps = np.exp(log_gaps + log_rest).ravel()[:20_000]
    return float(stats.kstest(gaps, "expon", method="asymp").pvalue)


def _chi_square_tail(statistic, freedom):
    return float(stats.chi2.sf(statistic, freedom)) if freedom > 0 else 1.0


def _log_sum_of_others(values):  # (R, N) -> (R, N)
    """Add up all but one, for each; a difference would lose the small weights."""
    none = np.full((len(values), 1), -np.inf)
    before = np.logaddexp.accumulate(np.c_[none, values[:, :-1]], axis=1)
    after = np.logaddexp.accumulate(np.c_[none, values[:, :0:-1]], axis=1)[:, ::-1]
    return np.logaddexp(before, after)


def _outer(first, second):  # (R, N), (R, N) -> (R, N * N)
    return (first[:, :, None] * second[:, None, :]).reshape(len(first), -1)


def _members(num_nodes):  # (2^N, N)
    """List which nodes are in each set."""
    return (np.arange(2**num_nodes)[:, None] >> np.arange(num_nodes)) & 1 == 1


def _sizes(num_nodes):  # (2^N,)
    return _members(num_nodes).sum(1)
