import json
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from torch_geometric.nn import GCNConv

from bpgnn.data.synthetic import block_model
from bpgnn.errors import InputError, NotEnoughMemoryError
from bpgnn.graph import Graph
from bpgnn.method import Sizes
from bpgnn.methods.lds import LDS, LDSSettings
from bpgnn.nn.pairs import NodePairs
from bpgnn.nn.sparse import SparseMatrix
from bpgnn.randomness import seeded_globally
from bpgnn.training.fit import fit
from bpgnn.training.folder import HISTORY, RunFolder
from bpgnn.training.memory import check_memory
from bpgnn.training.plan import Plan
from bpgnn.training.problem import make_problem

NODES = 24
QUICK = {"hidden": 5, "candidates_k": 3, "unrolled_steps": 3, "inner_steps": 8}


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def settings(**changes):
    return LDSSettings(**{**QUICK, "dropout": 0.0, **changes})


@pytest.fixture
def data():
    """Twenty-four nodes, of which the last has no neighbour."""
    data = block_model(NODES, num_classes=3, mean_degree=4, num_features=7, seed=0)
    edges = data.graph.edge_index
    keep = (edges != NODES - 1).all(0)
    return data.with_graph(Graph(edges[:, keep], NODES))


@pytest.fixture
def problem(data):
    """The same in double precision, for comparisons."""
    return make_problem(data, settings(), dtype=torch.double)


def built(problem, seed=0, **changes):
    with seeded_globally(seed):
        return LDS.build(settings(**changes), problem).double()


def halfway(method, seed=3):
    """Give every pair a probability strictly between zero and one."""
    noise = torch.rand(method.probability.shape, generator=seeded(seed), dtype=torch.double)
    with torch.no_grad():
        method.probability.copy_(0.1 + 0.8 * noise)
    return method


def one_step(method, problem, generator, optimizer):
    output = method(problem, generator=generator)
    loss = method.losses(output, problem)["outer"]
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    method.observe(output, problem)
    return float(loss.detach())


def matrix(graph):
    dense = torch.zeros(graph.num_nodes, graph.num_nodes, dtype=torch.double)
    dense[graph.targets, graph.sources] = 1.0
    return dense


def gcn(adjacency, features, first, second):
    """Kipf and Welling's network by its definition, on a dense matrix."""
    looped = adjacency + torch.eye(len(adjacency), dtype=torch.double)
    root = looped.sum(1).pow(-0.5).diag()
    propagator = root @ looped @ root
    return propagator @ (propagator @ features @ first).relu() @ second


def outer_loss_by_definition(problem, adjacencies, weights, rate, decay):
    """Unroll Adam from its beginning in plain tensors, on matrices that may have gradients."""
    train, labels = problem.train, problem.labels
    means, squares = [0.0, 0.0], [0.0, 0.0]
    for step, adjacency in enumerate(adjacencies[:-1], start=1):
        logits = gcn(adjacency, problem.features, *weights)
        loss = F.cross_entropy(logits[train], labels[train]) + decay / 2 * (weights[0] ** 2).sum()
        gradients = torch.autograd.grad(loss, weights, create_graph=True)
        for place, gradient in enumerate(gradients):
            means[place] = 0.9 * means[place] + 0.1 * gradient
            squares[place] = 0.999 * squares[place] + 0.001 * gradient**2
        weights = [
            weight - rate * mean / (1 - 0.9**step) / ((square / (1 - 0.999**step)).sqrt() + 1e-8)
            for weight, mean, square in zip(weights, means, squares, strict=True)
        ]
    logits = gcn(adjacencies[-1], problem.features, *weights)
    return F.cross_entropy(logits[problem.outer], labels[problem.outer])


