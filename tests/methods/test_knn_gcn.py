from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from sklearn.neighbors import kneighbors_graph

from bpgnn.data.synthetic import block_model
from bpgnn.errors import InputError
from bpgnn.methods.knn_gcn import KNNGCN, KNNGCNSettings
from bpgnn.nn.sparse import SparseMatrix
from bpgnn.randomness import seeded_globally
from bpgnn.training.fit import fit
from bpgnn.training.plan import Plan
from bpgnn.training.problem import make_problem

NODES = 24


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def settings(**changes):
    return KNNGCNSettings(**{"k": 4, "hidden": 6, **changes})


@pytest.fixture
def problem():
    data = block_model(NODES, num_classes=3, mean_degree=4, num_features=7, seed=0)
    return make_problem(data, settings(), dtype=torch.double)


def built(problem, seed=0, **changes):
    with seeded_globally(seed):
        return KNNGCN.build(settings(**changes), problem).double()


def by_definition(method, features):
    """A = D^-1/2 (A_kNN + I) D^-1/2 by scikit-learn and dense torch."""
    metric = method.settings.metric
    nearest = kneighbors_graph(features.numpy(), 4, metric=metric, include_self=False)
    adjacency = torch.from_numpy(nearest.toarray()) + torch.eye(NODES).double()
    scale = adjacency.sum(1) ** -0.5
    adjacency = scale.unsqueeze(1) * adjacency * scale
    network = method.network
    hidden = torch.relu(adjacency @ features @ network.first + network.first_bias)
    return adjacency @ hidden @ network.second.t() + network.second_bias


@pytest.mark.parametrize("metric", ["cosine", "minkowski"])
@pytest.mark.parametrize("sparse", [False, True])
def test_predictions_are_those_of_the_dense_definition(problem, metric, sparse):
    features = problem.features
    if sparse:
        matrix = SparseMatrix.from_csr(features.to_sparse_csr())
        problem = replace(problem, features=matrix)
    method = built(problem, metric=metric).eval()
    output = method(problem, generator=seeded())
    assert output.logits.shape == (1, NODES, 3)
    torch.testing.assert_close(output.logits[0], by_definition(method, features))
    losses = method.losses(output, problem)
    expected = F.cross_entropy(output.logits[0, problem.train], problem.labels[problem.train])
    torch.testing.assert_close(losses, {"task": expected})


def test_the_graph_handed_out_is_that_of_the_nearest_neighbours(problem):
    method = built(problem).eval()
    (graph,) = method.latent_graphs(method(problem, generator=seeded()))
    expected = kneighbors_graph(problem.features.numpy(), 4, metric="cosine", include_self=False)
    assert (graph.to_scipy() != expected).nnz == 0


def test_relabelling_nodes_relabels_the_prediction(problem):
    method = built(problem).eval()
    place = torch.randperm(NODES, generator=seeded(5))
    moved = replace(problem, features=problem.features[place.argsort()])
    found = method(moved, generator=seeded()).logits[0]
    torch.testing.assert_close(found[place], method(problem, generator=seeded()).logits[0])


def test_dropout_acts_in_training_only(problem):
    method = built(problem)
    assert not torch.equal(*(method(problem, generator=seeded(s)).logits for s in (1, 2)))
    method.eval()
    assert torch.equal(*(method(problem, generator=seeded(s)).logits for s in (1, 2)))


def test_a_node_without_features_is_no_obstacle(problem):
    features = problem.features.clone()
    features[3] = 0.0
    problem = replace(problem, features=features)
    method = built(problem)
    sum(method.losses(method(problem, generator=seeded()), problem).values()).backward()
    assert all(torch.isfinite(p.grad).all() for p in method.parameters())


def test_it_is_trained_by_the_one_loop_to_the_same_end_each_time():
    data = block_model(60, num_classes=3, mean_degree=4, num_features=9, seed=0)
    plan = Plan(method="knn-gcn", changes={"k": 4, "max_steps": 60})
    seen = []
    one = fit(data, plan, watch=lambda state: seen.append(state.losses["task"]))
    assert torch.equal(one.probabilities, fit(data, plan).probabilities)
    assert sum(seen[-5:]) < 0.9 * sum(seen[:5])
    assert one.latent_graph.num_edges == 240


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"k": 0}, "`k` must be 1 or more, but got 0"),
        ({"hidden": 0}, "`hidden` must be 1 or more"),
        ({"adjacency_dropout": 1.0}, "`adjacency_dropout` must be from 0 to below 1"),
        ({"metric": "cosin"}, "`metric` cannot be 'cosin'. Did you mean cosine?"),
    ],
)
def test_settings_that_cannot_be_are_refused(changes, words):
    with pytest.raises(InputError, match=words.replace("?", r"\?")):
        settings(**changes)


def test_more_neighbours_than_there_are_nodes_are_refused(problem):
    with pytest.raises(InputError, match=f"between 1 and {NODES - 1} for {NODES} nodes"):
        built(problem, k=NODES)


@pytest.mark.parametrize(
    ("dataset", "split"),
    [("cora", "public"), ("photo", "public"), ("my own", "public")],
)
def test_the_published_preset_is_the_protocol_of_the_authors(dataset, split):
    found = KNNGCN.preset("published", dataset)
    assert (found.hidden, found.weight_decay, found.dropout) == (32, 5e-4, 0.5)
    assert (found.max_steps, found.evaluate_every, found.patience) == (200, 10, 100)
    scaling = "tables" if dataset == "my own" else "none"
    assert (found.select_by, found.feature_scaling, found.split) == ("accuracy", scaling, split)
    assert found.k in (10, 15, 20, 30)
    assert KNNGCN.preset("paper", dataset).split == "complete"
    assert KNNGCN.preset("tuned", dataset).split == "auto"


def test_an_unknown_preset_is_met_with_the_nearest():
    with pytest.raises(InputError, match="no preset 'papper' here. Did you mean paper?"):
        KNNGCN.preset("papper", "cora")
