from dataclasses import replace
from itertools import pairwise

import pytest
import torch
import torch.nn.functional as F

from bpgnn.data.synthetic import block_model
from bpgnn.errors import InputError
from bpgnn.graph import Graph
from bpgnn.method import Problem, Sizes
from bpgnn.methods.slaps import SLAPS, SLAPSSettings
from bpgnn.nn.pattern import SparseValues
from bpgnn.nn.sparse import SparseMatrix
from bpgnn.randomness import seeded_globally
from bpgnn.training.fit import fit
from bpgnn.training.memory import check_memory
from bpgnn.training.plan import Plan

NODES = 24
GENERATORS = ["mlp-d", "mlp", "fp"]


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def settings(**changes):
    sizes = {"k": 4, "hidden": 6, "denoising_hidden": 7, "warm_up": 0}
    return SLAPSSettings(**{**sizes, "learning_rate": 0.05, "weight_decay": 0.0, **changes})


@pytest.fixture
def problem() -> Problem:
    """Words of twenty-four nodes in three classes; one has none, and one class no label."""
    draws = torch.rand(NODES, 12, generator=seeded(1)).double()
    classes = torch.arange(NODES) % 3
    draws += 0.35 * (torch.arange(12) % 3 == classes.unsqueeze(1))
    features = draws * (draws > 0.75)
    features[5] = 0.0
    train = torch.tensor([0, 1, 3, 4, 6, 7])
    labels = torch.full((NODES,), -1).index_copy(0, train, classes[train])
    return Problem(features, labels, None, train, 3)


def as_sparse(problem):
    return replace(problem, features=SparseMatrix.from_csr(problem.features.to_sparse_csr()))


def built(problem, seed=0, **changes):
    with seeded_globally(seed):
        return SLAPS.build(settings(**changes), problem).double()


def stirred(method):
    """Move the generator away from where it begins."""
    with torch.no_grad():
        for parameter in method.graph.parameters():
            parameter += 0.1 * torch.randn(parameter.shape, generator=seeded(3)).double()
    return method


def vectors_by_definition(method, features):
    graph = method.graph
    if method.settings.generator == "mlp":
        hidden = torch.relu(features @ graph.first + graph.first_bias)
        return hidden @ graph.second + graph.second_bias
    return torch.relu(features @ graph.first.diag()) @ graph.second.diag()


def adjacency_by_definition(method, features):
    """The paper's A in dense torch: top k + 1 cosines, ReLU, halves added, degrees divided."""
    if method.settings.generator == "fp":
        graph = F.elu(method.graph.logits) + 1
    else:
        unit = F.normalize(vectors_by_definition(method, features), dim=1)
        cosine = unit @ unit.t()
        best = cosine.topk(method.settings.k + 1)
        graph = F.relu(torch.zeros_like(cosine).scatter(1, best.indices, best.values))
    graph = (graph + graph.t()) / 2
    scale = (graph.sum(1) + 1e-10) ** -0.5
    return graph, scale.unsqueeze(1) * graph * scale


def gcn(network, adjacency, features):
    hidden = torch.relu(adjacency @ (features @ network.first + network.first_bias))
    return adjacency @ (hidden @ network.second.t() + network.second_bias)


@pytest.mark.parametrize("generator", GENERATORS)
@pytest.mark.parametrize("sparse", [False, True])
def test_predictions_losses_and_gradients_are_those_of_the_dense_definition(
    problem, generator, sparse
):
    without = {"denoising_dropout": 0.0, "denoising_adjacency_dropout": 0.0}
    without |= {"dropout": 0.0, "adjacency_dropout": 0.0, "feature_kind": "presence"}
    given = as_sparse(problem) if sparse else problem
    method = stirred(built(given, generator=generator, **without))
    output = method(given, generator=seeded())
    losses = method.losses(output, given)

    features = problem.features
    graph, adjacency = adjacency_by_definition(method, features)
    found = output.detail.adjacency
    found = found.to_dense() if isinstance(found, SparseValues) else found
    torch.testing.assert_close(found, graph)
    logits = gcn(method.classifier, adjacency, features)
    torch.testing.assert_close(output.logits[0], logits)
    masked = method.mask.draw(generator=seeded())
    hidden = torch.zeros(NODES, 12, dtype=torch.bool)
    hidden[masked.pattern.row, masked.pattern.column] = True
    guess = gcn(method.denoiser, adjacency, features.masked_fill(hidden, 0.0))
    denoising = F.binary_cross_entropy_with_logits(guess[hidden], features[hidden])
    task = F.cross_entropy(logits[problem.train], problem.labels[problem.train])
    torch.testing.assert_close(losses, {"denoising": 10 * denoising, "task": task})

    parameters = list(method.parameters())
    wanted = torch.autograd.grad(10 * denoising + task, parameters)
    torch.testing.assert_close(torch.autograd.grad(sum(losses.values()), parameters), wanted)


