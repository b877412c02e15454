"""Entries of A ⋄ P by compiled code, held to the definition in tensors."""

import pytest
import torch

from bpgnn.infer import boolean
from bpgnn.infer.boolean import BooleanProduct
from bpgnn.infer.entries import log_entries
from bpgnn.infer.probabilities import KernelProbabilities
from bpgnn.infer.spaces import make_metric
from bpgnn.infer.witness import Votes, witness_graph
from tests.infer.examples import METRIC_NAMES, graph_of

NODES = 12


def case(metric_name, sharpness=0.7, *, hub=False):
    generator = torch.Generator().manual_seed(1)
    raw = torch.randn(NODES, 4, generator=generator, dtype=torch.double)
    raw[3] = raw[4]  # distance zero
    pairs = [(0, j) for j in range(1, NODES)] if hub else [(0, 1), (1, 2), (3, 4), (4, 7)]
    witnesses = witness_graph(graph_of(pairs, NODES), self_loops=False)
    weight = torch.randn(witnesses.num_edges, generator=generator, dtype=torch.double)
    edges = torch.randint(NODES, (2, 40), generator=generator)
    metric = make_metric(metric_name, 4).double()
    return raw, torch.tensor(sharpness).double(), weight, witnesses, metric, edges


def both(raw, sharpness, weight, witnesses, metric, edges):
    kernel = KernelProbabilities(metric.embed(raw), sharpness, metric)
    votes = Votes(weight, weight.new_zeros(NODES))
    plain = BooleanProduct(witnesses, votes, kernel).log_sums(edges)
    return log_entries(witnesses, weight, kernel, edges), plain


@pytest.mark.parametrize("metric_name", METRIC_NAMES)
@pytest.mark.parametrize("hub", [True, False])
def test_entries_and_gradients_are_those_of_the_definition(metric_name, hub):
    raw, sharpness, weight, witnesses, metric, edges = case(metric_name, hub=hub)
    inputs = [raw, sharpness, weight]
    learned = [part.requires_grad_() for part in inputs] + list(metric.parameters())
    ours, plain = both(*inputs, witnesses, metric, edges)
    torch.testing.assert_close(ours, plain)
    pull = torch.linspace(-1, 1, 40, dtype=torch.double)
    there = plain > -torch.inf
    found = torch.autograd.grad((pull * ours)[there].sum(), learned, retain_graph=True)
    wanted = torch.autograd.grad((pull * plain)[there].sum(), learned)
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("metric_name", METRIC_NAMES)
def test_gradients_are_those_of_finite_differences(metric_name):
    raw, sharpness, weight, witnesses, metric, edges = case(metric_name)
    raw[3] += 0.1
    edges = edges[:, witnesses.in_degree[edges[1]] > 0]

    def entries(raw, sharpness, weight):
        return both(raw, sharpness, weight, witnesses, metric, edges)[0]

    inputs = tuple(part.requires_grad_() for part in (raw, sharpness, weight))
    assert torch.autograd.gradcheck(entries, inputs)


def test_an_entry_that_nobody_votes_on_is_minus_infinity_and_pulls_at_nothing():
    raw, sharpness, weight, witnesses, metric, _ = case("euclidean")
    raw.requires_grad_()
    edges = torch.tensor([[0, 1], [9, 1]])  # node 9 has no witness
    ours, _ = both(raw, sharpness, weight, witnesses, metric, edges)
    assert ours[0] == -torch.inf
    ours[1].backward()
    assert raw.grad is not None
    assert torch.all(raw.grad.isfinite())


def test_far_points_do_not_underflow():
    raw, sharpness, weight, witnesses, metric, edges = case("euclidean", sharpness=1e4)
    ours, plain = both(raw, sharpness, weight, witnesses, metric, edges)
    torch.testing.assert_close(ours, plain)
    assert float(ours[ours > -torch.inf].min()) < -1000


def test_large_numbers_of_votes_are_left_to_compiled_code(monkeypatch):
    raw, sharpness, weight, witnesses, metric, edges = case("euclidean")
    product = BooleanProduct(
        witnesses,
        Votes(weight, weight.new_zeros(NODES)),
        KernelProbabilities(raw, sharpness, metric),
    )
    plain = product.log_entries(edges)
    monkeypatch.setattr(boolean, "COMPILED_FROM", 0)
    monkeypatch.setattr(BooleanProduct, "log_sums", None)
    torch.testing.assert_close(product.log_entries(edges), plain)


def test_gradients_do_not_depend_on_the_number_of_threads():
    raw, sharpness, weight, witnesses, metric, _ = case("euclidean", hub=True)
    raw.requires_grad_()
    edges = torch.stack([torch.arange(40) % NODES, torch.arange(40) * NODES // 40])
    grads, before = [], torch.get_num_threads()
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            entries, _ = both(raw, sharpness, weight, witnesses, metric, edges)
            grads.append(torch.autograd.grad(entries.sum(), raw)[0])
    finally:
        torch.set_num_threads(before)
    assert torch.equal(grads[0], grads[1])
