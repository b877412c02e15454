import json
import math
from dataclasses import asdict, replace
from types import MappingProxyType

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, balanced_accuracy_score, f1_score

from bpgnn.data.dataset import Split, make_dataset
from bpgnn.data.split import split
from bpgnn.data.synthetic import block_model
from bpgnn.errors import InputError, RunFolderError
from bpgnn.methods.bpgnn import BPGNN
from bpgnn.training.checkpoint import from_bytes, to_bytes
from bpgnn.training.fit import fit
from bpgnn.training.folder import CHECKPOINT, HISTORY, PLAN, RESULT, WEIGHTS, RunFolder
from bpgnn.training.plan import Plan
from bpgnn.training.record import fingerprint

SPENT = ("cpu_seconds", "wall_seconds", "peak_memory_mb")


def without_times(record):
    return {name: value for name, value in record.to_json().items() if name not in SPENT}


def history(folder):
    return [json.loads(line) for line in folder.read(HISTORY).decode().splitlines()]


class Killed(Exception):
    """Stand for the end of a process in the middle of a training."""


def killed_at(step):
    def watch(seen):
        if seen.step == step:
            raise Killed

    return watch


def test_the_same_seed_gives_the_same_record_but_for_times(small, make_plan):
    one, same = (fit(small, make_plan(seed=1)) for _ in range(2))
    assert without_times(one.record) == without_times(same.record)
    assert torch.equal(one.probabilities, same.probabilities)
    assert torch.equal(one.latent_graph.edge_index, same.latent_graph.edge_index)
    other = fit(small, make_plan(seed=2))
    assert not torch.equal(one.probabilities, other.probabilities)


def test_the_global_random_state_is_neither_used_nor_changed(small, make_plan):
    before = torch.get_rng_state()
    one = fit(small, make_plan(max_steps=3))
    assert torch.equal(torch.get_rng_state(), before)
    torch.rand(5)
    assert torch.equal(fit(small, make_plan(max_steps=3)).probabilities, one.probabilities)


@pytest.mark.parametrize("layers", [0, 1, 2])
def test_the_task_loss_falls_and_easy_data_are_learned(layers, make_plan):
    easy = block_model(90, num_classes=3, wrong_edges=0.0, feature_noise=0.3, seed=1)
    losses = []
    plan = make_plan(boolean_layers=layers, max_steps=60, dropout=0.0, input_dropout=0.0)
    found = fit(easy, plan, watch=lambda seen: losses.append(seen.losses["task"]))
    assert losses[-1] < 0.5 * losses[0]
    assert found.record.test_accuracy > 0.9


def test_the_figures_in_the_record_are_those_of_scikit_learn(small, make_plan):
    found = fit(small, make_plan())
    test = small.split.test
    actual = small.labels[test].numpy()
    guess = found.probabilities[test].argmax(1).numpy()
    record = found.record
    assert record.test_accuracy == pytest.approx(accuracy_score(actual, guess))
    assert record.test_macro_f1 == pytest.approx(f1_score(actual, guess, average="macro"))
    assert record.test_balanced_accuracy == pytest.approx(balanced_accuracy_score(actual, guess))
    torch.testing.assert_close(found.probabilities.sum(1), torch.ones(60))


@pytest.mark.parametrize("layers", [0, 1])
def test_the_weights_of_the_lowest_validation_loss_are_tested(small, make_plan, tmp_path, layers):
    folder = RunFolder(tmp_path / "run")
    # Large steps, so that the last is not the best.
    plan = make_plan(
        boolean_layers=layers, learning_rate=1.0, max_steps=25, evaluate_every=1, num_samples=8
    )
    record = fit(small, plan, folder=folder).record
    losses = {line["step"]: line["validation"]["loss"] for line in history(folder)}
    assert record.best_step == min(losses, key=losses.get) != record.steps
    # A sampled graph is drawn anew for the final figure.
    near = {"rel": 1e-6} if layers == 0 else {"rel": 0.5}
    assert record.validation_loss == pytest.approx(min(losses.values()), **near)


def test_the_last_weights_are_tested_on_request(small, make_plan, tmp_path):
    folder = RunFolder(tmp_path / "run")
    plan = make_plan(
        boolean_layers=0, learning_rate=1.0, max_steps=25, evaluate_every=1, test_weights="last"
    )
    record = fit(small, plan, folder=folder).record
    assert record.validation_loss == pytest.approx(history(folder)[-1]["validation"]["loss"])
    assert record.best_step != record.steps


def test_training_stops_at_the_first_evaluation_when_patience_is_out(small, make_plan, tmp_path):
    folder = RunFolder(tmp_path / "run")
    plan = make_plan(
        boolean_layers=0, learning_rate=1.0, max_steps=500, evaluate_every=4, patience=10
    )
    record = fit(small, plan, folder=folder).record
    assert record.steps == record.best_step + 12
    assert [line["step"] for line in history(folder)] == list(range(4, record.steps + 1, 4))