def test_the_first_steps_go_without_the_task_and_without_evaluation(problem):
    method = built(problem, warm_up=3, evaluate_every=2)
    names = []
    for step in range(5):
        output = method(problem, generator=seeded(step))
        names.append(sorted(method.losses(output, problem)))
        method.observe(output, problem)
    assert names == [["denoising"]] * 3 + [["denoising", "task"]] * 2
    assert [step for step in range(1, 9) if method.is_due(step)] == [4, 6, 8]


def test_without_a_weight_there_is_no_denoising_and_no_warm_up(problem):
    method = built(problem, denoising_weight=0.0, warm_up=3)
    assert sorted(method.losses(method(problem, generator=seeded()), problem)) == ["task"]


def wandering(problem, num_steps=9, **changes):
    """Let the generator jump at every step, and see the neighbours of each."""
    method = built(problem, **changes)
    seen = []
    for step in range(num_steps):
        with torch.no_grad():
            for parameter in method.graph.parameters():
                parameter.copy_(torch.rand(parameter.shape, generator=seeded(step)))
        output = method(problem, generator=seeded(step))
        method.observe(output, problem)
        seen.append(output.detail.neighbours)
    return seen


def test_among_all_nodes_as_candidates_every_step_finds_the_nearest(problem):
    exact = wandering(problem, generator="mlp")
    assert all(not torch.equal(one, two) for one, two in pairwise(exact))
    found = wandering(problem, generator="mlp", refresh_every=100, candidates=NODES)
    assert all(torch.equal(*pair) for pair in zip(found, exact, strict=True))


def test_between_two_searches_neighbours_are_chosen_among_the_candidates(problem):
    exact = wandering(problem, generator="mlp")
    few = wandering(problem, generator="mlp", refresh_every=3, candidates=5)
    # With as many candidates as neighbours those stay; searches are at 0, 1, 2, 3, 4, 6 and 8.
    last = [0, 1, 2, 3, 4, 4, 6, 6, 8]
    assert all(torch.equal(few[step], exact[last[step]]) for step in range(9))
    some = wandering(problem, generator="mlp", refresh_every=3, candidates=10)
    assert torch.equal(some[4], exact[4])
    shared = [
        (found.unsqueeze(2) == exact[5].unsqueeze(1)).any(2).sum() for found in (few[5], some[5])
    ]
    assert shared[0] < shared[1] < exact[5].numel()


@pytest.mark.parametrize("generator", ["mlp-d", "mlp"])
def test_evaluation_is_over_the_graph_of_the_last_training_step(problem, generator):
    method = built(problem, generator=generator)
    optimizer = method.make_optimizer()
    output = method(problem, generator=seeded())
    sum(method.losses(output, problem).values()).backward()
    optimizer.step()
    method.observe(output, problem)
    found = method.eval()(problem, generator=seeded())
    assert torch.equal(found.detail.similarity, output.detail.similarity)
    other = built(problem, seed=1, generator=generator).eval()
    other.load_state_dict(method.state_dict())
    assert torch.equal(other(problem, generator=seeded(1)).logits, found.logits)


def thinned_by_definition(method, features, kept):
    """A after entry after entry of its two halves was dropped or scaled up, in plain loops."""
    whole, _ = adjacency_by_definition(method, features)
    unit = F.normalize(vectors_by_definition(method, features), dim=1)
    best = (unit @ unit.t()).topk(method.settings.k + 1)
    thin = torch.zeros_like(whole)
    for i in range(NODES):
        for place in range(method.settings.k + 1):
            j, value = int(best.indices[i, place]), F.relu(best.values[i, place])
            slot = method.neighbours[i].tolist().index(j)
            thin[i, j] += value / 2 * kept[0, i, slot]
            thin[j, i] += value / 2 * kept[1, i, slot]
    scale = (whole.sum(1) + 1e-10) ** -0.5
    return scale.unsqueeze(1) * thin * scale


