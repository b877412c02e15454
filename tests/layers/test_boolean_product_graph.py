import math
import resource
import sys
import time

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.nn import GCNConv, GraphConv
from torch_geometric.typing import WITH_PYG_LIB, WITH_TORCH_SPARSE

from bpgnn import BooleanProductGraph, block_model, to_pyg
from bpgnn.errors import InputError
from bpgnn.graph import Graph
from bpgnn.losses.graph_reward import graph_reward
from bpgnn.methods.bpgnn import BPGNN, BPGNNSettings
from bpgnn.training.problem import make_problem
from tests.infer.examples import plain_kernel, plain_product
from tests.infer.sample.exactness import chi_square, first_chances, pair_chances

NODES, WIDTH = 12, 5


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def features(num_nodes=NODES, dtype=torch.float, seed=0):
    return torch.randn(num_nodes, WIDTH, generator=seeded(seed), dtype=torch.double).to(dtype)


def edges(num_nodes=NODES, count=30, seed=1):
    """Directed, with duplicates and self-loops; the last node has no neighbour."""
    return torch.randint(num_nodes - 1, (2, count), generator=seeded(seed))


def layer(seed=0, **changes):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return BooleanProductGraph(WIDTH, **{"k": 3, "hidden_channels": (6,), **changes})


def by_node(values, k=3):
    return values.view(-1, k)


def test_each_node_draws_k_others_in_the_orientation_of_pyg():
    for num_nodes in (4, 12):
        edge_index, edge_weight, log_prob = layer()(features(num_nodes), edges(num_nodes))
        assert edge_index.shape == (2, 3 * num_nodes)
        assert edge_weight.shape == log_prob.shape == (3 * num_nodes,)
        assert edge_index[1].tolist() == [i for i in range(num_nodes) for _ in range(3)]
        for node, row in enumerate(by_node(edge_index[0]).tolist()):
            assert len({*row, node}) == 4


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [torch.float, torch.double])
def test_the_probabilities_are_the_definition_in_plain_loops(weighted, dtype):
    module = layer(witness="equal", hidden_channels=(), temperature=0.0).to(dtype).eval()
    x, observed = features(dtype=dtype), edges()
    weight = torch.rand(observed.size(1), generator=seeded(2)).to(dtype) + 0.1
    weight = weight if weighted else None
    edge_index, edge_weight, log_prob = module(x, observed, weight)
    assert edge_weight.dtype == log_prob.dtype == dtype
    graph = Graph.from_edge_index(observed, NODES, weight).without_self_loops()
    own = module.layer.embedding.layers[0]
    twin = GCNConv(WIDTH, 4).to(dtype)
    twin.load_state_dict({"bias": own.bias, "lin.weight": own.weight.T})
    latent = twin(x, graph.edge_index, graph.edge_weight).detach().double()
    latent = (latent - latent.mean(0)) / latent.std(0, correction=0)
    product = torch.tensor(plain_product("product", graph, plain_kernel(latent, 1.0)))
    sources, targets = edge_index
    wanted = product[targets, sources]
    torch.testing.assert_close(log_prob.double().exp(), wanted.double(), atol=1e-5, rtol=1e-3)
    # A node has itself at its neighbours' mean weight, one where it has none.
    total = torch.zeros(NODES).index_add(0, graph.targets, graph.weights.float())
    votes = torch.where(total > 0, total * (1 + 1 / graph.in_degree.clamp(min=1)), 1.0)
    torch.testing.assert_close(
        edge_weight.double(), (wanted * votes[targets]).double(), atol=1e-4, rtol=1e-3
    )


