import math
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from torch_geometric.nn import GATConv, GCNConv

from bpgnn.data.dataset import Dataset
from bpgnn.data.synthetic import block_model
from bpgnn.errors import InputError
from bpgnn.graph import Graph
from bpgnn.infer.spaces import METRICS
from bpgnn.methods.bpgnn import BPGNN, BPGNNSettings
from bpgnn.nn.evidence import edge_evidence
from bpgnn.randomness import seeded_globally
from bpgnn.training.problem import make_problem

NODES = 24


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def settings(**changes):
    sizes = {"hidden": (6, 5), "latent_dim": 3, "k": 4, "embedding_hidden": ()}
    rates = {"dropout": 0.0, "input_dropout": 0.0, "embedding_dropout": 0.0}
    return BPGNNSettings(**{**sizes, **rates, "graph_loss": "reward", **changes})


@pytest.fixture
def data() -> Dataset:
    """Twenty-four nodes, of which the last has no neighbour."""
    data = block_model(NODES, num_classes=3, mean_degree=4, num_features=7, seed=0)
    edges = data.graph.edge_index
    keep = (edges != NODES - 1).all(0)
    return data.with_graph(Graph(edges[:, keep], NODES))


@pytest.fixture
def problem(data):
    return make_problem(data, settings())


def built(problem, seed=0, **changes):
    with seeded_globally(seed):
        return BPGNN.build(settings(**changes), problem)


def weighted(problem):
    weight = torch.rand(problem.graph.num_edges, generator=seeded(1)) * 2 + 0.1
    return replace(problem, graph=Graph(problem.graph.edge_index, NODES, weight))


def reference_layer(layer):
    """PyG's own layer with the same weights."""
    kind = GATConv if hasattr(layer, "source") else GCNConv
    twin = kind(*layer.weight.shape)
    with torch.no_grad():
        twin.lin.weight.copy_(layer.weight.T)
        twin.bias.copy_(layer.bias)
        if kind is GATConv:
            twin.att_src.copy_(layer.source.unsqueeze(0))
            twin.att_dst.copy_(layer.target.unsqueeze(0))
    return twin


def head(method, states):
    for position, layer in enumerate(method.network.head):
        states = F.leaky_relu(states, 0.1) if position else states
        states = states @ layer.weight + layer.bias
    return states


@pytest.mark.parametrize("aggregation", ["gcn", "gat"])
def test_without_boolean_layers_it_is_the_gnn_of_pyg_on_the_observed_graph(problem, aggregation):
    method = built(problem, boolean_layers=0, aggregation=aggregation, head=(4,)).eval()
    states = problem.features
    for layer in method.network.layers:
        states = F.relu(reference_layer(layer)(states, problem.graph.edge_index))
    found = method(problem, generator=seeded(), num_samples=3)
    assert found.logits.shape == (1, NODES, 3)
    torch.testing.assert_close(found.logits[0], head(method, states))
    assert method.latent_graphs(found) == ()
    assert method.losses(found, problem).keys() == {"task"}
    assert method.sampler_name is None


def test_without_boolean_layers_observed_weights_are_those_of_the_messages(problem):
    problem = weighted(problem)
    method = built(problem, boolean_layers=0).eval()
    states = problem.features
    for layer in method.network.layers:
        twin = reference_layer(layer)
        states = F.relu(twin(states, problem.graph.edge_index, problem.graph.edge_weight))
    found = method(problem, generator=seeded()).logits[0]
    torch.testing.assert_close(found, head(method, states))


def product_in_plain_loops(latent, graph, inverse_temperature):
    """Eq. PBMM by its definition, each node among its own witnesses: P~ and their number."""
    points = latent.double()
    points = (points - points.mean(0)) / points.std(0, correction=0)
    kernel = torch.zeros(NODES, NODES, dtype=torch.double)
    for i in range(NODES):
        for j in range(NODES):
            distance = points[i] - points[j]
            kernel[i, j] = math.exp(-inverse_temperature * float(distance @ distance))
    edges = set(zip(*graph.edge_index.tolist(), strict=True))
    witnesses = [[k for k in range(NODES) if k == i or (k, i) in edges] for i in range(NODES)]
    product = torch.stack([kernel[votes].mean(0) for votes in witnesses])
    return product, torch.tensor([len(votes) for votes in witnesses])