@pytest.mark.parametrize("generator", ["mlp-d", "mlp"])
def test_thinned_in_turn_classifier_and_evaluation_see_what_both_left_of_one_matrix(
    problem, generator
):
    rates = {"denoising_adjacency_dropout": 0.3, "adjacency_dropout": 0.4}
    own = {"generator": generator, "thin_in_turn": True, "dropout": 0.0, "warm_up": 1, **rates}
    method = stirred(built(problem, **own))
    output = method(problem, generator=seeded())
    assert output.detail.kept.unique().tolist() == pytest.approx([0.0, 1 / 0.7])
    method.observe(output, problem)
    output = method(problem, generator=seeded(1))
    method.observe(output, problem)
    assert method.kept.unique().tolist() == pytest.approx([0.0, 1 / 0.7 / 0.6])
    assert float((method.kept > 0).double().mean()) == pytest.approx(0.7 * 0.6, abs=0.1)

    expected = thinned_by_definition(method, problem.features, method.kept)
    torch.testing.assert_close(output.detail.seen.to_dense(), expected)
    denoised, seen = (output.detail.denoised.to_dense(), output.detail.seen.to_dense())
    assert (denoised > 0)[seen > 0].all()
    assert (denoised > 0).sum() > (seen > 0).sum()
    logits = gcn(method.classifier, expected, problem.features)
    torch.testing.assert_close(output.logits[0], logits)
    evaluated = method.eval()(problem, generator=seeded(2))
    torch.testing.assert_close(evaluated.logits[0], logits)
    again = method(problem, generator=seeded(3), draws=evaluated.draws)
    torch.testing.assert_close(again.logits, evaluated.logits)
    other = built(problem, seed=1, **own).eval()
    other.load_state_dict(method.state_dict())
    assert torch.equal(other(problem, generator=seeded(1)).logits, evaluated.logits)


@pytest.mark.parametrize("generator", ["mlp-d", "mlp"])
@pytest.mark.parametrize("trained", [False, True])
def test_relabelling_nodes_relabels_the_prediction(problem, generator, trained):
    method = stirred(built(problem, generator=generator))
    if trained:
        method.observe(method(problem, generator=seeded()), problem)
    method.eval()
    place = torch.randperm(NODES, generator=seeded(5))
    moved = replace(problem, features=problem.features[place.argsort()])
    found = method(moved, generator=seeded()).logits[0]
    torch.testing.assert_close(found[place], method(problem, generator=seeded()).logits[0])
    sparse = method(as_sparse(moved), generator=seeded()).logits[0]
    torch.testing.assert_close(sparse, found)


def test_the_graph_handed_out_has_the_learned_weights(problem):
    for generator in GENERATORS:
        method = stirred(built(problem, generator=generator)).eval()
        (graph,) = method.latent_graphs(method(problem, generator=seeded()))
        dense, _ = adjacency_by_definition(method, problem.features)
        assert isinstance(graph, Graph)
        assert graph.num_nodes == NODES
        torch.testing.assert_close(graph.weights, dense[graph.targets, graph.sources].detach())
        if generator != "fp":
            assert graph.num_edges == int((dense > 0).sum())
            assert graph.is_undirected
        if generator == "mlp-d":
            assert graph.in_degree[5] == 0


@pytest.mark.parametrize("generator", GENERATORS)
@pytest.mark.parametrize("kind", ["presence", "value"])
def test_training_lowers_both_losses(problem, generator, kind):
    if kind == "value":
        problem = replace(problem, features=problem.features - 0.3)
    method = built(problem, generator=generator, feature_kind=kind, graph_learning_rate=0.01)
    optimizer = method.make_optimizer()
    seen = []
    for step in range(60):
        losses = method.losses(output := method(problem, generator=seeded(step)), problem)
        optimizer.zero_grad()
        sum(losses.values()).backward()
        optimizer.step()
        method.observe(output, problem)
        seen.append(torch.stack([losses["denoising"], losses["task"]]).detach())
        assert all(torch.isfinite(p.grad).all() for p in method.parameters())
    assert (torch.stack(seen[-10:]).mean(0) < 0.9 * torch.stack(seen[:10]).mean(0)).all()


def test_the_same_generator_gives_the_same_output_and_another_does_not(problem):
    method = built(problem)
    one, same, other = (method(problem, generator=seeded(seed)) for seed in (1, 1, 2))
    assert torch.equal(one.logits, same.logits)
    assert torch.equal(one.detail.denoising, same.detail.denoising)
    assert not torch.equal(one.logits, other.logits)


def test_graph_and_denoiser_have_their_own_step_size_and_do_not_decay(problem):
    method = built(problem, graph_learning_rate=0.3, weight_decay=0.2)
    first, second = method.make_optimizer().param_groups
    assert (first["lr"], first["weight_decay"]) == (0.3, 0.0)
    assert (second["lr"], second["weight_decay"]) == (0.05, 0.2)
    named = {id(p): name.split(".")[0] for name, p in method.named_parameters()}
    assert {named[id(p)] for p in first["params"]} == {"graph", "denoiser"}
    assert {named[id(p)] for p in second["params"]} == {"classifier"}


