import time

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from bpgnn.data.synthetic import block_model
from bpgnn.errors import InputError


def share_of_wrong_edges(dataset):
    sources, targets = dataset.graph.edge_index
    return float((dataset.labels[sources] != dataset.labels[targets]).float().mean())


@given(
    num_nodes=st.integers(30, 80),
    num_classes=st.integers(2, 4),
    wrong_edges=st.floats(0, 1),
    seed=st.integers(0, 2**32),
)
def test_the_graph_has_the_edges_and_the_share_asked_for(num_nodes, num_classes, wrong_edges, seed):
    settings = {"num_classes": num_classes, "mean_degree": 4, "wrong_edges": wrong_edges}
    dataset = block_model(num_nodes, **settings, seed=seed)
    num_pairs = 2 * num_nodes
    assert dataset.num_pairs == num_pairs
    assert dataset.graph.is_undirected
    assert not bool((dataset.graph.sources == dataset.graph.targets).any())
    num_wrong = round(wrong_edges * num_pairs)
    assert share_of_wrong_edges(dataset) == pytest.approx(num_wrong / num_pairs, abs=1e-6)
    assert f"{num_wrong} join two classes" in dataset.notes[0]
    sizes = torch.bincount(dataset.labels, minlength=num_classes)
    assert int(sizes.max() - sizes.min()) <= 1
    again = block_model(num_nodes, **settings, seed=seed)
    assert torch.equal(again.graph.edge_index, dataset.graph.edge_index)
    assert torch.equal(again.features, dataset.features)
    assert torch.equal(again.split.train, dataset.split.train)


def test_features_are_class_means_of_length_one_plus_noise():
    still = block_model(60, num_classes=3, feature_noise=0.0, seed=1)
    assert still.features.norm(dim=1).tolist() == pytest.approx([1.0] * 60)
    for number in range(3):
        rows = still.features[still.labels == number]
        assert torch.equal(rows, rows[:1].expand_as(rows))
    noisy = block_model(20_000, num_classes=2, num_features=8, feature_noise=2.0, seed=1)
    rows = noisy.features[noisy.labels == 0]
    assert rows.std(dim=0).tolist() == pytest.approx([2.0] * 8, rel=0.05)
    assert float(rows.mean(dim=0).norm()) == pytest.approx(1.0, abs=0.1)


def test_a_graph_that_takes_every_pair_within_classes_is_found():
    dataset = block_model(12, num_classes=3, mean_degree=3, wrong_edges=0.0, seed=0)
    assert dataset.num_pairs == 18
    assert share_of_wrong_edges(dataset) == 0


def test_a_graph_without_edges_is_allowed():
    assert block_model(30, mean_degree=0).num_pairs == 0


def test_every_pair_within_a_class_is_equally_likely():
    counts = torch.zeros(12, 12)
    rank = None
    for seed in range(400):
        dataset = block_model(12, num_classes=2, mean_degree=1, wrong_edges=0.0, seed=seed)
        # Nodes in the order of their class, since each seed shuffles the classes.
        rank = dataset.labels.argsort(stable=True).argsort()
        low, high = rank[dataset.graph.undirected_pairs()]
        counts[torch.minimum(low, high), torch.maximum(low, high)] += 1
    within = counts[:6, :6].triu(1)[torch.ones(6, 6).triu(1) > 0]
    # 400 draws of 6 of the 30 pairs: 80 each.
    assert float(counts.sum()) == 2400
    assert bool((within - 80).abs().max() < 5 * 80**0.5)


def test_a_hundred_thousand_nodes_take_moments():
    start = time.process_time()
    dataset = block_model(100_000, seed=0)
    assert dataset.num_pairs == 500_000
    assert time.process_time() - start < 5


@pytest.mark.slow
def test_a_million_nodes_take_some_seconds():
    start = time.process_time()
    assert block_model(1_000_000, seed=0).num_nodes == 1_000_000
    assert time.process_time() - start < 30


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"num_classes": 1}, "`num_classes` must be 2 or more"),
        ({"num_classes": 9}, "`num_nodes` must be at least 27"),
        ({"num_features": 0}, "`num_features` must be 1 or more"),
        ({"wrong_edges": 1.5}, "a share between 0 and 1"),
        ({"wrong_edges": float("nan")}, "a share between 0 and 1"),
        ({"mean_degree": -1}, "`mean_degree` must be a finite number"),
        ({"feature_noise": float("inf")}, "`feature_noise` must be a finite number"),
        ({"mean_degree": 15}, "Lower `mean_degree`"),
        ({"seed": -1}, "`seed` must be a whole number"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, words):
    with pytest.raises(InputError, match=words):
        block_model(20, **settings)
