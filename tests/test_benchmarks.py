import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from bpgnn.randomness import generator_for

ROOT = Path(__file__).parents[1]


@pytest.fixture
def parts(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))


def run(script: str, *words: str) -> str:
    """Run a benchmark and return what it prints."""
    command = [sys.executable, str(ROOT / "benchmarks" / script), "--seconds", "0.1", *words]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=240)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.mark.slow
def test_the_sampler_benchmark_measures_extrapolates_and_draws(tmp_path: Path):
    pytest.importorskip("matplotlib")
    results, figure = tmp_path / "sampler.jsonl", tmp_path / "cost.png"
    words = ["--dims", "4", "--k", "5", "--temperatures", "middle", "--results", str(results)]
    measure = ["--samplers", "dense", "lazy", "--cache", str(tmp_path)]
    run("sampler.py", "--sizes", "300", *words, *measure)
    lines = [json.loads(line) for line in results.read_text().splitlines()]
    assert {line["sampler"] for line in lines} == {"dense", "lazy"}
    assert all(line["seconds"] > 0 and line["megabytes"] >= 0 for line in lines)
    assert all(abs(line["effective_neighbours"] - 50) < 1 for line in lines)
    show = ["--sizes", "300", "1000000", "--table", "--figure", str(figure)]
    small, large = run("sampler.py", *words, *show).splitlines()[2:]
    assert small.startswith("| 300 | 4 | 5 | middle |")
    assert "~" not in small
    assert large.count("~") == 2
    assert figure.read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_the_step_benchmark_measures_and_draws_both_sides(tmp_path: Path):
    pytest.importorskip("matplotlib")
    results, figure = tmp_path / "step.jsonl", tmp_path / "step.png"
    run("training_step.py", "300", "--results", str(results))
    line = json.loads(results.read_text())
    assert set(line["seconds"]) == set(line["megabytes"]) == {"bpgnn", "gcn"}
    show = ["--table", "--figure", str(figure)]
    assert "| block model | 300 |" in run(
        "training_step.py", "300", "--results", str(results), *show
    )
    assert figure.read_bytes().startswith(b"\x89PNG")


def test_costs_are_guessed_from_smaller_sizes_and_never_beyond_one_that_was_ended(parts, tmp_path):
    from parts.known import Known, Paid
    from parts.tasks import Cell

    def line(sampler: str, size: int, seconds: float | None) -> str:
        cell = {"sampler": sampler, "num_nodes": size, "dim": 4, "k": 5, "temperature": "flat"}
        return json.dumps({**cell, "seconds": seconds, "megabytes": 1.0, "auto": "lazy"})

    lines = [line("dense", 100, 9.0), line("dense", 100, 1.0), line("lazy", 100, 1.0)]
    lines += [line("lazy", 1000, None), '{"torn']
    (tmp_path / "known.jsonl").write_text("\n".join(lines))
    known = Known(tmp_path / "known.jsonl")
    assert known.cost(Cell("dense", 100, 4, 5, "flat")) == Paid(1.0, 1.0, measured=True)
    assert known.cost(Cell("dense", 300, 4, 5, "flat")) == Paid(9.0, 9.0, measured=False)
    assert known.cost(Cell("dense", 300, 4, 5, "sharp")) is None
    assert known.cost(Cell("lazy", 1000, 4, 5, "flat")) is None
    assert known.expected(Cell("lazy", 9000, 4, 5, "flat")).seconds == float("inf")


def test_the_authors_arithmetic_draws_in_proportion_to_the_product(parts):
    from parts.tasks import dense_pass

    points = torch.tensor([[0.0], [0.5], [1.0], [2.0]])
    votes = torch.tensor([[0.5, 0.5, 0, 0], [0, 1, 0, 0], [0, 0, 0.5, 0.5], [0, 0, 0, 1]])
    rates = votes @ torch.exp(-1.5 * (points - points.t()).square())
    chances = rates.fill_diagonal_(0) / rates.sum(1, keepdim=True)
    generator, counts = generator_for(0), torch.zeros(4, 4)
    for _ in range(4000):
        first = dense_pass(points, votes.to_sparse_csr(), 1.5, 2, generator)[:, 0]
        counts[torch.arange(4), first] += 1
    # Five standard deviations of a frequency over 4000 draws are at most 0.04.
    torch.testing.assert_close(counts / 4000, chances, atol=0.04, rtol=0)


def test_the_benchmark_of_the_pyg_layer_trains_each_kind_of_case(parts):
    import pyg_layer

    with torch.random.fork_rng(devices=[]):
        found = {case: pyg_layer.train(case, 2, 0) for case in pyg_layer.CASES}
    for case, (accuracy, gradient) in found.items():
        assert 0 <= accuracy <= 100
        taught = "observed" not in case and "untrained" not in case
        assert (gradient > 0) == taught, case