@pytest.mark.parametrize("form", ["sparse", "dense"])
def test_the_outer_gradient_is_that_of_plain_autograd_on_the_sampled_matrices(problem, form):
    method = halfway(built(problem, parameters=form))
    output = method(problem, generator=seeded())
    loss = method.losses(output, problem)["outer"]
    found = torch.autograd.grad(loss, [method.probability, method.inner_rate])

    matrices = [matrix(graph).requires_grad_() for graph in output.draws]
    weights = [weight.clone().requires_grad_() for weight in (method.weight_0, method.weight_1)]
    place = method.inner_rate.detach().clone().requires_grad_()
    rate = 1e-4 + place.sigmoid() * (0.05 - 1e-4)
    expected = outer_loss_by_definition(problem, matrices, weights, rate, 5e-4)
    torch.testing.assert_close(loss, expected)
    *over_matrices, over_rate = torch.autograd.grad(expected, [*matrices, place])
    total = torch.stack(over_matrices).sum(0)
    i, j = method.pairs.ends
    torch.testing.assert_close(found[0], total[i, j] + total[j, i], rtol=1e-5, atol=1e-9)
    torch.testing.assert_close(found[1], over_rate, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("form", ["sparse", "dense"])
def test_over_relaxed_graphs_the_outer_gradient_is_that_of_finite_differences(
    problem, form, monkeypatch
):
    """The probabilities themselves in the place of samples make the loss differentiable."""
    method = halfway(built(problem, parameters=form, dropout=0.4))
    monkeypatch.setattr(
        LDS, "_drawn", lambda self, number, generator: self.latent_graphs(None) * number
    )

    def loss():
        return method.losses(method(problem, generator=seeded()), problem)["outer"]

    theta, rate = torch.autograd.grad(loss(), [method.probability, method.inner_rate])
    small = 1e-5
    for parameter, gradient in ((method.probability, theta), (method.inner_rate, rate)):
        values, slopes = parameter.detach().view(-1), gradient.view(-1)
        for place in range(0, len(values), 19):
            ends = []
            for change in (small, -small):
                values[place] += change
                ends.append(float(loss().detach()))
                values[place] -= change
            expected = (ends[0] - ends[1]) / (2 * small)
            assert float(slopes[place]) == pytest.approx(expected, rel=1e-4, abs=1e-8)


def test_all_pairs_as_candidates_make_the_sparse_form_the_dense_one(problem):
    sparse = halfway(built(problem, candidates_k=NODES - 1))
    dense = halfway(built(problem, parameters="dense"))
    assert torch.equal(sparse.pairs.ends, dense.pairs.ends)
    outcomes = []
    for method in (sparse, dense):
        optimizer, generator = method.make_optimizer(), seeded()
        losses = [one_step(method, problem, generator, optimizer) for _ in range(4)]
        predicted = method.eval()(problem, generator=generator, num_samples=3)
        outcomes.append((torch.tensor(losses), *method.state_dict().values(), predicted.logits))
    for one, other in zip(*outcomes, strict=True):
        torch.testing.assert_close(one, other)


def test_inner_steps_are_those_of_torchs_adam_and_the_gcn_of_pyg(problem):
    method = halfway(built(problem, unrolled_steps=3, inner_steps=9, weight_decay=0.1))
    layers = [GCNConv(*one.shape, bias=False) for one in (method.weight_0, method.weight_1)]
    for layer, weight in zip(layers, (method.weight_0, method.weight_1), strict=True):
        layer.lin.weight = torch.nn.Parameter(weight.T.clone())
    optimizer = torch.optim.Adam(
        [
            {"params": layers[0].parameters(), "weight_decay": 0.1},
            {"params": layers[1].parameters()},
        ],
        lr=0.02,
    )
    generator = seeded()
    for _ in range(2):
        output = method(problem, generator=generator)
        for graph in output.draws[:-1]:
            hidden = layers[0](problem.features, graph.edge_index).relu()
            logits = layers[1](hidden, graph.edge_index)[problem.train]
            optimizer.zero_grad()
            F.cross_entropy(logits, problem.labels[problem.train]).backward()
            optimizer.step()
        method.observe(output, problem)
    assert int(method.count) == 6
    torch.testing.assert_close(method.weight_0, layers[0].lin.weight.T.detach())
    torch.testing.assert_close(method.weight_1, layers[1].lin.weight.T.detach())


def test_probability_begins_at_the_observed_edges_among_them_and_the_nearest(problem):
    method = built(problem)
    start = method.probability
    joined = method.pairs.ends[:, start == 1]
    assert torch.equal(joined, problem.graph.undirected_pairs())
    assert set(start.tolist()) == {0.0, 1.0}
    assert method.pairs.count <= joined.size(1) + 3 * NODES
    # The node without an edge may get some.
    assert (method.pairs.ends == NODES - 1).any()
    dense = built(problem, parameters="dense")
    assert dense.pairs.count == NODES * (NODES - 1) // 2
    assert torch.equal(dense.pairs.ends[:, dense.probability == 1], joined)


@pytest.mark.parametrize("graph", [None, "empty"])
@pytest.mark.parametrize("form", ["sparse", "dense"])
def test_without_observed_edges_probability_begins_at_the_nearest_neighbours(problem, form, graph):
    alone = replace(problem, graph=graph and Graph.empty(problem.num_nodes))
    method = built(alone, parameters=form)
    similar = F.normalize(problem.features, dim=1) @ F.normalize(problem.features, dim=1).T
    near = similar.fill_diagonal_(-2).topk(3).indices
    expected = {(min(i, j), max(i, j)) for i, row in enumerate(near.tolist()) for j in row}
    found = method.pairs.ends[:, method.probability == 1].T.tolist()
    assert {tuple(pair) for pair in found} == expected
    output = method(alone, generator=seeded())
    assert torch.isfinite(method.losses(output, alone)["outer"])


def test_candidates_of_probability_zero_have_a_gradient(problem):
    method = built(problem)
    method.losses(method(problem, generator=seeded()), problem)["outer"].backward()
    at_zero = method.probability.grad[method.probability == 0]
    assert (at_zero != 0).float().mean() > 0.9


def test_sampled_frequencies_are_the_probabilities(problem):
    method = halfway(built(problem)).eval()
    with torch.no_grad():
        method.probability[:2] = torch.tensor([0.0, 1.0])
    number = 400
    draws = method(problem, generator=seeded(), num_samples=number).draws
    shares = sum(method.pairs.found_in(graph).double() for graph in draws) / number
    theta = method.probability.detach()
    assert shares[:2].tolist() == [0, 1]
    error = (theta * (1 - theta) / number).sqrt()
    assert ((shares - theta).abs() <= 4.5 * error).all()
    assert all(graph.is_undirected for graph in draws[:5])


def test_after_a_step_probabilities_lie_between_zero_and_one(problem):
    method = built(problem, learning_rate=50.0)
    optimizer = method.make_optimizer()
    output = method(problem, generator=seeded())
    method.losses(output, problem)["outer"].backward()
    optimizer.step()
    moved = method.probability.detach().clone()
    assert moved.min() < 0
    assert moved.max() > 1
    method.observe(output, problem)
    assert torch.equal(method.probability, moved.clamp(0, 1))


def test_outer_steps_are_gradient_descent_of_falling_size(problem):
    method = built(problem, learning_rate=0.5)
    factors = [method.rate_factor(step) for step in (0, 1, 1000)]
    assert factors == pytest.approx([1, 1 / 1.001, 0.5])
    output = method(problem, generator=seeded())
    before = method.inner_rate.detach().clone()
    method.losses(output, problem)["outer"].backward()
    method.make_optimizer().step()
    torch.testing.assert_close(method.inner_rate, before - 0.5 * method.inner_rate.grad)


def test_the_inner_step_size_begins_as_set_and_stays_within_its_bounds(problem):
    method = built(problem)
    assert float(method.step_size.detach()) == pytest.approx(0.02)
    for extreme, bound in ((-50.0, 1e-4), (50.0, 0.05)):
        with torch.no_grad():
            method.inner_rate.fill_(extreme)
        assert float(method.step_size.detach()) == pytest.approx(bound)


def test_an_inner_run_ends_after_its_steps_and_the_next_begins_anew(problem):
    method = built(problem, inner_patience=100)
    optimizer, generator = method.make_optimizer(), seeded()
    counts, due = [], []
    for step in range(1, 5):
        one_step(method, problem, generator, optimizer)
        counts.append(int(method.count))
        due.append(method.is_due(step))
    # Steps of three, of which eight are allowed.
    assert counts == [3, 6, 8, 3]
    assert due == [False, False, True, False]


def test_the_weights_of_a_finished_run_are_kept_until_the_next_step(problem):
    method = built(problem, inner_patience=100)
    optimizer, generator = method.make_optimizer(), seeded()
    for _ in range(3):
        one_step(method, problem, generator, optimizer)
    trained = method.weight_0.clone()
    method.eval()(problem, generator=seeded(), num_samples=2)
    assert torch.equal(method.weight_0, trained)
    output = method.train()(problem, generator=generator)
    bound = (6 / (7 + 5)) ** 0.5
    steps = output.detail.state.count * 0.06
    assert output.detail.state.weights[0].abs().max() <= bound + steps
    assert not torch.allclose(output.detail.state.weights[0], trained, atol=steps)


def test_an_inner_run_ends_when_its_objective_stops_falling(problem):
    method = built(problem, inner_patience=4, inner_steps=1000, unrolled_steps=1)
    output = method(problem, generator=seeded())
    falls = [1.0, 0.9, 0.8999, 0.89, 0.95, 0.8895, 0.9, 0.8892]
    ended = []
    for count, value in enumerate(falls, start=1):
        run = replace(
            output.detail,
            state=replace(output.detail.state, count=count),
            objectives=(torch.tensor(value),),
        )
        method.observe(replace(output, detail=run), problem)
        ended.append(method.is_due(count))
    assert ended == [False] * 7 + [True]


def test_predictions_are_the_mean_logits_over_sampled_graphs(problem):
    method = halfway(built(problem)).eval()
    output = method(problem, generator=seeded(), num_samples=5)
    assert len(output.draws) == 5
    expected = [
        gcn(matrix(graph), problem.features, method.weight_0, method.weight_1)
        for graph in output.draws
    ]
    assert output.logits.shape == (1, NODES, 3)
    torch.testing.assert_close(output.logits[0], torch.stack(expected).mean(0))


@pytest.mark.parametrize("training", [False, True])
def test_draws_that_are_given_are_taken_as_they_are(problem, training):
    method = halfway(built(problem)).train(training)
    output = method(problem, generator=seeded(1), num_samples=3)
    again = method(problem, generator=seeded(2), num_samples=3, draws=output.draws)
    assert torch.equal(again.logits, output.logits)
    other = method(problem, generator=seeded(2), num_samples=3)
    assert not torch.equal(other.logits, output.logits)


def test_relabelling_nodes_relabels_the_prediction(problem):
    method = halfway(built(problem)).eval()
    output = method(problem, generator=seeded(), num_samples=4)
    place = torch.randperm(NODES, generator=seeded(5))
    back = place.argsort()
    moved = replace(
        problem,
        features=problem.features[back],
        labels=problem.labels[back],
        graph=Graph.from_edge_index(place[problem.graph.edge_index], NODES),
        train=place[problem.train],
        outer=place[problem.outer],
    )
    draws = tuple(Graph.from_edge_index(place[one.edge_index], NODES) for one in output.draws)
    found = method(moved, generator=seeded(1), draws=draws)
    torch.testing.assert_close(found.logits[0, place], output.logits[0])


def test_the_latent_graph_has_the_probabilities_as_weights_in_both_directions(problem):
    method = halfway(built(problem))
    with torch.no_grad():
        method.probability[0] = 0.0
    output = method.eval()(problem, generator=seeded())
    (graph,) = method.latent_graphs(output)
    assert graph.is_undirected
    assert graph.num_edges == 2 * (method.pairs.count - 1)
    dense = torch.zeros(NODES, NODES, dtype=torch.double)
    dense[graph.targets, graph.sources] = graph.edge_weight
    i, j = method.pairs.ends
    assert torch.equal(dense[i, j], method.probability.detach())
    assert torch.equal(dense[j, i], method.probability.detach())


def test_dropout_acts_in_inner_steps_only(problem):
    method = built(problem, dropout=0.5)
    draws = method(problem, generator=seeded()).draws
    one, other = (method(problem, generator=seeded(s), draws=draws).logits for s in (1, 2))
    assert not torch.equal(one, other)
    method.eval()
    one, other = (method(problem, generator=seeded(s), draws=draws).logits for s in (1, 2))
    assert torch.equal(one, other)


def test_sparse_features_give_what_dense_ones_give(problem):
    features = problem.features.clamp(min=0)
    dense = replace(problem, features=features)
    sparse = replace(problem, features=SparseMatrix.from_csr(features.to_sparse_csr()))
    outcomes = []
    for one in (dense, sparse):
        method = built(one, dropout=0.3)
        optimizer, generator = method.make_optimizer(), seeded()
        for _ in range(2):
            one_step(method, one, generator, optimizer)
        outcomes.append(method.state_dict())
    for name, value in outcomes[0].items():
        torch.testing.assert_close(outcomes[1][name], value)


VARIANTS = [
    {},
    {"parameters": "dense"},
    {"unrolled_steps": 1},
    {"candidates_k": 0},
    {"candidates_k": 50},
    {"candidates_metric": "minkowski"},
    {"dropout": 0.5, "class_weight": "balanced"},
]


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
@pytest.mark.parametrize("graph", ["plain", "weighted", "directed", "empty", "none"])
def test_every_option_gives_finite_losses_and_gradients(data, variant, graph):
    problem = make_problem(data, settings(**variant))
    observed = problem.graph
    if graph == "weighted":
        weight = torch.rand(observed.num_edges, generator=seeded()) + 0.1
        problem = replace(problem, graph=Graph(observed.edge_index, NODES, weight))
    elif graph == "directed":
        edges = observed.edge_index[:, observed.sources < observed.targets]
        problem = replace(problem, graph=Graph.from_edge_index(edges, NODES))
    elif graph == "empty":
        problem = replace(problem, graph=Graph.empty(NODES))
    elif graph == "none":
        problem = replace(problem, graph=None)
    with seeded_globally(0):
        method = LDS.build(settings(**variant), problem)
    optimizer, generator = method.make_optimizer(), seeded()
    for _ in range(4):
        one_step(method, problem, generator, optimizer)
    for name, value in method.state_dict().items():
        assert torch.isfinite(value).all() or name == "lowest", name
    for parameter in method.parameters():
        assert torch.isfinite(parameter.grad).all()


def test_a_class_without_training_labels_is_no_obstacle(problem):
    train = problem.train[problem.labels[problem.train] != 2]
    problem = replace(problem, train=train)
    method = built(problem)
    loss = one_step(method, problem, seeded(), method.make_optimizer())
    assert loss > 0
    assert torch.isfinite(method.probability.grad).all()


def plan(seed=0, **changes):
    quick = {**QUICK, "max_steps": 9, "inner_steps": 6, "num_samples": 2}
    return Plan(method="lds", seed=seed, changes={**quick, **changes})


@pytest.fixture(scope="module")
def small():
    return block_model(60, num_classes=3, mean_degree=6, num_features=8, seed=0)


class Killed(Exception):
    """Stand for the end of a process in the middle of a training."""


def killed_at(step):
    def watch(seen):
        if seen.step == step:
            raise Killed

    return watch


def history(folder):
    return [json.loads(line) for line in folder.read(HISTORY).decode().splitlines()]


@pytest.mark.parametrize("step", [2, 5])
def test_a_run_killed_at_any_step_and_resumed_ends_as_an_undisturbed_one(small, tmp_path, step):
    undisturbed = RunFolder(tmp_path / "whole")
    whole = fit(small, plan(), folder=undisturbed)
    assert [line["step"] for line in history(undisturbed)] == [2, 4, 6, 8, 9]
    folder = RunFolder(tmp_path / "killed")
    with pytest.raises(Killed):
        fit(small, plan(), folder=folder, watch=killed_at(step), checkpoint_seconds=0)
    resumed = fit(small, plan(), folder=folder, resume=True)
    assert torch.equal(resumed.probabilities, whole.probabilities)
    assert history(folder) == history(undisturbed)
    assert torch.equal(resumed.latent_graph.edge_index, whole.latent_graph.edge_index)
    for name, value in whole.method.state_dict().items():
        assert torch.equal(resumed.method.state_dict()[name], value), name


def test_the_same_seed_gives_the_same_result_and_another_does_not(small):
    one, same, other = (fit(small, plan(seed)).probabilities for seed in (1, 1, 2))
    assert torch.equal(one, same)
    assert not torch.equal(one, other)


def test_training_lowers_the_outer_loss_and_right_edges_become_likelier_than_wrong_ones():
    noisy = block_model(60, num_classes=3, wrong_edges=0.4, feature_noise=1.0, seed=2)
    losses = []
    found = fit(
        noisy,
        plan(max_steps=40, inner_steps=30, inner_patience=30, learning_rate=10.0),
        watch=lambda seen: losses.append(seen.losses["outer"]),
    )
    # At the end of the first inner run and of the fourth.
    assert losses[39] < 0.8 * losses[9] < 0.8 * losses[0]
    i, j = found.method.pairs.ends
    alike = noisy.labels[i] == noisy.labels[j]
    observed = found.method.pairs.found_in(noisy.graph)
    theta = found.method.probability.detach()
    assert theta[observed & alike].mean() > theta[observed & ~alike].mean() + 0.02
    assert found.record.test_accuracy > 0.5
    assert found.record.sampler == "bernoulli"


def test_the_preset_published_has_the_authors_settings():
    for dataset in ("cora", "citeseer"):
        found = LDS.preset("published", dataset)
        assert (found.split, found.outer_nodes) == ("public", "validation")
        assert (found.feature_scaling, found.select_by) == ("rows", "accuracy")
        assert (found.hidden, found.dropout, found.weight_decay) == (16, 0.5, 5e-4)
        assert (found.inner_steps, found.inner_patience, found.inner_progress) == (400, 20, 0.001)
        assert (found.patience, found.evaluate_every, found.num_samples) == (20, 1, 16)
        assert found.inner_learning_rate == 0.02
        assert found.unrolled_steps in (1, 5, 20)
        assert found.learning_rate in (1.0, 0.1)


def test_the_other_presets_take_their_outer_nodes_from_training():
    for dataset in ("cora", "photo", "my own"):
        paper, tuned = (LDS.preset(name, dataset) for name in ("paper", "tuned"))
        assert (paper.split, paper.hidden, paper.outer_nodes) == ("complete", 32, "train")
        assert (tuned.split, tuned.outer_nodes) == ("auto", "train")


def test_an_unknown_preset_is_met_with_the_nearest():
    with pytest.raises(InputError, match="no preset 'publishd' here. Did you mean published?"):
        LDS.preset("publishd", "cora")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"hidden": 0}, "`hidden` must be 1 or more"),
        ({"unrolled_steps": 0}, "`unrolled_steps` must be 1 or more"),
        ({"evaluate_every": 5}, "`evaluate_every` must be 1, but got 5"),
        ({"candidates_k": -1}, "`candidates_k` must be 0 or more"),
        ({"dropout": 1.0}, "`dropout` must be from 0 to below 1"),
        ({"inner_learning_rate": 0.1}, "`inner_learning_rate` must be between 0.0001 and 0.05"),
        ({"outer_nodes": "none"}, "`outer_nodes` must be `train` or `validation`"),
        ({"parameters": "denze"}, "`parameters` cannot be 'denze'. Did you mean dense"),
    ],
)
def test_settings_that_cannot_be_are_refused(changes, words):
    with pytest.raises(InputError, match=words):
        settings(**changes)


