import math
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F

from bpgnn.data.dataset import Dataset
from bpgnn.data.synthetic import block_model
from bpgnn.errors import InputError
from bpgnn.graph import Graph
from bpgnn.method import Sizes
from bpgnn.methods.idgl import IDGL, IDGLSettings
from bpgnn.nn import thresholded
from bpgnn.nn.factor import to_dense
from bpgnn.nn.sparse import SparseMatrix
from bpgnn.randomness import seeded_globally
from bpgnn.training.fit import fit
from bpgnn.training.plan import Plan
from bpgnn.training.problem import make_problem

NODES = 24


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def settings(**changes):
    rates = {"dropout": 0.0, "later_dropout": 0.0, "input_dropout": 0.0}
    costs = {"smoothness": 0.7, "connectivity": 0.3, "sparsity": 0.4}
    sizes = {"hidden": 5, "num_perspectives": 3, "feature_scaling": "none"}
    shares = {"observed_share": 0.6, "newest_share": 0.3, "stop_change": 1e-4}
    return IDGLSettings(**{**sizes, **rates, **costs, **shares, **changes})


@pytest.fixture
def data() -> Dataset:
    """Twenty-four nodes, of which the last has no neighbour."""
    data = block_model(NODES, num_classes=3, mean_degree=4, num_features=7, seed=0)
    edges = data.graph.edge_index
    keep = (edges != NODES - 1).all(0)
    return data.with_graph(Graph(edges[:, keep], NODES))


@pytest.fixture(params=["dense", "sparse"])
def problem(data, request):
    """Features of which half are zero, in double precision; one node has none at all."""
    found = make_problem(data, settings(), dtype=torch.float64)
    dense = found.features.abs() * (torch.rand(NODES, 7, generator=seeded(9)) < 0.5)
    dense[3] = 0
    features = SparseMatrix.from_csr(dense.to_sparse_csr()) if request.param == "sparse" else dense
    return replace(found, features=features)


def built(problem, seed=0, **changes):
    with seeded_globally(seed):
        return IDGL.build(settings(**changes), problem).double()


def cosine_in_plain_loops(vectors, weight, epsilon):
    """The similarity by its definition."""
    rows = []
    for one in vectors:
        row = []
        for other in vectors:
            cosines = []
            for own in weight:
                a, b = own * one, own * other
                norms = a.norm().clamp(min=1e-12) * b.norm().clamp(min=1e-12)
                cosines.append((a * b).sum() / norms)
            mean = torch.stack(cosines).mean()
            row.append(mean if float(mean.detach()) > epsilon else torch.zeros_like(mean))
        rows.append(torch.stack(row))
    return torch.stack(rows)


def cosine(vectors, weight, epsilon):
    views = F.normalize(vectors.unsqueeze(0) * weight.unsqueeze(1), dim=-1)
    mean = torch.matmul(views, views.transpose(1, 2)).mean(0)
    return mean * (mean.detach() > epsilon)


def dropped(values, rate, generator):
    draws = torch.rand(values.shape, generator=generator)
    return values * (draws >= rate) / (1 - rate)


def cost(matrix, features, options):
    """The regulariser by its definition."""
    size = matrix.size(0)
    laplacian = torch.diag(matrix.sum(1)) - matrix
    smooth = torch.trace(features.T @ laplacian @ features) / size**2
    linked = (matrix.sum(1) + 1e-12).log().sum() / size
    square = (matrix**2).sum() / size**2
    weights = (options.smoothness, -options.connectivity, options.sparsity)
    return sum(w * term for w, term in zip(weights, (smooth, linked, square), strict=True) if w)


def normalized_observed(graph):
    matrix = torch.eye(NODES, dtype=torch.float64)
    matrix[graph.targets, graph.sources] = 1.0
    scale = matrix.sum(1).rsqrt()
    return scale.unsqueeze(1) * matrix * scale


def dense_features(problem, rate, generator):
    features = problem.features
    if rate and isinstance(features, SparseMatrix):
        return to_dense(features.with_value(dropped(features.value, rate, generator)))
    dense = to_dense(features) if isinstance(features, SparseMatrix) else features
    return dropped(dense, rate, generator) if rate else dense