@pytest.mark.parametrize("message_weight", ["none", "probability", "votes"])
def test_one_boolean_layer_is_the_paper_in_plain_loops_given_the_neighbours_drawn(
    problem, message_weight
):
    method = built(problem, message_weight=message_weight, witness="equal", temperature=-1.0).eval()
    output = method(problem, generator=seeded())
    (drawn,) = output.detail[0]
    embedding = reference_layer(method.network.boolean[0].embedding.layers[0])
    latent = embedding(problem.features, problem.graph.edge_index)
    torch.testing.assert_close(drawn.inference.latent, latent)
    product, votes = product_in_plain_loops(latent.detach(), problem.graph, math.exp(-1.0))
    sources = drawn.inference.sample.neighbours[0].flatten()
    targets = torch.arange(NODES).repeat_interleave(4)
    expected = product[targets, sources]
    torch.testing.assert_close(
        drawn.log_prob.detach().flatten().double(), expected.log(), atol=1e-4, rtol=1e-4
    )
    weight = {
        "none": torch.ones(len(targets)),
        "probability": expected.float(),
        "votes": (expected * votes[targets]).float(),
    }[message_weight]
    states, edges = problem.features, torch.stack([sources, targets])
    for layer in method.network.layers:
        states = F.relu(reference_layer(layer)(states, edges, weight))
    torch.testing.assert_close(output.logits[0], head(method, states), atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("self_pairs", [False, True])
def test_every_node_draws_k_distinct_neighbours_in_every_sample(problem, self_pairs):
    method = built(problem, boolean_layers=2, self_pairs=self_pairs, temperature=-3.0).eval()
    output = method(problem, generator=seeded(), num_samples=30)
    assert output.logits.shape == (30, NODES, 3)
    assert len(method.latent_graphs(output)) == 30
    own = 0
    for graph in method.latent_graphs(output):
        assert graph.in_degree.tolist() == [4] * NODES
        own += int((graph.sources == graph.targets).sum())
        assert float(graph.weights.min()) > 0
        assert float(graph.weights.max()) <= 1
    assert (own > 0) is self_pairs


def test_the_same_generator_gives_the_same_output_and_another_does_not(problem):
    method = built(problem)
    one, same, other = (method(problem, generator=seeded(seed)).logits for seed in (1, 1, 2))
    assert torch.equal(one, same)
    assert not torch.equal(one, other)


def gradients(loss, parameters):
    found = torch.autograd.grad(loss, list(parameters), allow_unused=True, retain_graph=True)
    return [0.0 if one is None else float(one.abs().sum()) for one in found]


def test_in_the_form_of_the_paper_the_graph_is_trained_by_the_graph_loss_alone(problem):
    method = built(problem, message_weight="none", graph_loss="reward", boolean_layers=2)
    losses = method.losses(method(problem, generator=seeded()), problem)
    assert not any(gradients(losses["task"], method.network.boolean.parameters()))
    assert all(gradients(losses["graph"], method.network.boolean[0].parameters()))


def test_weighted_messages_let_the_task_loss_reach_the_graph(problem):
    method = built(problem, message_weight="probability", temperature=-2.0)
    losses = method.losses(method(problem, generator=seeded()), problem)
    reached = gradients(losses["task"], method.network.boolean[0].parameters())
    # The standardised points do not feel the embedding's bias.
    names = [name for name, _ in method.network.boolean[0].named_parameters()]
    assert all(one > 0 for name, one in zip(names, reached, strict=True) if "bias" not in name)


def test_the_graph_loss_does_not_shape_the_states_that_graphs_are_made_of(problem):
    method = built(problem, boolean_layers=2, message_weight="none", temperature=-2.0)
    losses = method.losses(method(problem, generator=seeded()), problem)
    assert not any(gradients(losses["graph"], method.network.layers.parameters()))


def test_losses_are_the_mean_cross_entropy_and_the_weighted_reward(problem):
    method = built(problem, graph_loss_weight=3.0)
    output = method(problem, generator=seeded())
    losses = method.losses(output, problem)
    train, labels = problem.train, problem.labels[problem.train]
    torch.testing.assert_close(losses["task"], F.cross_entropy(output.logits[0, train], labels))
    right = (output.logits[0, train].argmax(1) == labels).double()
    (drawn,) = output.detail[0]
    log_prob = drawn.log_prob[train].double().clamp(min=math.log(1e-24))
    expected = 3 * ((0.5 - right).unsqueeze(1) * log_prob).mean()
    torch.testing.assert_close(losses["graph"].double(), expected)


def test_the_latent_loss_is_the_cross_entropy_of_a_classifier_of_the_latent_points(problem):
    method = built(problem, boolean_layers=2, latent_loss_weight=0.5).eval()
    output = method(problem, generator=seeded())
    labels = problem.labels[problem.train]
    values = [
        F.cross_entropy(guide(layer.inference.latent)[problem.train], labels)
        for guide, layer in zip(method.network.guides, output.detail[0], strict=True)
    ]
    found = method.losses(output, problem)["latent"]
    torch.testing.assert_close(found, 0.5 * torch.stack(values).mean())
    without = built(problem, latent_loss_weight=0.0)
    assert "latent" not in without.losses(without(problem, generator=seeded()), problem)


def test_the_expectation_moves_towards_what_was_right_for_training_nodes_only(problem):
    method = built(problem)
    output = method(problem, generator=seeded())
    method.observe(output, problem)
    train = problem.train
    right = (output.logits[0, train].argmax(1) == problem.labels[train]).float()
    expected = torch.full((NODES,), 0.5)
    expected[train] = 0.95 * 0.5 + 0.05 * right
    torch.testing.assert_close(method.network.expected_right, expected)
    assert "network.expected_right" in method.state_dict()


def test_dropout_acts_in_training_only(problem):
    method = built(problem, boolean_layers=0, dropout=0.5, input_dropout=0.5)
    assert not torch.equal(*(method(problem, generator=seeded(s)).logits for s in (1, 2)))
    method.eval()
    assert torch.equal(*(method(problem, generator=seeded(s)).logits for s in (1, 2)))


@pytest.mark.parametrize("layers", [0, 1, 2])
def test_relabelling_nodes_relabels_the_prediction(problem, layers):
    """With k = N - 1 every node draws all others, so that nothing is left to chance."""
    method = built(problem, boolean_layers=layers, k=NODES - 1, temperature=-2.0).double().eval()
    place = torch.randperm(NODES, generator=seeded(5))
    back = place.argsort()
    moved = replace(
        problem,
        features=problem.features.double()[back],
        graph=Graph.from_edge_index(place[problem.graph.edge_index], NODES),
    )
    problem = replace(problem, features=problem.features.double())
    expected = method(problem, generator=seeded()).logits[0]
    found = method(moved, generator=seeded()).logits[0]
    torch.testing.assert_close(found[place], expected, atol=1e-6, rtol=1e-5)


VARIANTS = [
    {},
    {"residual": "none"},
    {"residual": "sum"},
    {"witness": "gated"},
    {"witness": "mixed"},
    {"witness": "mixed", "node_share": True},
    {"symmetric": True},
    {"self_loops": False},
    {"self_loops": False, "symmetric": True},
    {"self_pairs": True},
    {"standardize": False},
    {"aggregation": "gat"},
    {"aggregation": "edgeconv"},
    {"embedding": "gat"},
    {"embedding": "edgeconv"},
    {"embedding": "mlp", "embedding_hidden": (6,)},
    {"message_weight": "none"},
    {"message_weight": "probability"},
    {"message_weight": "votes"},
    {"graph_loss": "noisy"},
    {"graph_loss": "likelihood"},
    {"graph_loss": "none"},
    {"task_loss": "binary"},
    {"input_width": 5, "head": (4, 4)},
    {"own_states": True, "linear_start": "torch"},
    {"observed_messages": True, "observed_gate": True},
    {"observed_messages": True, "edge_evidence": True},
    {"observed_messages": True, "nearest_messages": 3},
    {"nearest_messages": 3},
    {"edge_evidence": True, "nearest_messages": 3, "nearest_in_embedding": True},
    {"scores": "messages", "head": ()},
    {"sampler": "dense"},
    {"sampler": "blocked"},
    {"noise": "minus", "floor": True},
    {"temperature": 5.0},
    {"temperature": -5.0},
    *({"metric": metric, "latent_dim": 4} for metric in METRICS),
    {"metric": "euclidean+hyperbolic+hyperbolic"},
    {"metric": "spherical+spherical", "latent_dim": 4, "symmetric": True},
]


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
@pytest.mark.parametrize("graph", ["plain", "weighted", "directed", "none"])
def test_every_option_gives_finite_losses_and_gradients(problem, variant, graph):
    if graph == "weighted":
        problem = weighted(problem)
    elif graph == "directed":
        edges = problem.graph.edge_index[:, problem.graph.sources < problem.graph.targets]
        problem = replace(problem, graph=Graph.from_edge_index(edges, NODES))
    elif graph == "none":
        problem = replace(problem, graph=None)
    method = built(problem, boolean_layers=2, dropout=0.3, **variant)
    losses = method.losses(method(problem, generator=seeded()), problem)
    sum(losses.values()).backward()
    assert all(torch.isfinite(value) for value in losses.values())
    for name, parameter in method.named_parameters():
        assert parameter.grad is None or torch.isfinite(parameter.grad).all(), name


@pytest.mark.parametrize(
    "metric", [*METRICS, "euclidean+hyperbolic+hyperbolic", "spherical+spherical"]
)
def test_it_learns_in_every_space_and_the_scales_learn_with_it(problem, metric):
    method = built(problem, metric=metric, latent_dim=6, temperature=-1.0)
    optimizer = torch.optim.Adam(method.parameter_groups())
    before = {name: value.detach().clone() for name, value in method.named_parameters()}
    tasks = []
    for step in range(30):
        losses = method.losses(method(problem, generator=seeded(step)), problem)
        optimizer.zero_grad()
        sum(losses.values()).backward()
        optimizer.step()
        tasks.append(losses["task"].item())
    assert sum(tasks[-5:]) < 0.9 * sum(tasks[:5])
    scales = [name for name in before if "log_scales" in name]
    assert len(scales) == (metric.count("+") + 1 if "+" in metric else 0)
    for name, value in method.named_parameters():
        assert torch.isfinite(value).all(), name
        assert name not in scales or value != before[name], name


def test_weight_decay_spares_the_scales_of_a_metric(problem):
    method = built(problem, metric="euclidean+hyperbolic")
    scales = {id(scale) for scale in method.network.boolean[0].metric.parameters()}
    groups = [g for g in method.parameter_groups() if scales & {id(p) for p in g["params"]}]
    assert len(scales) == 2
    assert [group["weight_decay"] for group in groups] == [0.0]


def test_without_an_observed_graph_p_itself_is_sampled(problem):
    alone = replace(problem, graph=None)
    method = built(alone, residual="boolean").eval()
    output = method(alone, generator=seeded())
    (drawn,) = output.detail[0]
    sources = drawn.inference.sample.neighbours[0]
    edges = torch.stack([sources.flatten(), torch.arange(NODES).repeat_interleave(4)])
    kernel = drawn.inference.kernel.log_entries(edges).view_as(drawn.log_prob)
    torch.testing.assert_close(drawn.log_prob.double(), kernel.double(), atol=1e-5, rtol=1e-5)


def test_more_neighbours_than_there_are_nodes_are_refused(problem):
    for k, self_pairs in ((NODES, False), (NODES + 1, True)):
        with pytest.raises(InputError, match=f"`k` must be between 1 and .*, but got {k}"):
            built(problem, k=k, self_pairs=self_pairs)
    built(problem, k=NODES, self_pairs=True)
    built(problem, k=NODES, boolean_layers=0)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"hidden": ()}, "`hidden` must be one width or more"),
        ({"hidden": (8, 0)}, "`hidden` must be widths of 1 or more"),
        ({"head": (0,)}, "`head` must be widths of 1 or more"),
        ({"embedding_hidden": (-2,)}, "`embedding_hidden` must be widths of 1 or more"),
        ({"input_width": -3}, "`input_width` must be 1 or more, but got -3"),
        ({"temperature": 5.5}, "`temperature` must be between -5 and 5"),
        ({"gate": -0.1}, "`gate` must be 0 or more"),
        ({"graph_learning_rate": 0.0}, "`graph_learning_rate` must be above 0"),
        ({"boolean_layers": 3}, "`boolean_layers` must be between 0 and 2"),
        ({"boolean_layers": -1}, "`boolean_layers` must be between 0 and 2"),
        ({"dropout": 1.0}, "`dropout` must be from 0 to below 1, but got 1.0"),
        ({"input_dropout": -0.1}, "`input_dropout` must be from 0 to below 1"),
        ({"k": 0}, "`k` must be 1 or more, but got 0"),
        ({"latent_dim": 0}, "`latent_dim` must be 1 or more"),
        ({"own_share": 1.0}, "`own_share` must be between 0 and 1"),
        ({"aggregation": "gnc"}, "`aggregation` cannot be 'gnc'. Did you mean gcn?"),
        ({"metric": "hyperbollic"}, "Did you mean hyperbolic?"),
        ({"metric": "spherical", "latent_dim": 1}, "needs 2 latent dimensions or more"),
        ({"metric": "euclidean+hyperbolic", "latent_dim": 1}, "2 parts, but there are 1 latent"),
        ({"metric": 3}, "`metric` must be text, but got 3"),
        ({"graph_loss": "likelihood", "symmetric": True}, "`symmetric=false` or another"),
        ({"scores": "messages", "head": (4,)}, "`scores=messages` leaves no place for a `head`"),
        ({"scores": "messages", "boolean_layers": 4}, "must be between 0 and 3"),
    ],
)
def test_settings_that_cannot_be_are_refused(changes, words):
    with pytest.raises(InputError, match=words.replace("(", r"\(").replace("?", r"\?")):
        settings(**changes)


