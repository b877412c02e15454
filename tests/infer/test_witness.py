"""Who votes on a node's edges, and with what weight."""

import torch

from bpgnn.infer.witness import (
    equal_votes,
    gated_votes,
    mean_log_likeness,
    mixed_votes,
    witness_graph,
)
from tests.infer.examples import make, observed_graph


def weights(votes, witnesses):
    matrix = torch.zeros(6, 6, dtype=torch.double)
    matrix[witnesses.targets, witnesses.sources] = votes.log_weight.double().exp()
    return matrix


def test_each_node_joins_its_own_witnesses_when_asked():
    graph = observed_graph("isolated")
    assert witness_graph(graph, self_loops=True).in_degree.tolist() == [2, 3, 2, 1, 1, 1]
    assert witness_graph(graph, self_loops=False).in_degree.tolist() == [1, 2, 1, 0, 0, 0]


def test_the_own_vote_in_a_weighted_graph_is_the_mean_of_the_others():
    graph = observed_graph("path", weighted=True)
    witnesses = witness_graph(graph, self_loops=True)
    matrix = torch.zeros(6, 6)
    matrix[witnesses.targets, witnesses.sources] = witnesses.weights
    others = matrix - torch.diag(matrix.diagonal())
    torch.testing.assert_close(matrix.diagonal(), others.sum(1) / (others > 0).sum(1))


def test_votes_of_a_node_add_up_to_one():
    witnesses = witness_graph(observed_graph("star"), self_loops=True)
    kernel = make("kernel")[0]
    share = torch.linspace(0.1, 0.9, 6, dtype=torch.double)
    for votes in (
        equal_votes(witnesses),
        gated_votes(witnesses, kernel, torch.tensor(1.0)),
        mixed_votes(witnesses, share),
    ):
        torch.testing.assert_close(weights(votes, witnesses).sum(1), torch.ones(6).double())


def test_a_whole_own_share_leaves_the_own_vote_alone():
    witnesses = witness_graph(observed_graph("path"), self_loops=True)
    votes = mixed_votes(witnesses, torch.full((6,), 1.0, dtype=torch.double))
    torch.testing.assert_close(weights(votes, witnesses), torch.eye(6).double())


def test_gates_follow_likeness():
    witnesses = witness_graph(observed_graph("star"), self_loops=True)
    kernel = make("kernel")[0]
    matrix = weights(gated_votes(witnesses, kernel, torch.tensor(1.0)), witnesses)
    p = kernel.to_dense()[0]
    torch.testing.assert_close(matrix[0], p / p.sum())


def test_mean_likeness_leaves_oneself_out():
    witnesses = witness_graph(observed_graph("path"), self_loops=True)
    kernel = make("kernel")[0]
    log_p = kernel.log_dense()
    found = mean_log_likeness(witnesses, kernel)
    torch.testing.assert_close(found[0], log_p[0, 1])
    torch.testing.assert_close(found[2], (log_p[2, 1] + log_p[2, 3]) / 2)