def test_patience_shorter_than_the_way_to_the_first_evaluation_still_gives_one(small, make_plan):
    record = fit(
        small, make_plan(evaluate_every=6, patience=2, max_steps=600, learning_rate=1.0)
    ).record
    assert record.best_step > 0
    assert record.steps < 600
    assert record.steps % 6 == 0


def test_without_nodes_to_validate_and_test_all_steps_are_taken(small, make_plan, tmp_path):
    nothing = torch.zeros(small.num_nodes, dtype=torch.bool)
    data = small.with_split(Split("all", small.labels >= 0, nothing, nothing))
    plan = make_plan(max_steps=12, patience=1, evaluate_every=5)
    found = fit(data, plan, folder=RunFolder(tmp_path / "run"), checkpoint_seconds=0)
    assert found.record.steps == 12
    assert found.record.test_accuracy is None
    assert found.record.validation_accuracy is None
    assert found.record.to_json()["validation_loss"] is None
    assert (tmp_path / "run" / "checkpoint.safetensors").exists()


def test_the_last_step_is_evaluated_whatever_the_interval(small, make_plan, tmp_path):
    folder = RunFolder(tmp_path / "run")
    fit(small, make_plan(max_steps=7, evaluate_every=5), folder=folder)
    assert [line["step"] for line in history(folder)] == [5, 7]


def test_a_watcher_is_called_after_every_step(small, make_plan):
    seen = []
    fit(small, make_plan(max_steps=7, evaluate_every=3), watch=seen.append)
    assert [one.step for one in seen] == [1, 2, 3, 4, 5, 6, 7]
    assert [one.step for one in seen if one.validation_loss is not None] == [3, 6, 7]
    assert all(math.isfinite(value) for one in seen for value in one.losses.values())


def test_without_boolean_layers_no_graph_is_sampled(small, make_plan):
    found = fit(small, make_plan(boolean_layers=0))
    assert found.latent_graph is None
    assert found.record.latent_graph is None
    assert found.record.sampler is None


def test_validation_may_take_fewer_samples_than_the_final_prediction(small, make_plan, monkeypatch):
    asked = []
    forward = BPGNN.forward

    def watched(self, problem, **options):
        if not self.training:
            asked.append(options["num_samples"])
        return forward(self, problem, **options)

    monkeypatch.setattr(BPGNN, "forward", watched)
    plan = make_plan(max_steps=4, evaluate_every=2, num_samples=5, validation_samples=2)
    found = fit(small, plan)
    assert asked == [2, 2, 5]
    assert len(found.output.logits) == 5


def test_a_latent_graph_has_k_neighbours_a_node_in_every_sample(small, make_plan):
    found = fit(small, make_plan(k=4, num_samples=3))
    degree = found.latent_graph.in_degree
    assert degree.min() >= 4
    assert degree.max() <= 12
    assert found.record.sampler in ("dense", "blocked", "lazy")
    summary = found.record.latent_graph
    assert summary.kept + summary.dropped == small.num_pairs
    assert summary.kept + summary.added == found.latent_graph.undirected_pairs().size(1)
    num_test = int(small.split.test.sum())
    for counts in (summary.test_pairs["latent"], summary.test_pairs["product"]):
        assert sum(pairs for pairs, _ in counts) == num_test * (num_test - 1)


def test_class_weights_help_the_rare_class(make_plan):
    generator = torch.Generator().manual_seed(0)
    labels = (torch.arange(200) % 10 == 0).long()
    features = labels.unsqueeze(1) * 0.7 + torch.randn(200, 2, generator=generator)
    data = make_dataset("rare", features, labels, torch.tensor([[0, 1], [1, 0]]))
    data = data.with_split(split(data, "random", seed=0))
    recalls = {}
    for word in ("none", "balanced"):
        changes = {"boolean_layers": 0, "class_weight": word, "test_weights": "last"}
        found = fit(data, make_plan(max_steps=60, **changes))
        guess = found.probabilities.argmax(1)
        recalls[word] = float((guess[labels == 1] == 1).double().mean())
    assert recalls["balanced"] > recalls["none"] + 0.2


def test_sparse_features_are_trained_on_as_dense_ones(small, make_plan):
    features = small.features.clamp(min=0)
    plan = make_plan(boolean_layers=0, dropout=0.0, input_dropout=0.0)
    dense = replace(small, features=features, feature_kind="counts")
    sparse = replace(dense, features=features.to_sparse_csr())
    torch.testing.assert_close(
        fit(sparse, plan).probabilities, fit(dense, plan).probabilities, atol=1e-4, rtol=1e-3
    )