@pytest.mark.parametrize("message_weight", ["votes", "probability"])
def test_graph_weights_and_loss_are_those_of_bpgnn_with_the_same_parameters(message_weight):
    data = block_model(30, num_features=WIDTH, num_classes=3, mean_degree=4, seed=0)
    chosen = {"k": 3, "latent_dim": 4, "hidden": (6,), "message_weight": message_weight}
    chosen = BPGNNSettings(**chosen, embedding_hidden=(6,), graph_loss="reward")
    problem = make_problem(data, chosen)
    method = BPGNN.build(chosen, problem).eval()
    module = layer(message_weight=message_weight).eval()
    module.layer.load_state_dict(method.network.boolean[0].state_dict())
    output = method(problem, generator=seeded(3))
    (drawn,) = output.detail[0]
    found = module(problem.features, problem.graph.edge_index, generator=seeded(3))
    edge_index, edge_weight, log_prob = found
    assert torch.equal(edge_index, drawn.graph.edge_index)
    assert torch.equal(by_node(log_prob), drawn.log_prob)
    (gnn,) = method.network.layers
    twin = GCNConv(WIDTH, 6)
    twin.load_state_dict({"bias": gnn.bias, "lin.weight": gnn.weight.T})
    states = F.relu(twin(problem.features, edge_index, edge_weight))
    (head,) = method.network.head
    torch.testing.assert_close(head(states), output.logits[0])
    right = output.logits[0].argmax(-1)[problem.train] == problem.labels[problem.train]
    loss = module.graph_loss(log_prob, edge_index, right, problem.train)
    torch.testing.assert_close(loss, method.losses(output, problem)["graph"])


VARIANTS = [
    {},
    {"message_weight": "probability"},
    {"witness": "mixed"},
    {"witness": "equal", "symmetric": True},
    {"metric": "euclidean+hyperbolic+spherical", "latent_dim": 6},
    {"embedding": "gat"},
    {"embedding": "mlp", "sampler": "dense"},
]


@pytest.mark.parametrize("part", [1, 2])
@pytest.mark.parametrize("variant", VARIANTS)
def test_gradients_reach_every_parameter_through_weights_and_through_log_prob(variant, part):
    module = layer(dropout=0.0, **variant)
    module(features(), edges())[part].sum().backward()
    for name, parameter in module.named_parameters():
        # What shifts every latent point alike changes no distance.
        if name != "layer.embedding.layers.1.bias":
            assert torch.isfinite(parameter.grad).all(), name
            assert parameter.grad.abs().sum() > 0, name


@pytest.mark.parametrize("witness", ["equal", "gated", "mixed"])
def test_gradients_are_those_of_finite_differences(witness):
    module = layer(witness=witness, temperature=0.0, dropout=0.0).double()
    x = features(6, torch.double).requires_grad_()
    weight = torch.rand(30, generator=seeded(2)).double().add_(0.5).requires_grad_()

    def drawn(x, weight, *_):
        return module(x, edges(6), weight, generator=seeded())[1:]

    assert torch.autograd.gradcheck(drawn, (x, weight, *module.parameters()), fast_mode=True)


@settings(max_examples=25)
@given(st.permutations(range(NODES)))
def test_relabelling_nodes_relabels_weights_and_probabilities(order):
    module, place = layer().eval(), torch.tensor(order)
    x, observed, weight = features(), edges(), torch.arange(30) + 1.0
    edge_index, _, log_prob = module(x, observed, weight, generator=seeded())
    moved = torch.empty_like(x)
    moved[place] = x
    probabilities = module.probabilities(moved, place[observed], weight)
    found = probabilities.log_entries(place[edge_index])
    torch.testing.assert_close(found, log_prob, atol=1e-4, rtol=1e-4)


def test_first_and_second_neighbours_follow_the_product_and_not_the_kernel_alone():
    module = layer(k=2, witness="equal", temperature=-0.5).eval()
    x, observed, generator = features(6), edges(6, 8), seeded(5)
    with torch.no_grad():
        drawn = [module(x, observed, generator=generator)[0][0] for _ in range(400)]
        product = module.probabilities(x, observed)
        kernel, product = product.kernel.log_dense(), product.log_dense()
    drawn = torch.stack(drawn).view(-1, 6, 2).numpy()
    pairs = drawn[..., 0] * 6 + drawn[..., 1]

    def p_value(log_weights, chances, codes):
        log_weights = log_weights.double().fill_diagonal_(-math.inf)
        return chi_square(codes, chances(log_weights.numpy()))

    # Two right tests: one false alarm in 10 000.
    assert p_value(product, first_chances, drawn[..., 0]) > 0.5e-4
    assert p_value(product.clone(), pair_chances, pairs) > 0.5e-4
    assert p_value(kernel, first_chances, drawn[..., 0]) < 1e-9