def test_it_is_trained_by_the_one_loop_to_the_same_end_each_time():
    data = block_model(60, num_classes=3, mean_degree=4, num_features=9, seed=0)
    changes = {"k": 4, "hidden": 6, "denoising_hidden": 8, "max_steps": 12, "warm_up": 5}
    plan = Plan(method="slaps", changes=changes)
    one, two = (fit(data, plan) for _ in range(2))
    assert torch.equal(one.probabilities, two.probabilities)
    assert one.record.best_step > 5
    assert one.latent_graph is not None


def test_all_pairs_are_refused_where_memory_is_short_and_the_cure_is_named(problem, monkeypatch):
    monkeypatch.setattr("bpgnn.training.memory.free_memory", lambda device: 20_000_000_000)
    pubmed = Sizes(19717, 88648, 500, 988031, 3)
    monkeypatch.setattr("bpgnn.training.memory.sizes_of", lambda problem: pubmed)
    with pytest.raises(Exception, match="slaps needs about .* Set generator=mlp-d"):
        check_memory("slaps", SLAPS.preset("published-fp", "pubmed"), problem)
    check_memory("slaps", SLAPS.preset("published", "pubmed"), problem)


def test_more_neighbours_than_there_are_nodes_are_refused(problem):
    with pytest.raises(InputError, match=f"between 1 and {NODES - 1} for {NODES} nodes, but got"):
        built(problem, k=NODES)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"k": 0}, "`k` must be 1 or more, but got 0"),
        ({"refresh_every": 0}, "`refresh_every` must be 1 or more"),
        ({"candidates": 0}, "`candidates` must be 1 or more"),
        ({"hidden": 0}, "`hidden` must be 1 or more"),
        ({"graph_learning_rate": 0.0}, "`graph_learning_rate` must be above 0"),
        ({"denoising_adjacency_dropout": 1.0}, "must be from 0 to below 1, but got 1.0"),
        ({"masked_share": 0.0}, "`masked_share` must be above 0 and at most 1"),
        ({"denoising_weight": -1.0}, "`denoising_weight` must be 0 or more"),
        ({"generator": "mlpd"}, "`generator` cannot be 'mlpd'. Did you mean mlp-d?"),
        ({"generator": "fp", "thin_in_turn": True}, "`thin_in_turn` is for sparse graphs"),
    ],
)
def test_settings_that_cannot_be_are_refused(changes, words):
    with pytest.raises(InputError, match=words.replace("?", r"\?")):
        settings(**changes)


@pytest.mark.parametrize(
    ("dataset", "generator", "k", "width", "split"),
    [
        ("cora", "mlp-d", 15, 512, "public"),
        ("citeseer", "mlp-d", 20, 1024, "public"),
        ("pubmed", "mlp", 15, 128, "public"),
        ("photo", "mlp-d", 15, 512, "public"),
        ("my own", "mlp-d", 15, 512, "public"),
    ],
)
def test_the_published_preset_is_the_table_of_the_authors(dataset, generator, k, width, split):
    found = SLAPS.preset("published", dataset)
    assert (found.generator, found.k, found.denoising_hidden) == (generator, k, width)
    assert (found.max_steps, found.warm_up, found.evaluate_every) == (2000, 400, 1)
    scaling = "tables" if dataset == "my own" else "none"
    assert (found.select_by, found.feature_scaling, found.hidden) == ("accuracy", scaling, 32)
    assert found.patience >= found.max_steps
    assert found.split == split
    assert found.thin_in_turn == (dataset == "pubmed")
    assert SLAPS.preset("paper", dataset).split == "complete"
    assert SLAPS.preset("tuned", dataset).split == "auto"


@pytest.mark.parametrize("generator", GENERATORS)
def test_every_generator_has_its_published_settings(generator):
    found = SLAPS.preset(f"published-{generator}", "citeseer")
    assert found.generator == generator
    assert found.k == {"mlp-d": 20, "mlp": 30, "fp": 30}[generator]


@pytest.mark.parametrize("dataset", ["wine", "my own"])
def test_tables_are_standardised_and_counts_are_not(dataset):
    assert SLAPS.preset("tuned", dataset).feature_scaling == "tables"
    assert SLAPS.preset("published", "cora").feature_scaling == "none"


@pytest.mark.parametrize(("steps", "warm_up"), [(2000, 400), (100, 50), (1, 0)])
def test_a_short_training_leaves_half_of_its_steps_for_the_classifier(problem, steps, warm_up):
    assert built(problem, max_steps=steps, warm_up=400).warm_up == warm_up


def test_an_unknown_preset_is_met_with_the_nearest():
    with pytest.raises(InputError, match="no preset 'papper' here. Did you mean paper?"):
        SLAPS.preset("papper", "cora")
