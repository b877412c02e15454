import pytest
import torch

from bpgnn.data.catalog import load
from bpgnn.errors import NotEnoughMemoryError
from bpgnn.method import MethodSettings, sizes_of
from bpgnn.methods.registry import METHODS, settings_of
from bpgnn.training import memory
from bpgnn.training.fit import fit
from bpgnn.training.memory import free_in_container, free_memory, in_words, memory_of_methods
from bpgnn.training.problem import make_problem


def test_a_training_that_does_not_fit_is_refused_with_both_figures(small, make_plan, monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda _: 1000)
    with pytest.raises(NotEnoughMemoryError, match=r"bpgnn needs about \d+ MB for 60 nodes, but"):
        fit(small, make_plan())


def test_some_memory_is_free_here():
    assert 1e6 < free_memory(torch.device("cpu")) < 1e15


def test_the_limit_of_a_container_counts(monkeypatch):
    monkeypatch.setattr(memory, "free_in_container", lambda: 2_500_000)
    assert free_memory(torch.device("cpu")) == 2_500_000


@pytest.mark.parametrize(
    ("folder", "limit", "used", "prefix"),
    [
        (".", "memory.max", "memory.current", ""),
        ("memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_"),
    ],
)
def test_a_limit_is_read_in_the_form_of_today_and_the_one_before(
    tmp_path, folder, limit, used, prefix
):
    place = tmp_path / folder
    place.mkdir(exist_ok=True)
    (place / limit).write_text("5000000\n")
    (place / used).write_text("3000000\n")
    assert free_in_container(tmp_path) == 2_000_000
    figures = f"anon 7\n{prefix}inactive_file 300000\n{prefix}active_file 200000\n"
    (place / "memory.stat").write_text(figures)
    assert free_in_container(tmp_path) == 2_500_000


def test_without_a_limit_a_container_says_nothing(tmp_path):
    assert free_in_container(tmp_path) is None
    (tmp_path / "memory.max").write_text("max\n")
    (tmp_path / "memory.current").write_text("3000000\n")
    assert free_in_container(tmp_path) is None


@pytest.mark.parametrize(
    ("count", "words"), [(0, "1 MB"), (62_300_000, "62 MB"), (21_950_000_000, "21.9 GB")]
)
def test_bytes_in_words(count, words):
    assert in_words(count) == words


def test_the_estimates_are_those_by_which_a_training_is_refused():
    data = load("cora")
    needed = memory_of_methods(data)
    problem = make_problem(data, MethodSettings())
    assert list(needed) == list(METHODS)
    for name, method in METHODS.items():
        assert needed[name] == method.memory(settings_of(name, "tuned", "cora"), sizes_of(problem))