def test_the_same_seed_gives_the_same_graph_from_either_kind_of_generator():
    module = layer(temperature=-2.0)  # dropout as well
    for seed_with in (torch.manual_seed, None):
        found = []
        for seed in (0, 0, 1):
            with torch.random.fork_rng(devices=[]):
                generator = None if seed_with else seeded(seed)
                torch.manual_seed(seed if seed_with else 7)
                found.append(module(features(), edges(), generator=generator))
        first, again, other = found
        assert all(map(torch.equal, first, again))
        assert not torch.equal(first[0], other[0])


def test_a_given_generator_leaves_torchs_own_alone():
    state = torch.get_rng_state()
    layer()(features(), edges(), generator=seeded())
    assert torch.equal(torch.get_rng_state(), state)


def test_it_draws_anew_in_evaluation_but_drops_nothing():
    module = layer(temperature=-2.0).eval()
    first, second = (module(features(), edges(), generator=seeded(s))[0] for s in (0, 1))
    assert not torch.equal(first, second)
    dense = [module.probabilities(features(), edges()).to_dense() for _ in range(2)]
    assert torch.equal(*dense)
    module.train()
    dense = [module.probabilities(features(), edges()).to_dense() for _ in range(2)]
    assert not torch.equal(*dense)


def test_without_an_observed_graph_the_kernel_is_drawn_from():
    module = layer(dropout=0.0)
    edge_index, edge_weight, log_prob = module(features(), None, generator=seeded())
    assert torch.equal(edge_weight, log_prob.exp())
    # A graph without edges gives each node itself as its only witness, which is the same.
    none = module(features(), torch.empty(2, 0, dtype=torch.long), generator=seeded())
    torch.testing.assert_close(module.probabilities(features(), None).log_entries(none[0]), none[2])
    assert torch.equal(none[0][1], edge_index[1])


def test_few_nodes_are_refused_or_drawn_from_as_far_as_they_go():
    with pytest.raises(InputError, match="clip_k=True"):
        layer(k=3)(features(3), None)
    clipped = layer(k=3, clip_k=True)
    for num_nodes, k in ((5, 3), (4, 3), (3, 2), (2, 1), (1, 0), (0, 0)):
        edge_index, edge_weight, log_prob = clipped(features(num_nodes), None)
        assert edge_index.shape == (2, num_nodes * k)
        assert edge_index.dtype == torch.long
        assert edge_weight.shape == log_prob.shape == (num_nodes * k,)


def test_under_autocast_it_keeps_its_precision():
    module = layer(dropout=0.0)
    plain = module(features(), edges(), generator=seeded())
    with torch.autocast("cpu", dtype=torch.bfloat16):
        cast = module(features(), edges(), generator=seeded())
        assert module(features().bfloat16(), edges())[1].dtype == torch.float
    assert all(map(torch.equal, plain, cast))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"k": 0}, "`k` must be 1 or more"),
        ({"hidden_channels": (0,)}, "`hidden_channels` must be widths of 1 or more"),
        ({"dropout": 1.0}, "`dropout` must be from 0 to below 1"),
        ({"temperature": 9.0}, "`temperature` must be between -5 and 5"),
        ({"metric": "flat"}, "`metric` cannot be 'flat'"),
        ({"embedding": "sage"}, "`embedding` cannot be 'sage'"),
        ({"message_weight": "none"}, "`message_weight` cannot be 'none'"),
        ({"hidden_channels": (2.5,)}, "`hidden_channels` must be whole numbers"),
        ({"hidden_channels": 2.5}, "`hidden_channels` must be whole numbers"),
    ],
)
def test_a_layer_that_cannot_be_is_refused(changes, words):
    with pytest.raises(InputError, match=words):
        layer(**changes)