def test_a_problem_without_outer_nodes_is_refused(problem):
    with pytest.raises(InputError, match="needs labels for its outer problem"):
        built(replace(problem, outer=None))


def test_memory_grows_with_the_nodes_and_in_the_dense_form_with_their_square():
    small, large = (Sizes(n, 4 * n, 500, 50 * n, 3) for n in (20_000, 200_000))
    for form, factor in (("sparse", 10), ("dense", 100)):
        settled = settings(parameters=form, candidates_k=0)
        need = [LDS.memory(settled, sizes) for sizes in (small, large)]
        assert need[1] / need[0] == pytest.approx(factor, rel=0.15)


def test_the_dense_form_is_refused_where_it_does_not_fit(problem):
    features = torch.ones(1, 7).expand(10**6, 7)
    large = replace(problem, features=features, graph=None)
    with pytest.raises(NotEnoughMemoryError, match="Set `parameters=sparse`"):
        check_memory("lds", settings(parameters="dense"), large)


def test_pairs_are_not_part_of_the_state(problem):
    method = built(problem)
    assert isinstance(method.pairs, NodePairs)
    names = {"probability", "inner_rate", "count", "lowest", "stale", "finished"}
    names |= {f"{kind}_{layer}" for kind in ("weight", "mean", "square") for layer in (0, 1)}
    assert method.state_dict().keys() == names
