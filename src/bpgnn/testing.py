"""The contract of a method, as checks that any test suite can run.

A method of one's own passes it like this:

    @pytest.mark.parametrize("check", METHOD_CHECKS)
    def test_my_method_keeps_the_contract(check):
        METHOD_CHECKS[check](MyMethod, MySettings(max_steps=30))

Each check raises `AssertionError` with a sentence that says what is wrong.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from bpgnn.data.dataset import Dataset
from bpgnn.data.synthetic import block_model
from bpgnn.errors import InputError
from bpgnn.graph import Graph, with_both_directions
from bpgnn.method import Draws, Method, MethodSettings, Output, Problem, sizes_of
from bpgnn.nn.sparse import SparseMatrix, values_of
from bpgnn.randomness import generator_for, repeatable_sums, seeded_globally
from bpgnn.training.checkpoint import TrainingState, from_bytes, to_bytes
from bpgnn.training.problem import make_problem

Check = Callable[[type[Method[Any]], MethodSettings], None]

METHOD_CHECKS: dict[str, Check] = {}
"""Every check by what it promises."""


def _check(promise: str) -> Callable[[Check], Check]:
    def keep(check: Check) -> Check:
        METHOD_CHECKS[promise] = check
        return check

    return keep


@_check("there is a score for every node and class")
def _scores(method: type[Method[Any]], settings: MethodSettings) -> None:
    problem = make_problem(_data(), settings)
    built = _built(method, settings, problem)
    output = _evaluated(built, problem, num_samples=3)
    samples, *rest = output.logits.shape
    assert rest == [problem.num_nodes, problem.num_classes], f"Logits are {output.logits.shape}."
    assert samples in (1, 3), f"Three samples were asked for, but there are {samples}."
    assert bool(torch.isfinite(output.logits).all()), "Some scores are not finite."
    graphs = built.latent_graphs(output)
    assert bool(graphs) == method.infers_graph, f"`infers_graph` is not true of {len(graphs)}."
    for graph in graphs:
        assert graph.num_nodes == problem.num_nodes, f"A graph has {graph.num_nodes} nodes."
        assert bool((graph.weights > 0).all()), "A latent edge has no positive weight."


@_check("every parameter learns")
def _learning(method: type[Method[Any]], settings: MethodSettings) -> None:
    problem = make_problem(_data(), settings)
    built = _built(method, settings, problem)
    waiting = dict(built.named_parameters())
    for _ in _steps(built, problem, 12):
        reached = [name for name, p in waiting.items() if p.grad is not None and bool(p.grad.any())]
        waiting = {name: p for name, p in waiting.items() if name not in reached}
    assert not waiting, f"No gradient reaches {', '.join(waiting)}."


@_check("training makes the loss smaller")
def _falling(method: type[Method[Any]], settings: MethodSettings) -> None:
    easy = block_model(90, num_classes=3, wrong_edges=0.0, feature_noise=0.3, seed=1)
    problem = make_problem(easy, settings)
    losses = list(_steps(_built(method, settings, problem), problem, 60))
    before, after = (sum(part) / len(part) for part in (losses[:6], losses[-6:]))
    assert after < before, f"The loss went from {before:.3f} to {after:.3f}."


@_check("relabelling the nodes relabels the predictions")
def _relabelling(method: type[Method[Any]], settings: MethodSettings) -> None:
    problem = make_problem(_data(), settings, dtype=torch.float64)
    built = _trained(method, settings, problem)
    output = _evaluated(built, problem, num_samples=2)
    place = torch.randperm(problem.num_nodes, generator=torch.Generator().manual_seed(5))
    moved = _evaluated(
        built, _relabelled(problem, place), num_samples=2, draws=_moved(output.draws, place)
    )
    gap = (moved.probabilities()[place] - output.probabilities()).abs().max()
    assert float(gap) < 1e-6, f"Predictions differ by {float(gap):.2g}."


@_check("the same seed gives the same predictions")
def _seeds(method: type[Method[Any]], settings: MethodSettings) -> None:
    problem = make_problem(_data(), settings)
    one, same = (_evaluated(_trained(method, settings, problem), problem) for _ in range(2))
    assert torch.equal(one.logits, same.logits), "Two runs of one seed differ."


@_check("saved and loaded, it predicts the same")
def _saving(method: type[Method[Any]], settings: MethodSettings) -> None:
    problem = make_problem(_data(), settings)
    built = _trained(method, settings, problem)
    stored = to_bytes(TrainingState(weights=built.state_dict()))
    twin = _built(method, settings, problem, seed=1)
    twin.load_state_dict(from_bytes(stored, "memory").weights)
    one, same = (_evaluated(it, problem) for it in (built, twin))
    assert torch.equal(one.logits, same.logits), "A loaded method predicts something else."


@_check("nodes without neighbours are classified")
def _isolated(method: type[Method[Any]], settings: MethodSettings) -> None:
    data = _data()
    graph = data.graph or Graph.empty(60)
    keep = (graph.edge_index > 9).all(0)
    _check_runs(method, settings, data.with_graph(Graph(graph.edge_index[:, keep], 60)))


@_check("without a graph it runs, or says in a sentence that it needs one")
def _no_graph(method: type[Method[Any]], settings: MethodSettings) -> None:
    refusal = None
    try:
        _check_runs(method, settings, _data().with_graph(None))
    except InputError as error:
        refusal = error
    if method.graph_use == "needed":
        assert refusal, "`graph_use` is 'needed', but it runs without a graph."
    else:
        assert not refusal, f"`graph_use` is {method.graph_use!r}, but it says: {refusal}"


@_check("where it ignores the graph, any graph gives the same predictions")
def _ignoring(method: type[Method[Any]], settings: MethodSettings) -> None:
    if method.graph_use != "ignored":
        return
    with_graph, without = (
        make_problem(data, settings) for data in (_data(), _data().with_graph(None))
    )
    one, same = (
        _evaluated(_trained(method, settings, problem), problem)
        for problem in (with_graph, without)
    )
    assert torch.equal(one.logits, same.logits), "The graph changes what it predicts."


@_check("a graph with weights of another precision will do")
def _weighted(method: type[Method[Any]], settings: MethodSettings) -> None:
    data = _data()
    graph = data.graph or Graph.empty(60)
    weight = 0.1 + torch.rand(graph.num_edges, generator=generator_for(0), dtype=torch.float64)
    weighted = with_both_directions(Graph(graph.edge_index, 60, weight))
    _check_runs(method, settings, data.with_graph(weighted))


@_check("a class without training labels does no harm")
def _missing_class(method: type[Method[Any]], settings: MethodSettings) -> None:
    data = _data()
    split = data.chosen_split()
    _check_runs(
        method,
        settings,
        replace(data, split=replace(split, train=split.train & (data.labels != 2))),
    )


@_check("it computes in float64 if asked")
def _double(method: type[Method[Any]], settings: MethodSettings) -> None:
    problem = make_problem(_data(), settings, dtype=torch.float64)
    output = _evaluated(_trained(method, settings, problem), problem)
    assert output.logits.dtype == torch.float64, f"Scores are {output.logits.dtype}."


@_check("dense features do as well as sparse ones")
def _dense_features(method: type[Method[Any]], settings: MethodSettings) -> None:
    problem = make_problem(_data(), settings, dtype=torch.float64)
    assert isinstance(problem.features, Tensor)
    csr = problem.features.to_sparse_csr()
    sparse = replace(problem, features=SparseMatrix.from_csr(csr))
    built = _trained(method, settings, problem)
    output = _evaluated(built, problem, num_samples=2)
    other = _evaluated(built, sparse, num_samples=2, draws=output.draws)
    gap = (other.probabilities() - output.probabilities()).abs().max()
    assert float(gap) < 1e-6, f"Predictions differ by {float(gap):.2g}."


@_check("memory stays within the estimate")
def _memory(method: type[Method[Any]], settings: MethodSettings) -> None:
    data = block_model(3000, num_classes=4, num_features=64, seed=0)
    problem = make_problem(data, settings)
    estimate = method.memory(settings, sizes_of(problem))
    # A first time on few nodes, so that what is loaded or compiled once does not count.
    small = make_problem(_data(), settings)
    _evaluated(_trained(method, settings, small, steps=1), small)
    before = _peak(reset=True)
    if before is None:
        return
    _evaluated(_trained(method, settings, problem, steps=2), problem, settings.num_samples)
    used = (_peak() or 0) - before
    # What an allocator keeps for later is not the method's.
    assert used < estimate + 3e7, f"It used {used / 1e6:.0f} MB, not {estimate / 1e6:.0f}."


def _data() -> Dataset:
    return block_model(60, num_classes=3, mean_degree=6, num_features=8, seed=0)


def _built(
    method: type[Method[Any]], settings: MethodSettings, problem: Problem, seed: int = 0
) -> Method[Any]:
    features = problem.features
    dtype = values_of(features).dtype
    with seeded_globally(seed):
        return method.build(settings, problem).to(dtype)


def _steps(method: Method[Any], problem: Problem, count: int) -> Any:
    """Take training steps as the one loop does, and yield each step's loss."""
    optimizer, generator = method.make_optimizer(), generator_for(0, 1)
    for _ in range(count):
        method.train()
        output = method(problem, generator=generator)
        total = torch.stack([term.reshape(()) for term in method.losses(output, problem).values()])
        optimizer.zero_grad()
        total.sum().backward()
        optimizer.step()
        method.observe(output, problem)
        yield float(total.detach().sum())


