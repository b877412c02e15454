import pytest
import torch
import torch.nn.functional as F
from torch_geometric.nn import GCNConv

from bpgnn.errors import InputError
from bpgnn.infer.spaces import make_metric
from bpgnn.methods.ddgm import DDGME, DDGMEHH, DDGMH, DDGMSS, DDGMSettings
from bpgnn.randomness import seeded_globally

KINDS = {"ddgm-e": DDGME, "ddgm-h": DDGMH, "ddgm-ehh": DDGMEHH, "ddgm-ss": DDGMSS}


def built(kind, problem, **changes):
    with seeded_globally(0):
        return KINDS[kind].build(KINDS[kind].preset("published", "x").changed(changes), problem)


def convolved(layer, states, edges):
    twin = GCNConv(*layer.weight.shape)
    with torch.no_grad():
        twin.lin.weight.copy_(layer.weight.T)
        twin.bias.copy_(layer.bias)
    return twin(states, edges)


@pytest.mark.parametrize("kind", KINDS)
def test_the_forward_pass_is_that_of_the_paper(kind, plain_problem):
    method = built(kind, plain_problem).eval()
    output = method(plain_problem, generator=torch.Generator().manual_seed(0))
    network, observed = method.network, plain_problem.graph.edge_index
    states = F.leaky_relu(plain_problem.features @ network.input.weight + network.input.bias, 0.1)
    drawn = output.detail[0][0]
    (layer,) = network.boolean[0].embedding.layers
    torch.testing.assert_close(drawn.inference.latent, convolved(layer, states, observed))
    (sampled,) = output.draws
    assert sampled.in_degree.tolist() == [5] * 30
    for layer in network.layers:
        states = F.relu(convolved(layer, states, sampled.edge_index))
    first, second = network.head
    states = F.leaky_relu(states @ first.weight + first.bias, 0.1) @ second.weight + second.bias
    torch.testing.assert_close(output.logits[0], states)


@pytest.mark.parametrize("kind", KINDS)
def test_edge_probabilities_come_from_the_distance_in_its_space(kind, plain_problem):
    method = built(kind, plain_problem)
    drawn = method(plain_problem, generator=torch.Generator().manual_seed(0)).detail[0][0]
    metric = make_metric(method.settings.metric, method.settings.latent_dim)
    points = metric.embed(drawn.inference.latent)
    source, target = drawn.graph.edge_index
    wanted = -torch.tensor(method.settings.temperature).exp() * metric.squared_between(
        points[target], points[source]
    )
    torch.testing.assert_close(drawn.log_prob.flatten(), wanted, rtol=1e-4, atol=1e-5)


def test_the_classifier_learns_from_the_task_and_the_graph_from_the_graph_loss(plain_problem):
    method = built("ddgm-e", plain_problem)
    losses = method.losses(
        method(plain_problem, generator=torch.Generator().manual_seed(0)), plain_problem
    )
    graph = list(method.network.boolean.parameters())
    others = [*method.network.layers.parameters(), *method.network.head.parameters()]
    for name, reached, untouched in (("task", others, graph), ("graph", graph, others)):
        gradients = torch.autograd.grad(
            losses[name], [*reached, *untouched], allow_unused=True, retain_graph=True
        )
        assert all(gradient is not None for gradient in gradients[: len(reached)])
        assert all(gradient is None for gradient in gradients[len(reached) :])


def test_the_graph_loss_is_the_reward_of_probabilities(plain_problem):
    method = built("ddgm-h", plain_problem)
    output = method(plain_problem, generator=torch.Generator().manual_seed(0))
    train = plain_problem.train
    right = output.logits[0][train].argmax(1) == plain_problem.labels[train]
    wanted = ((0.5 - right.float()).unsqueeze(1) * output.detail[0][0].log_prob[train].exp()).mean()
    torch.testing.assert_close(method.losses(output, plain_problem)["graph"], wanted)


@torch.no_grad()
def test_validation_judges_the_sum_of_sampled_predictions_as_the_authors_do(plain_problem):
    method = built("ddgm-e", plain_problem).eval()
    output = method(plain_problem, generator=torch.Generator().manual_seed(0), num_samples=10)
    nodes, labels = torch.tensor([3, 4]), torch.tensor([1, 2])
    total = torch.stack([logits.softmax(1) for logits in output.logits]).sum(0)[nodes]
    target = torch.eye(3)[labels]
    wanted = -(target * total.sigmoid().log() + (1 - target) * (1 - total.sigmoid()).log()).mean()
    assert method.validation_loss(output, nodes, labels) == pytest.approx(float(wanted), rel=1e-5)
    chosen = output.probabilities()[nodes, labels]
    other = built("ddgm-e", plain_problem, stop_on="likelihood")
    found = other.validation_loss(output, nodes, labels)
    assert found == pytest.approx(float(-chosen.log().mean()))


def test_the_observed_graph_cannot_enter_the_probabilities():
    with pytest.raises(InputError, match="`residual` cannot be 'boolean'"):
        DDGMSettings().changed({"residual": "boolean"})


@pytest.mark.parametrize("kind", KINDS)
def test_no_number_is_lost_in_many_steps_at_a_large_rate(kind, plain_problem):
    """Points meet, and are driven to the edge of the disk and to the antipode."""
    method = built(kind, plain_problem, learning_rate=0.3)
    optimizer, generator = method.make_optimizer(), torch.Generator().manual_seed(0)
    for _ in range(150):
        output = method(plain_problem, generator=generator)
        loss = sum(method.losses(output, plain_problem).values())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        method.observe(output, plain_problem)
    assert all(bool(torch.isfinite(p).all()) for p in method.parameters())


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_no_number_is_lost_in_two_thousand_steps(kind, plain_problem):
    method = built(kind, plain_problem)
    optimizer, generator = method.make_optimizer(), torch.Generator().manual_seed(0)
    for _ in range(2000):
        output = method(plain_problem, generator=generator)
        optimizer.zero_grad()
        sum(method.losses(output, plain_problem).values()).backward()
        optimizer.step()
        method.observe(output, plain_problem)
        assert all(bool(torch.isfinite(p).all()) for p in method.parameters())