def test_a_graph_that_is_missing_is_inferred(small, make_plan):
    found = fit(small.with_graph(None), make_plan())
    assert found.record.latent_graph.kept == 0
    assert found.record.latent_graph.observed_homophily is None


@pytest.mark.parametrize("max_steps", [1, 9])
def test_a_loss_that_is_not_finite_is_said_in_a_sentence(small, make_plan, tmp_path, max_steps):
    folder = RunFolder(tmp_path / "run")
    plan = make_plan(boolean_layers=0, learning_rate=1e30, max_steps=max_steps)
    with pytest.raises(InputError, match="loss became (nan|inf) at step .*Lower `learning_rate`"):
        fit(small, plan, folder=folder)
    assert not folder.has(RESULT)


def test_a_run_folder_holds_settings_history_weights_and_result(small, make_plan, tmp_path):
    folder = RunFolder(tmp_path / "run")
    found = fit(small, make_plan(), folder=folder, checkpoint_seconds=0)
    names = {path.name for path in folder.path.iterdir()}
    assert names == {PLAN, HISTORY, CHECKPOINT, WEIGHTS, RESULT}
    assert folder.read_json(RESULT) == json.loads(json.dumps(found.record.to_json()))
    weights = from_bytes(folder.read(WEIGHTS), "here").weights
    trained = found.method.state_dict()
    assert weights.keys() == trained.keys()
    assert all(torch.equal(weights[name], trained[name]) for name in weights)
    line = history(folder)[0]
    assert line["step"] == 3
    assert line["losses"].keys() == {"task", "latent"}
    assert {"loss", "accuracy", "macro_f1", "balanced_accuracy"} == line["validation"].keys()
    assert folder.read_json(PLAN)["fingerprint"] == fingerprint(small)


def test_a_folder_in_use_is_not_written_over(small, make_plan, tmp_path):
    folder = RunFolder(tmp_path / "run")
    fit(small, make_plan(max_steps=3), folder=folder)
    before = {path.name: path.read_bytes() for path in folder.path.iterdir()}
    with pytest.raises(RunFolderError, match="is not empty"):
        fit(small, make_plan(max_steps=3, k=5), folder=folder)
    assert {path.name: path.read_bytes() for path in folder.path.iterdir()} == before


@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.integers(1, 12), min_size=1, max_size=3, unique=True).map(sorted),
    st.sampled_from([0.0, 1e9]),
)
def test_a_run_killed_at_any_step_and_resumed_ends_as_an_undisturbed_one(
    small, make_plan, tmp_path_factory, steps, checkpoint_seconds
):
    plan = make_plan(boolean_layers=2, embedding_dropout=0.2)
    undisturbed = RunFolder(tmp_path_factory.mktemp("whole") / "run")
    whole = fit(small, plan, folder=undisturbed)
    folder = RunFolder(tmp_path_factory.mktemp("killed") / "run")
    for number, step in enumerate(steps):
        with pytest.raises(Killed):
            fit(
                small,
                plan,
                folder=folder,
                resume=number > 0,
                watch=killed_at(step),
                checkpoint_seconds=checkpoint_seconds,
            )
    resumed = fit(small, plan, folder=folder, resume=True)
    assert without_times(resumed.record) == without_times(whole.record)
    assert torch.equal(resumed.probabilities, whole.probabilities)
    assert history(folder) == history(undisturbed)


def test_a_checkpoint_does_not_wait_for_an_evaluation(small, make_plan, tmp_path):
    folder = RunFolder(tmp_path / "run")
    with pytest.raises(Killed):
        fit(small, make_plan(), folder=folder, watch=killed_at(2), checkpoint_seconds=0)
    assert history(folder) == []
    assert from_bytes(folder.read(CHECKPOINT), "here").step == 1
    resumed = fit(small, make_plan(), folder=folder, resume=True)
    assert without_times(resumed.record) == without_times(fit(small, make_plan()).record)


def test_time_spent_by_killed_processes_is_counted(small, make_plan, tmp_path):
    folder = RunFolder(tmp_path / "run")
    with pytest.raises(Killed):
        fit(small, make_plan(), folder=folder, watch=killed_at(6), checkpoint_seconds=0)
    state = from_bytes(folder.read(CHECKPOINT), "here")
    assert state.cpu_seconds > 0
    state.cpu_seconds, state.wall_seconds, state.peak_memory_mb = 1000.0, 2000.0, 1e6
    folder.write(CHECKPOINT, to_bytes(state))
    record = fit(small, make_plan(), folder=folder, resume=True).record
    assert record.cpu_seconds > 1000
    assert record.wall_seconds > 2000
    assert record.peak_memory_mb == 1e6