def reference(method, problem, generator, *, training):
    """The whole forward pass over dense matrices: scores, costs, learned graphs, last graph."""
    options = method.settings
    rate = options.input_dropout if training else 0.0
    features = dense_features(problem, rate, generator)
    observed = normalized_observed(problem.graph)
    share, newest = options.observed_share, options.newest_share

    def combined(matrix):
        sums = matrix.sum(1, keepdim=True).clamp(min=1e-12)
        return share * observed + (1 - share) * matrix / sums

    matrix = cosine(features, method.compare_features.weight, options.threshold)
    graph = combined(matrix)
    if rate:
        graph = dropped(graph, rate, generator)
        matrix = dropped(matrix, rate, generator)
    first, first_graph, logits, costs, matrices = matrix, graph, [], [], [matrix]
    for iteration in range(options.max_iterations + 1):
        if iteration > 0:
            before = matrix
            matrix = cosine(hidden, method.compare_states.weight, options.threshold)  # noqa: F821
            graph = newest * combined(matrix) + (1 - newest) * first_graph
            matrices.append(matrix)
        hidden = F.relu(graph @ features @ method.encoder.first)
        drop = options.dropout if iteration == 0 else options.later_dropout
        hidden = dropped(hidden, drop, generator) if training and drop else hidden
        logits.append(graph @ (hidden @ method.encoder.last))
        costs.append(cost(matrix, features, options))
        if iteration > 0:
            moved = ((matrix - before) ** 2).sum() / (first**2).sum()
            if moved <= options.stop_change:
                break
    return logits, costs, matrices, graph


VARIANTS = [
    {},
    {"threshold": 0.35},
    {"input_dropout": 0.4, "dropout": 0.3, "later_dropout": 0.2, "connectivity": 0.0},
    {"input_dropout": 0.4, "threshold": 0.35, "connectivity": 0.0},
    {"smoothness": 0.0, "connectivity": 0.0, "sparsity": 0.0},
    {"smoothness": 0.0, "connectivity": 0.0, "threshold": 0.2},
    {"num_perspectives": 1, "max_iterations": 1},
]