@pytest.mark.parametrize(
    ("dataset", "layers"), [("cora", 2), ("citeseer", 2), ("pubmed", 1), ("photo", 1)]
)
def test_the_preset_paper_is_the_text_of_the_paper(dataset, layers):
    found = BPGNN.preset("paper", dataset)
    assert found.boolean_layers == layers
    assert (found.hidden, found.k, found.latent_dim) == ((32, 16, 8), 5, 4)
    assert (found.learning_rate, found.max_steps) == (0.005, 10_000)
    assert (found.dropout, found.input_dropout, found.embedding_dropout) == (0, 0, 0)
    assert (found.standardize, found.message_weight, found.self_loops) == (False, "none", False)
    assert (found.witness, found.residual, found.graph_loss) == ("equal", "boolean", "reward")


def test_the_preset_authors_follows_their_code():
    found = BPGNN.preset("authors", "cora")
    assert (found.boolean_layers, found.noise, found.floor) == (1, "minus", True)
    assert (found.self_pairs, found.symmetric, found.self_loops) == (True, True, False)
    assert (found.graph_loss, found.task_loss, found.test_weights) == ("noisy", "binary", "last")
    assert (found.patience, found.evaluate_every, found.max_steps) == (1500, 100, 10_000)
    assert found.sampler in ("dense", "blocked")