def test_what_does_not_fit_the_layer_is_refused():
    drawn, _, log_prob = layer()(features(), edges())
    with pytest.raises(InputError, match="`expected` must have one value"):
        layer().graph_loss(log_prob, drawn, torch.ones(12), expected=torch.ones(3))
    with pytest.raises(InputError, match="from 0 to 11"):
        layer()(features(), torch.tensor([[0], [12]]))
    with pytest.raises(InputError, match=r"shape \(N, 5\)"):
        layer()(features()[:, :2], edges())
    with pytest.raises(InputError, match="NaN or infinity"):
        layer()(features() * torch.nan, edges())


def test_a_number_is_the_width_of_one_hidden_layer():
    for given_as, widths in ((7, [(5, 7), (7, 4)]), ((7,), [(5, 7), (7, 4)]), ((), [(5, 4)])):
        layers = layer(hidden_channels=given_as).layer.embedding.layers
        assert [tuple(own.weight.shape) for own in layers] == widths


def test_a_state_is_restored_with_parameters_and_running_means():
    module, other = layer(), layer(seed=1)
    edge_index, _, log_prob = module(features(), edges())
    module.graph_loss(log_prob, edge_index, torch.ones(NODES))
    other.load_state_dict(module.state_dict())
    first, second = (own.eval()(features(), edges(), generator=seeded()) for own in (module, other))
    assert all(map(torch.equal, first, second))
    assert torch.equal(other.correctness.of(torch.arange(NODES)), torch.full((NODES,), 0.525))


def test_the_graph_loss_is_the_mean_reward_over_the_labelled_nodes_edges():
    module = layer()
    edge_index, _, log_prob = module(features(), edges())
    nodes = torch.tensor([7, 2, 9])
    right = torch.tensor([True, False, True])
    wanted = graph_reward(by_node(log_prob)[nodes], torch.tensor([-0.5, 0.5, -0.5]))
    torch.testing.assert_close(module.graph_loss(log_prob, edge_index, right, nodes), wanted)
    # The means have moved: next time the same answers surprise less.
    second = module.graph_loss(log_prob, edge_index, right, nodes)
    torch.testing.assert_close(second, 0.95 * wanted)
    mask = torch.zeros(NODES, dtype=torch.bool)
    mask[nodes] = True
    third = module.eval().graph_loss(log_prob, edge_index, torch.tensor([False, True, True]), mask)
    torch.testing.assert_close(third, 0.95**2 * wanted)
    fourth = module.graph_loss(log_prob, edge_index, torch.tensor([0.0, 1, 1]), mask)
    torch.testing.assert_close(fourth, third)  # in evaluation nothing moves


def test_expectations_given_by_the_caller_are_used_and_ours_left_alone():
    module = layer()
    edge_index, _, log_prob = module(features(), edges())
    right, expected = torch.ones(NODES), torch.linspace(0, 1, NODES)
    found = module.graph_loss(log_prob, edge_index, right, expected=expected)
    torch.testing.assert_close(found, graph_reward(by_node(log_prob), expected - 1))
    assert len(module.correctness.expected_right) == 0


def test_in_a_batch_running_means_are_kept_by_numbers_of_the_whole_graph():
    module = layer(k=2)
    for n_id in ([40, 3, 8, 21], [3, 50, 40, 7]):
        edge_index, _, log_prob = module(features(4), None)
        nodes, right = torch.tensor([0, 1]), torch.tensor([True, False])
        module.graph_loss(log_prob, edge_index, right, nodes, n_id=torch.tensor(n_id))
    means = module.correctness.of(torch.tensor([40, 3, 50, 8, 0]))
    up, down = 0.525, 0.475
    wanted = torch.tensor([up, 0.95 * down + 0.05, down, 0.5, 0.5])
    torch.testing.assert_close(means, wanted)


