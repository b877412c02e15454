"""The graph loss: reward edges that help to classify, penalise those that mislead."""

from torch import Tensor

LOG_FLOOR = -55.262042231857095
"""The logarithm of 1e-24, below which a sampled edge's log-probability is not pushed."""


def graph_reward(
    log_prob: Tensor,  # (M, K)
    surprise: Tensor,  # (M,)
) -> Tensor:
    r"""Average δ_i log P~_ij over labelled nodes i and their sampled neighbours j.

    .. math:: \frac{1}{MK} \sum_i \sum_j \delta_i \log \tilde P_{ij}

    Args:
        log_prob: Logarithms of the sampled entries of P~, shape (M, K).
        surprise: δ_i = E[a_i] - a_i, shape (M,).

    Returns:
        The loss, a scalar.

    Departures:
        The paper sums over the neighbours in the graph before; the sampled ones are meant,
        since those are what the prediction came from. The mean makes it independent of M
        and K. Logarithms are floored at log 1e-24.

    Example:
        >>> import torch
        >>> graph_reward(torch.tensor([[-1.0, -3.0]]), torch.tensor([0.5]))
        tensor(-1.)
    """
    return (surprise.unsqueeze(1) * log_prob.clamp(min=LOG_FLOOR)).mean()


def probability_reward(
    log_prob: Tensor,  # (M, K)
    surprise: Tensor,  # (M,)
) -> Tensor:
    r"""Average δ_i P~_ij over labelled nodes i and their sampled neighbours j: dDGM's code.

    Args:
        log_prob: Logarithms of the sampled entries of P~, shape (M, K).
        surprise: δ_i = E[a_i] - a_i, shape (M,).

    Returns:
        The loss, a scalar.

    Example:
        >>> import torch
        >>> probability_reward(torch.tensor([[0.5, 0.1]]).log(), torch.tensor([0.5]))
        tensor(0.1500)
    """
    return (surprise.unsqueeze(1) * log_prob.exp()).mean()


def noisy_graph_reward(
    log_prob: Tensor,  # (M, K)
    scores: Tensor,  # (M, K)
    surprise: Tensor,  # (M,)
) -> Tensor:
    r"""Average δ_i exp(s_ij), s the noisy score of a sampled edge: the authors' code.

    Args:
        log_prob: Logarithms of the sampled entries of P~, shape (M, K).
        scores: The same with the sampler's noise, shape (M, K).
        surprise: δ_i = E[a_i] - a_i, shape (M,).

    Returns:
        The loss, a scalar.
    """
    noise = (scores - log_prob).detach()
    return probability_reward(log_prob + noise, surprise)


def graph_likelihood(
    log_prob: Tensor,  # (M, K)
    log_total: Tensor,  # (M,)
    surprise: Tensor,  # (M,)
) -> Tensor:
    r"""Average δ_i log p(j_1, …, j_K), the likelihood of drawing the neighbours in order.

    .. math:: \log p = \sum_t \left( \log \tilde P_{ij_t}
        - \log \left( \sum_j \tilde P_{ij} - \sum_{s<t} \tilde P_{ij_s} \right) \right)

    Args:
        log_prob: Logarithms of the sampled entries of P~, in the order drawn, shape (M, K).
        log_total: Logarithms of the row sums of P~ over all that may be drawn, shape (M,).
        surprise: δ_i = E[a_i] - a_i, shape (M,).

    Returns:
        The loss, a scalar, as a mean over the K draws.
    """
    share = (log_prob - log_total.unsqueeze(1)).exp()
    taken = share.cumsum(1) - share
    # Rounding can take a whole row; the last of it is worth nothing then.
    left = (1 - taken).clamp(min=1e-6)
    log_likelihood = log_prob - log_total.unsqueeze(1) - left.log()
    return (surprise.unsqueeze(1) * log_likelihood.clamp(min=LOG_FLOOR)).mean()


def running_mean(previous: Tensor, current: Tensor, *, keep: float = 0.95) -> Tensor:
    """Move an expectation towards what has just been seen.

    Example:
        >>> import torch
        >>> running_mean(torch.tensor(0.5), torch.tensor(1.0))
        tensor(0.5250)
    """
    return keep * previous + (1 - keep) * current