def test_an_unknown_preset_is_met_with_the_nearest():
    with pytest.raises(InputError, match="no preset 'papper' here. Did you mean paper?"):
        BPGNN.preset("papper", "cora")


def assert_messages(method, output, problem, edges, weight):
    """Expect the graph of the messages to have these edges; those there twice add up."""
    (found,) = method.message_graphs(output, problem)
    expected = torch.zeros(NODES, NODES)
    expected.index_put_((edges[1], edges[0]), weight.detach(), accumulate=True)
    given = torch.zeros(NODES, NODES)
    given[found.targets, found.sources] = found.weights
    torch.testing.assert_close(given, expected)


def test_where_messages_count_alike_their_graph_has_the_probabilities(problem):
    method = built(problem, message_weight="none").eval()
    output = method(problem, generator=seeded())
    (found,), (latent,) = method.message_graphs(output, problem), method.latent_graphs(output)
    assert torch.equal(found.edge_index, latent.edge_index)
    assert torch.equal(found.weights, latent.weights)


@pytest.mark.parametrize("gate", [None, 0.3])
def test_observed_messages_pass_over_observed_edges_beside_the_sampled_ones(problem, gate):
    own = {"observed_messages": True, "observed_gate": gate is not None}
    method = built(problem, message_weight="none", **own).eval()
    with torch.no_grad():
        method.network.observed_weight.fill_(math.log(0.5))
        if gate is not None:
            method.network.observed_gate.fill_(gate)
    output = method(problem, generator=seeded())
    (sampled,) = output.draws
    states = problem.features
    edges = torch.cat([sampled.edge_index, problem.graph.edge_index], dim=1)
    points = output.detail[0][0].inference.kernel.latent
    squared = (points[problem.graph.sources] - points[problem.graph.targets]).pow(2).sum(1)
    kept = 0.5 * torch.exp(-(gate or 0.0) * squared)
    weight = torch.cat([torch.ones(sampled.num_edges), kept])
    assert_messages(method, output, problem, edges, weight)
    for layer in method.network.layers:
        states = F.relu(reference_layer(layer)(states, edges, weight))
    torch.testing.assert_close(output.logits[0], head(method, states))