def _trained(
    method: type[Method[Any]], settings: MethodSettings, problem: Problem, steps: int = 4
) -> Method[Any]:
    built = _built(method, settings, problem)
    with repeatable_sums(problem.labels.device):
        for loss in _steps(built, problem, steps):
            assert loss == loss, "The loss is not a number."
    return built


@torch.no_grad()
def _evaluated(
    method: Method[Any], problem: Problem, num_samples: int = 2, draws: Draws | None = None
) -> Output:
    method.eval()
    return method(problem, generator=generator_for(0, 2), num_samples=num_samples, draws=draws)


def _check_runs(method: type[Method[Any]], settings: MethodSettings, data: Dataset) -> None:
    problem = make_problem(data, settings)
    output = _evaluated(_trained(method, settings, problem), problem)
    assert bool(torch.isfinite(output.logits).all()), "Some scores are not finite."


def _relabelled(problem: Problem, place: Tensor) -> Problem:
    """Give node i the number place[i]."""
    order = place.argsort()
    assert isinstance(problem.features, Tensor)
    return replace(
        problem,
        features=problem.features[order],
        labels=problem.labels[order],
        graph=None if problem.graph is None else _moved_graph(problem.graph, place),
        train=place[problem.train],
        outer=None if problem.outer is None else place[problem.outer],
    )


def _moved(draws: Draws, place: Tensor) -> Draws:
    return tuple(
        _moved_graph(one, place) if isinstance(one, Graph) else place[one] for one in draws
    )


def _moved_graph(graph: Graph, place: Tensor) -> Graph:
    return Graph.from_edge_index(place[graph.edge_index], graph.num_nodes, graph.edge_weight)


def _peak(*, reset: bool = False) -> int | None:
    """Read the most bytes this process has held since the last reset; None if unknown here."""
    try:
        if reset:
            Path("/proc/self/clear_refs").write_text("5")
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return None
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