def test_without_labelled_nodes_or_edges_the_graph_loss_is_zero():
    module = layer(clip_k=True)
    edge_index, _, log_prob = module(features(), edges())
    nobody = torch.empty(0, dtype=torch.long)
    loss = module.graph_loss(log_prob, edge_index, torch.empty(0, dtype=torch.bool), nobody)
    loss.backward()
    assert loss.item() == 0.0
    edge_index, _, log_prob = module(features(1), None)
    assert module.graph_loss(log_prob, edge_index, torch.tensor([True])).item() == 0.0


def test_a_step_on_the_graph_loss_makes_edges_of_surprisingly_right_nodes_likelier():
    module = layer(dropout=0.0)
    edge_index, _, log_prob = module(features(), edges())
    right = torch.arange(NODES) % 2 == 0
    module.graph_loss(log_prob, edge_index, right).backward()
    torch.optim.SGD(module.parameters(), lr=0.01).step()
    after = module.probabilities(features(), edges()).log_entries(edge_index)
    change = by_node((after - log_prob).detach()).sum(1)
    assert change[right].sum() > change[~right].sum()


def test_a_model_of_pyg_over_the_drawn_graph_teaches_it():
    data = to_pyg(block_model(60, num_features=WIDTH, seed=0))
    module, conv = layer(k=5), GraphConv(WIDTH, 4)
    start = [parameter.clone() for parameter in module.parameters()]
    optimizer = torch.optim.Adam([*module.parameters(), *conv.parameters()], lr=0.02)
    losses = []
    for step in range(40):
        edge_index, edge_weight, _ = module(data.x, data.edge_index, generator=seeded(step))
        loss = F.cross_entropy(conv(data.x, edge_index, edge_weight), data.y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert sum(losses[-5:]) < 0.7 * sum(losses[:5])
    moved = [not torch.equal(a, b) for a, b in zip(start, module.parameters(), strict=True)]
    assert all(moved)


@pytest.mark.skipif(
    not (WITH_PYG_LIB or WITH_TORCH_SPARSE), reason="NeighborLoader needs pyg-lib or torch-sparse"
)
def test_batches_of_a_neighbor_loader_train_with_running_means_by_node():
    from torch_geometric.loader import NeighborLoader

    data = to_pyg(block_model(80, num_features=WIDTH, seed=0))
    module, conv = layer(k=5, clip_k=True), GraphConv(WIDTH, 4)
    for batch in NeighborLoader(data, num_neighbors=[4, 4], batch_size=20):
        edge_index, edge_weight, log_prob = module(batch.x, batch.edge_index)
        seeds = torch.arange(batch.batch_size)
        logits, labels = conv(batch.x, edge_index, edge_weight)[seeds], batch.y[seeds]
        right = logits.argmax(-1) == labels
        loss = module.graph_loss(log_prob, edge_index, right, seeds, n_id=batch.n_id)
        (F.cross_entropy(logits, labels) + loss).backward()
    assert (module.correctness.of(torch.arange(80)) != 0.5).all()


def test_memory_does_not_grow_with_the_square_of_the_nodes():
    num_nodes = 20_000  # of whose square one matrix of float32 holds 1.6 GB
    x = features(num_nodes)
    observed = torch.randint(num_nodes, (2, 5 * num_nodes), generator=seeded())
    module = layer(k=5, latent_dim=2)
    module(features(100), edges(100))  # what is compiled is compiled
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    edge_index, edge_weight, log_prob = module(x, observed, generator=seeded())
    (edge_weight.sum() + log_prob.sum()).backward()
    unit = 1 if sys.platform == "darwin" else 1024
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * unit
    assert edge_index.shape == (2, 5 * num_nodes)
    assert grown < 500e6
    assert time.process_time() - start < 60