def test_the_weight_of_observed_messages_is_learned_and_the_graph_handed_out_is_the_sampled(
    problem,
):
    method = built(problem, observed_messages=True, observed_gate=True)
    output = method(problem, generator=seeded())
    learned = [method.network.observed_weight, method.network.observed_gate]
    assert all(gradients(method.losses(output, problem)["task"], learned))
    (latent,) = method.latent_graphs(output)
    assert latent.in_degree.tolist() == [4] * NODES


def test_evidence_weighs_the_messages_of_observed_edges(problem):
    problem = weighted(problem)
    method = built(problem, boolean_layers=0, edge_evidence=True).eval()
    evidence = method.network.evidence
    with torch.no_grad():
        evidence.weight.copy_(torch.tensor([0.5, -0.3, 0.2, 0.4]))
    measured = edge_evidence(problem.graph, problem.features)
    measured = (measured - measured.mean(0)) / measured.std(0, correction=0)
    weight = problem.graph.edge_weight * (measured @ evidence.weight).exp()
    states = problem.features
    for layer in method.network.layers:
        states = F.relu(reference_layer(layer)(states, problem.graph.edge_index, weight))
    output = method(problem, generator=seeded())
    torch.testing.assert_close(output.logits[0], head(method, states))
    assert_messages(method, output, problem, problem.graph.edge_index, weight)


