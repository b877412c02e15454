from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from bpgnn.data.dataset import Dataset
from bpgnn.data.split import split, with_fewer_labels
from bpgnn.data.synthetic import block_model
from bpgnn.errors import InputError


def data_with(labels: list[int] | torch.Tensor) -> Dataset:
    labels = torch.as_tensor(labels)
    return Dataset("own", torch.ones(labels.numel(), 2), labels, graph=None)


def test_complete_takes_the_last_thousand_nodes_in_stored_order():
    parts = split(data_with(torch.arange(1600) % 3), "complete")
    assert parts.train.nonzero().squeeze(1).tolist() == list(range(600))
    assert parts.validation.nonzero().squeeze(1).tolist() == list(range(600, 1100))
    assert parts.test.nonzero().squeeze(1).tolist() == list(range(1100, 1600))


def test_complete_refuses_a_small_data_set_and_names_the_cure():
    with pytest.raises(InputError, match="has 1500. Use the split 'random'"):
        split(data_with(torch.arange(1500) % 2), "complete")


def test_public_is_the_published_split():
    dataset = data_with([0, 1, 0, 1, 0, 1])
    published = split(dataset, "random")
    assert split(replace(dataset, public_split=published), "public") is published


def test_public_refuses_data_without_one():
    with pytest.raises(InputError, match="No public split was published with own"):
        split(data_with([0, 1, 0]), "public")


def test_an_unknown_kind_is_refused_with_the_choices():
    with pytest.raises(InputError, match="complete, public, random, but got 'rondom'"):
        split(data_with([0, 1, 0]), "rondom")


@given(
    labels=st.lists(st.integers(-1, 4), min_size=12, max_size=80).filter(
        lambda labels: sum(label >= 0 for label in labels) >= 10
    ),
    seed=st.integers(0, 2**40),
)
def test_random_parts_hold_every_labelled_node_once(labels, seed):
    dataset = data_with(labels)
    parts = split(dataset, "random", seed=seed)
    times = parts.train.int() + parts.validation.int() + parts.test.int()
    assert torch.equal(times, (dataset.labels >= 0).int())
    assert torch.equal(split(dataset, "random", seed=seed).train, parts.train)
    known = dataset.labels[dataset.labels >= 0].unique()
    if int(parts.train.sum()) >= known.numel():
        assert torch.equal(dataset.labels[parts.train].unique(), known)


def test_random_keeps_the_shares_asked_for():
    dataset = data_with(torch.arange(200) % 2)
    parts = split(dataset, "random", train=0.1, validation=0.2, test=0.3)
    sizes = [int(part.sum()) for part in (parts.train, parts.validation, parts.test)]
    assert sizes == [20, 40, 60]


def test_another_seed_gives_another_split():
    dataset = data_with(torch.arange(200) % 2)
    one, other = (split(dataset, "random", seed=seed).train for seed in (0, 1))
    assert not torch.equal(one, other)


def test_every_node_is_equally_likely_to_test():
    dataset = data_with(torch.arange(20) % 2)
    counts = sum(split(dataset, "random", seed=seed).test.int() for seed in range(500))
    # Each of 20 nodes expects 100 of 500; the first of a class trains, the same for all.
    assert int(counts.min()) > 60
    assert int(counts.max()) < 140


@pytest.mark.parametrize("shares", [(0.6, 0.3, 0.3), (0.0, 0.5, 0.5), (float("nan"), 0.1, 0.1)])
def test_shares_that_make_no_sense_are_refused(shares):
    train, validation, test = shares
    with pytest.raises(InputError, match="positive shares of at most 1 together"):
        split(data_with([0, 1] * 5), "random", train=train, validation=validation, test=test)


def test_too_few_labels_are_refused():
    with pytest.raises(InputError, match="at least 3 labelled nodes"):
        split(data_with([0, 1, -1, -1]), "random")


def test_parts_that_leave_no_training_node_are_refused():
    with pytest.raises(InputError, match="leave none for training"):
        split(data_with([0, 1, 0]), "random", train=0.02, validation=0.48, test=0.5)


@pytest.mark.parametrize("seed", [-1, 0.5, True])
def test_a_seed_must_be_a_whole_number(seed):
    with pytest.raises(InputError, match="`seed` must be a whole number from 0 up"):
        split(data_with([0, 1, 0, 1]), "random", seed=seed)


@pytest.mark.parametrize("count", [1, 3, 1000])
def test_fewer_labels_are_some_of_each_class_and_leave_the_other_parts(count):
    data = block_model(120, seed=0)
    parts = data.chosen_split()
    few = with_fewer_labels(parts, data.labels, count, seed=1)
    assert not (few.train & ~parts.train).any()
    for number in range(data.num_classes):
        kept, all_of_it = (int((it.train & (data.labels == number)).sum()) for it in (few, parts))
        assert kept == min(count, all_of_it)
    assert torch.equal(few.validation, parts.validation)
    assert torch.equal(few.test, parts.test)


def test_more_labels_hold_the_fewer_of_the_same_seed():
    data = block_model(120, seed=0)
    few, more, other = (
        with_fewer_labels(data.chosen_split(), data.labels, count, seed=seed).train
        for count, seed in ((2, 5), (6, 5), (2, 6))
    )
    assert not (few & ~more).any()
    assert not torch.equal(few, other)