@pytest.fixture
def interrupted(small, make_plan, tmp_path):
    """A run killed after its second checkpoint."""
    folder = RunFolder(tmp_path / "run")
    with pytest.raises(Killed):
        fit(small, make_plan(), folder=folder, watch=killed_at(8), checkpoint_seconds=0)
    return folder


def test_other_data_are_refused_on_resuming(interrupted, small, make_plan):
    other = small.with_graph(None)
    with pytest.raises(RunFolderError, match="was trained on other data than is here now"):
        fit(other, make_plan(), folder=interrupted, resume=True)


def test_other_settings_are_refused_on_resuming(interrupted, small, make_plan):
    with pytest.raises(RunFolderError, match="begun with other settings.*learning_rate"):
        fit(small, make_plan(learning_rate=0.5), folder=interrupted, resume=True)


def test_a_damaged_checkpoint_is_refused_on_resuming(interrupted, small, make_plan):
    content = interrupted.read(CHECKPOINT)
    for damaged in (b"", content[:100], content[:-1], b"x" * 500):
        interrupted.write(CHECKPOINT, damaged)
        with pytest.raises(RunFolderError, match="damaged or not one of bpgnn's"):
            fit(small, make_plan(), folder=interrupted, resume=True)


def without_weights(state):
    state.weights = {}


def with_another_shape(state):
    name = next(iter(state.weights))
    state.weights[name] = torch.ones(1, 1, 1)


def with_another_generator(state):
    state.generator = torch.ones(3, dtype=torch.uint8)


def with_other_best_weights(state):
    state.best_weights = {"odd": torch.ones(1)}


@pytest.mark.parametrize(
    "spoil",
    [
        without_weights,
        with_another_shape,
        with_another_generator,
        with_other_best_weights,
    ],
)
def test_a_whole_checkpoint_of_another_run_is_refused(interrupted, small, make_plan, spoil):
    state = from_bytes(interrupted.read(CHECKPOINT), "here")
    spoil(state)
    interrupted.write(CHECKPOINT, to_bytes(state))
    with pytest.raises(RunFolderError, match="belongs to another run"):
        fit(small, make_plan(), folder=interrupted, resume=True)


def test_what_a_killed_process_left_half_written_is_removed(interrupted, small, make_plan):
    (interrupted.path / f".{CHECKPOINT}.99.tmp").write_bytes(b"half")
    fit(small, make_plan(), folder=interrupted, resume=True)
    assert not list(interrupted.path.glob(".*"))


@pytest.mark.parametrize("device", ["cuda", "meta", "hpu", "mps", "toaster", "cpu:x", ""])
def test_a_device_that_is_not_here_is_said_in_a_sentence(small, make_plan, device, tmp_path):
    if device == "cuda" and torch.cuda.is_available():
        pytest.skip("here it is")
    if device == "mps" and torch.backends.mps.is_available():
        pytest.skip("here it is")
    plan = replace(make_plan(), device=device)
    with pytest.raises(InputError, match=rf"The device '{device}' cannot be used here.* Try cpu"):
        fit(small, plan, folder=RunFolder(tmp_path / "run"))
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        ({"method": "bpgn"}, "There is no method 'bpgn'. Did you mean bpgnn?"),
        ({"preset": "tund"}, "There is no preset 'tund' here. Did you mean tuned?"),
        ({"changes": {"kk": 3}}, "There is no setting 'kk'. Did you mean k?"),
        ({"changes": {"k": 60}}, "`k` must be between 1 and 59 for 60 nodes, but got 60."),
        ({"changes": {"k": 0}}, "`k` must be 1 or more, but got 0."),
    ],
)
def test_a_plan_that_cannot_be_run_is_refused_before_anything_is_written(
    small, tmp_path, plan, words
):
    with pytest.raises(InputError) as caught:
        fit(small, Plan(**plan), folder=RunFolder(tmp_path / "run"))
    assert str(caught.value).startswith(words)
    assert not (tmp_path / "run").exists()


def test_changes_may_be_any_mapping(small, tmp_path):
    changes = MappingProxyType({"max_steps": 2, "boolean_layers": 0})
    folder = RunFolder(tmp_path / "run")
    record = fit(small, Plan(changes=changes), folder=folder).record
    assert record.steps == 2
    assert folder.read_json(PLAN)["changes"] == dict(changes)


def test_data_without_a_split_are_refused(small, make_plan):
    with pytest.raises(InputError, match="has no split yet"):
        fit(replace(small, split=None), make_plan())


def test_the_record_states_all_settings(small, make_plan):
    found = fit(small, make_plan(max_steps=2, learning_rate=0.02))
    assert found.record.settings == asdict(found.method.settings)
    assert found.record.settings["learning_rate"] == 0.02
    assert (found.record.method, found.record.preset, found.record.seed) == ("bpgnn", "tuned", 0)
    assert found.record.split == "random"