def test_evidence_weighs_observed_messages_beside_the_sampled_ones_too(problem):
    own = {"message_weight": "none", "observed_messages": True, "edge_evidence": True}
    method = built(problem, embedding="mlp", **own).eval()
    evidence = method.network.evidence
    with torch.no_grad():
        evidence.weight.fill_(0.3)
    output = method(problem, generator=seeded())
    (sampled,) = output.draws
    edges = torch.cat([sampled.edge_index, problem.graph.edge_index], dim=1)
    kept = evidence(problem.graph, problem.features).exp()
    weight = torch.cat([torch.ones(sampled.num_edges), kept])
    assert_messages(method, output, problem, edges, weight)
    states = problem.features
    for layer in method.network.layers:
        states = F.relu(reference_layer(layer)(states, edges, weight))
    torch.testing.assert_close(output.logits[0], head(method, states))
    learned = [evidence.weight]
    assert all(gradients(method.losses(output, problem)["task"], learned))


def with_nearest(method, problem):
    """Join the observed edges and the nearest, each with what it counts for."""
    network = method.network
    nearest, weight = network.nearest(problem.graph, problem.features)
    observed = torch.ones(problem.graph.num_edges)
    if network.evidence is not None:
        observed = network.evidence(problem.graph, problem.features).exp()
    edges = torch.cat([problem.graph.edge_index, nearest.edge_index], dim=1)
    return edges, torch.cat([observed, weight.exp()])


def test_without_a_latent_graph_messages_pass_over_observed_and_nearest_edges(problem):
    method = built(problem, boolean_layers=0, nearest_messages=3, edge_evidence=True).eval()
    nearest = method.network.nearest
    with torch.no_grad():
        nearest.log_weight.fill_(-0.7)
        nearest.evidence.weight.copy_(torch.tensor([0.5, -0.3, 0.2, 0.4]))
    edges, weight = with_nearest(method, problem)
    assert edges.size(1) > problem.graph.num_edges
    states = problem.features
    for layer in method.network.layers:
        states = F.relu(reference_layer(layer)(states, edges, weight))
    output = method(problem, generator=seeded())
    torch.testing.assert_close(output.logits[0], head(method, states))
    assert_messages(method, output, problem, edges, weight)