@pytest.mark.parametrize("stored", [True, False])
@pytest.mark.parametrize("changes", VARIANTS, ids=str)
@pytest.mark.parametrize("training", [True, False])
def test_scores_costs_and_gradients_are_those_of_plain_dense_matrices(
    problem, changes, training, stored, monkeypatch
):
    if not stored:
        monkeypatch.setattr(thresholded, "_STORED_ENTRIES", 0)
    method = built(problem, **changes).train(training)
    output = method(problem, generator=seeded(4))
    (trace,) = output.detail
    logits, costs, _, graph = reference(method, problem, seeded(4), training=training)
    assert len(trace.logits) == len(logits)
    for found, expected in zip(trace.logits, logits, strict=True):
        torch.testing.assert_close(found, expected)
    for found, expected in zip(trace.regularizers, costs, strict=True):
        torch.testing.assert_close(found, torch.as_tensor(expected, dtype=found.dtype))
    torch.testing.assert_close(trace.graph.rows(0, NODES), graph.detach())
    found = method.losses(output, problem)
    tasks = [F.cross_entropy(own[problem.train], problem.labels[problem.train]) for own in logits]
    expected_task = tasks[0] + sum(tasks[1:]) / len(tasks[1:])
    expected_graph = costs[0] + sum(costs[1:]) / len(costs[1:])
    torch.testing.assert_close(found["task"], expected_task)
    torch.testing.assert_close(found["graph"], torch.as_tensor(expected_graph).double())
    parameters = list(method.parameters())
    mine = torch.autograd.grad(sum(found.values()), parameters)
    others = torch.autograd.grad(expected_task + expected_graph, parameters)
    for one, other in zip(mine, others, strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("epsilon", [0.0, 0.4])
def test_similarity_is_the_mean_cosine_in_plain_loops(problem, epsilon):
    method = built(problem, threshold=epsilon)
    dense = dense_features(problem, 0.0, None)
    expected = cosine_in_plain_loops(dense, method.compare_features.weight, epsilon)
    found = method.compare_features.entries(problem.features).rows(0, NODES)
    torch.testing.assert_close(found, expected.detach())
    assert float(found[3].abs().sum()) == 0
    hidden = torch.rand(NODES, 5, generator=seeded(2)).double()
    expected = cosine_in_plain_loops(hidden, method.compare_states.weight, epsilon)
    torch.testing.assert_close(method.compare_states(hidden).rows(0, NODES), expected.detach())


@pytest.mark.parametrize("problem", ["sparse"], indirect=True)
@pytest.mark.parametrize("changes", [{"threshold": 0.3}, {"input_dropout": 0.3}], ids=str)
def test_the_loss_passes_gradcheck(problem, changes):
    # A threshold and a rectifier have corners; a few iterations stay clear of them.
    method = built(problem, max_iterations=1, hidden=3, **changes)
    names = [name for name, _ in method.named_parameters()]

    def loss(*values):
        parameters = dict(zip(names, values, strict=True))
        losses = torch.func.functional_call(_Total(method), parameters, (problem,))
        return losses.reshape(1)

    values = [value.detach().clone().requires_grad_() for _, value in method.named_parameters()]
    names = [f"method.{name}" for name in names]
    assert torch.autograd.gradcheck(loss, values, eps=1e-7, atol=1e-5, nondet_tol=1e-12)


class _Total(torch.nn.Module):
    def __init__(self, method):
        super().__init__()
        self.method = method

    def forward(self, problem):
        output = self.method(problem, generator=seeded(1))
        return sum(self.method.losses(output, problem).values())


def test_a_gradient_asked_for_in_parts_is_the_same_as_at_once(problem):
    method = built(problem, threshold=0.3)
    total = sum(method.losses(method(problem, generator=seeded()), problem).values())
    at_once = torch.autograd.grad(total, list(method.parameters()), retain_graph=True)
    in_parts = [
        torch.autograd.grad(total, parameter, retain_graph=True)[0]
        for parameter in method.parameters()
    ]
    for one, other in zip(at_once, in_parts, strict=True):
        torch.testing.assert_close(one, other)


def test_iterations_end_when_the_graph_has_settled(problem):
    lengths = [
        len(built(problem, stop_change=change)(problem, generator=seeded()).detail[0].logits)
        for change in (1e9, 1e-4, 0.0)
    ]
    assert lengths[0] == 2
    assert 2 < lengths[1] < lengths[2] <= 11


def test_the_validation_loss_is_that_of_training_with_other_labels(problem):
    method = built(problem).eval()
    output = method(problem, generator=seeded())
    nodes, labels = problem.train, problem.labels[problem.train]
    expected = float(sum(method.losses(output, problem).values()).detach())
    assert math.isclose(method.validation_loss(output, nodes, labels), expected, rel_tol=1e-9)
    others = torch.arange(3)
    logits, costs, _, _ = reference(method, problem, seeded(), training=False)
    totals = [F.cross_entropy(a[others], others) + b for a, b in zip(logits, costs, strict=True)]
    expected = float((totals[0] + sum(totals[1:]) / len(totals[1:])).detach())
    assert math.isclose(method.validation_loss(output, others, others), expected, rel_tol=1e-9)


def test_the_same_generator_gives_the_same_output_and_another_does_not(problem):
    method = built(problem, input_dropout=0.5, dropout=0.5)
    one, same, other = (method(problem, generator=seeded(s)).logits for s in (1, 1, 2))
    assert torch.equal(one, same)
    assert not torch.equal(one, other)
    assert one.shape == (1, NODES, 3)


def moved(problem, place):
    back = place.argsort()
    dense = dense_features(problem, 0.0, None)[back]
    features = problem.features
    if isinstance(features, SparseMatrix):
        dense = SparseMatrix.from_csr(dense.to_sparse_csr())
    graph = Graph.from_edge_index(place[problem.graph.edge_index], NODES)
    return replace(problem, features=dense, graph=graph)


@pytest.mark.parametrize("epsilon", [0.0, 0.3])
def test_relabelling_nodes_relabels_the_prediction(problem, epsilon):
    method = built(problem, threshold=epsilon).eval()
    place = torch.randperm(NODES, generator=seeded(5))
    expected = method(problem, generator=seeded()).logits[0]
    found = method(moved(problem, place), generator=seeded()).logits[0]
    torch.testing.assert_close(found[place], expected)


@pytest.mark.parametrize("graph", ["weighted", "directed", "none", "empty"])
def test_any_observed_graph_gives_finite_losses_and_gradients(problem, graph):
    edges = problem.graph.edge_index
    observed = {
        "weighted": Graph(edges, NODES, torch.rand(edges.size(1), generator=seeded()) + 0.1),
        "directed": Graph.from_edge_index(edges[:, edges[0] < edges[1]], NODES),
        "none": None,
        "empty": Graph.empty(NODES),
    }[graph]
    problem = replace(problem, graph=observed)
    method = built(problem, input_dropout=0.3)
    losses = method.losses(method(problem, generator=seeded()), problem)
    sum(losses.values()).backward()
    assert all(torch.isfinite(value) for value in losses.values())
    assert all(torch.isfinite(parameter.grad).all() for parameter in method.parameters())


@pytest.mark.parametrize("graph", [None, "empty"])
def test_where_no_edge_is_observed_both_directions_of_the_nearest_stand_in(problem, graph):
    alone = replace(problem, graph=graph and Graph.empty(problem.num_nodes))
    method = built(alone, nearest=2)
    observed = method.observed.of(alone)
    assert torch.equal(observed.edge_index, observed.reversed().edge_index)
    assert int(observed.in_degree.min()) >= 3


@pytest.mark.parametrize("problem", ["dense"], indirect=True)
def test_negative_features_and_missing_classes_are_no_trouble(problem):
    problem = replace(problem, features=problem.features - 0.5)
    known = problem.train[problem.labels[problem.train] != 1]
    problem = replace(problem, train=known)
    method = built(problem).eval()
    logits = method(problem, generator=seeded()).logits
    expected, *_ = reference(method, problem, seeded(), training=False)
    torch.testing.assert_close(logits[0], expected[-1])
    losses = method.losses(method(problem, generator=seeded()), problem)
    assert all(torch.isfinite(value) for value in losses.values())


def test_the_graph_handed_out_holds_the_heaviest_of_the_last(problem):
    method = built(problem).eval()
    output = method(problem, generator=seeded())
    (found,) = method.latent_graphs(output)
    *_, last = reference(method, problem, seeded(), training=False)
    dense = torch.zeros(NODES, NODES, dtype=torch.float64)
    dense[found.targets, found.sources] = found.weights
    torch.testing.assert_close(dense, last.detach())


@pytest.mark.parametrize("changes", [{}, {"threshold": 0.2}], ids=str)
def test_training_lowers_the_loss_and_the_same_seed_gives_the_same_end(data, changes):
    plan = Plan(
        method="idgl",
        seed=3,
        changes={"max_steps": 20, "hidden": 8, "patience": 100, "input_dropout": 0.2, **changes},
    )
    seen = []
    one = fit(data, plan, watch=lambda event: seen.append(sum(event.losses.values())))
    assert sum(seen[-5:]) < 0.95 * sum(seen[:5])
    two = fit(data, plan)
    assert torch.equal(one.probabilities, two.probabilities)
    assert one.latent_graph is not None
    assert one.record.latent_graph is not None


def test_memory_grows_with_the_square_of_the_nodes_while_matrices_are_kept():
    def needed(nodes, **changes):
        sizes = Sizes(nodes, 4 * nodes, 1000, 20 * nodes, 7)
        return IDGL.memory(settings(**changes), sizes)

    assert 4e7 < needed(2000) < 4e8
    assert needed(2000, threshold=0.1) == needed(2000) + 10 * 4 * 2000**2
    assert needed(4000) - needed(2000) > 2 * (needed(2000) - needed(1000))
    assert needed(100_000, input_dropout=0.5) > 2e10
    assert "idgl-anch" in IDGL.instead


@pytest.mark.parametrize("dataset", ["cora", "citeseer", "pubmed", "photo", "my own"])
def test_presets_exist_for_any_data_set(dataset):
    published, paper, tuned = (
        IDGL.preset(name, dataset) for name in ("published", "paper", "tuned")
    )
    assert published.split == "public"
    assert (published.hidden, published.patience, published.evaluate_every) == (16, 100, 1)
    assert (published.max_steps, published.max_iterations) == (10_000, 10)
    assert (published.learning_rate, published.weight_decay) == (0.01, 5e-4)
    assert published.feature_scaling == "rows"
    assert (paper.hidden, paper.split) == (32, "complete")
    assert tuned.split == "auto"
    assert tuned.threshold == published.threshold


def test_the_preset_published_is_the_table_of_the_authors():
    cora, citeseer = (IDGL.preset("published", name) for name in ("cora", "citeseer"))
    for found, shares, costs, rates, others in (
        (cora, (0.8, 0.1), (0.2, 0, 0), (0.5, 0.5, 0.5), (0, 4, 4e-5)),
        (citeseer, (0.6, 0.5), (0.4, 0, 0.2), (0.5, 0, 0), (0.3, 1, 1e-3)),
    ):
        assert (found.observed_share, found.newest_share) == shares
        assert (found.smoothness, found.connectivity, found.sparsity) == costs
        assert (found.dropout, found.input_dropout, found.later_dropout) == rates
        assert (found.threshold, found.num_perspectives, found.stop_change) == others


def test_an_unknown_preset_is_met_with_the_nearest():
    with pytest.raises(InputError, match="no preset 'publishd' here. Did you mean published?"):
        IDGL.preset("publishd", "cora")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"hidden": 0}, "`hidden` must be 1 or more, but got 0"),
        ({"observed_share": 1.5}, "`observed_share` must be from 0 to 1"),
        ({"threshold": 1.0}, "`threshold` must be from 0 to below 1"),
        ({"smoothness": -1.0}, "`smoothness` must be 0 or more"),
    ],
)
def test_settings_that_cannot_be_are_refused(changes, words):
    with pytest.raises(InputError, match=words):
        settings(**changes)