def test_nearest_edges_stand_beside_the_sampled_ones_too_and_learn(problem):
    own = {"message_weight": "none", "observed_messages": True, "nearest_messages": 3}
    method = built(problem, embedding="mlp", edge_evidence=True, **own).eval()
    output = method(problem, generator=seeded())
    (sampled,) = output.draws
    edges, weight = with_nearest(method, problem)
    edges = torch.cat([sampled.edge_index, edges], dim=1)
    weight = torch.cat([torch.ones(sampled.num_edges), weight])
    assert_messages(method, output, problem, edges, weight)
    nearest = method.network.nearest
    learned = [nearest.log_weight, nearest.evidence.weight]
    assert all(gradients(method.losses(output, problem)["task"], learned))


def test_nearest_edges_do_not_wait_for_observed_ones_and_weights_of_those_stay(problem):
    problem = weighted(problem)
    own = {"message_weight": "none", "nearest_messages": 3, "embedding": "mlp"}
    method = built(problem, **own).eval()
    output = method(problem, generator=seeded())
    nearest, _ = method.network.nearest(problem.graph, problem.features)
    edges = torch.cat([output.draws[0].edge_index, nearest.edge_index], dim=1)
    assert_messages(method, output, problem, edges, torch.ones(edges.size(1)))
    plain = built(problem, boolean_layers=0, nearest_messages=3).eval()
    edges = torch.cat([problem.graph.edge_index, nearest.edge_index], dim=1)
    weight = torch.cat([problem.graph.edge_weight, torch.ones(nearest.num_edges)])
    output = plain(problem, generator=seeded())
    assert_messages(plain, output, problem, edges, weight)


def test_more_nearest_than_there_are_nodes_get_a_sentence(problem):
    words = f"`nearest_messages` must be between 0 and {NODES - 1} for {NODES} nodes, but got 99"
    with pytest.raises(InputError, match=words):
        built(problem, nearest_messages=99)


def test_f_cannot_hear_from_the_nearest_where_there_are_none():
    with pytest.raises(InputError, match="Set `nearest_messages=5`"):
        BPGNNSettings(nearest_in_embedding=True)


@pytest.mark.parametrize("shape", [False, True])
def test_f_hears_from_the_nearest_only_if_asked_to(problem, shape):
    method = built(
        problem, nearest_messages=3, observed_messages=True, nearest_in_embedding=shape
    ).eval()
    heard = []
    method.network.boolean[0].embedding.register_forward_hook(
        lambda _module, given, _found: heard.append(given[1].num_edges)
    )
    method(problem, generator=seeded())
    nearest, _ = method.network.nearest(problem.graph, problem.features)
    assert heard == [problem.graph.num_edges + shape * nearest.num_edges]


def test_the_product_is_that_of_the_observed_graph_whatever_is_near(problem):
    own = {"observed_messages": True, "embedding": "mlp"}
    plain, near = (built(problem, nearest_messages=some, **own).eval() for some in (0, 3))
    near.load_state_dict(plain.state_dict(), strict=False)
    products = [
        method.edge_probabilities(method(problem, generator=seeded()))["product"].to_dense()
        for method in (plain, near)
    ]
    torch.testing.assert_close(*products)


def test_own_states_are_a_linear_map_beside_the_messages(problem):
    method = built(problem, boolean_layers=0, own_states=True).eval()
    network, states = method.network, problem.features
    for layer, own in zip(network.layers, network.own, strict=True):
        heard = reference_layer(layer)(states, problem.graph.edge_index)
        states = F.relu(heard + states @ own.weight + own.bias)
    found = method(problem, generator=seeded()).logits[0]
    torch.testing.assert_close(found, head(method, states))


def test_the_authors_dense_layers_begin_as_those_of_torch(problem):
    method = built(problem, input_width=5, head=(4,), linear_start="torch")
    assert all(bool(layer.bias.any()) for layer in (method.network.input, *method.network.head))
    method = built(problem, input_width=5, head=(4,))
    assert not any(bool(layer.bias.any()) for layer in (method.network.input, *method.network.head))


def test_scores_may_be_the_messages_of_one_more_layer_as_in_a_gcn(problem):
    method = built(problem, boolean_layers=0, scores="messages", head=()).eval()
    *inner, last = method.network.layers
    states = problem.features
    for layer in inner:
        states = F.relu(reference_layer(layer)(states, problem.graph.edge_index))
    expected = reference_layer(last)(states, problem.graph.edge_index)
    assert len(inner) == len(method.settings.hidden)
    torch.testing.assert_close(method(problem, generator=seeded()).logits[0], expected)
