import json
from dataclasses import asdict, replace
from types import SimpleNamespace

import pytest

from bpgnn.errors import InputError, NotEnoughMemoryError
from bpgnn.experiments.tune import search as module
from bpgnn.experiments.tune import space
from bpgnn.experiments.tune.search import search
from bpgnn.methods.registry import METHODS
from bpgnn.training.fit import Evaluation
from bpgnn.training.plan import Plan

pytest.importorskip("optuna", reason="Optuna is not installed")


@pytest.fixture
def clock(monkeypatch):
    """Let a second pass whenever the processor time is asked for."""
    ticks = iter(range(10**6))
    monkeypatch.setattr(module.time, "process_time", lambda: float(next(ticks)))


@pytest.fixture
def losses(clock, monkeypatch):
    """Stand for trainings: the loss is lowest at a learning rate of 0.03, and costs a second."""
    seen = []

    def loss(optuna, trial, data, plan, end):
        settings = plan.settings_for("wine")
        seen.append(plan.changes)
        return abs(settings.learning_rate - 0.03) + settings.dropout

    monkeypatch.setattr(module, "_loss", loss)
    return seen


def test_known_settings_are_first_and_the_search_stays_within_its_budget(losses, tmp_path):
    found = search("mlp", "wine", hours=20 / 3600, journal=tmp_path / "journal")
    published = Plan(method="mlp", preset="published").settings_for("wine")
    first = Plan(method="mlp", changes=losses[0]).settings_for("wine")
    assert replace(first, split=published.split) == published
    assert losses[1] == {}
    assert found.num_trials == len(losses) == 20
    assert found.cpu_seconds == 20.0
    preset = Plan(method="mlp").settings_for("wine")
    assert found.validation_loss < abs(preset.learning_rate - 0.03) + preset.dropout
    Plan(method="mlp", changes=found.changes).settings_for("wine")


def test_a_search_goes_on_where_it_was_stopped(losses, tmp_path):
    journal = tmp_path / "journal"
    search("mlp", "wine", hours=5 / 3600, journal=journal)
    assert len(losses) == 5
    found = search("mlp", "wine", hours=9 / 3600, journal=journal)
    assert (len(losses), found.num_trials) == (9, 9)
    assert len({str(changes) for changes in losses}) == 9, "no trial is made twice"
    assert search("mlp", "wine", hours=9 / 3600, journal=journal) == found
    assert len(losses) == 9


def test_a_preset_that_was_broken_off_is_tried_again(losses, tmp_path, monkeypatch):
    whole = module._loss

    def killed(optuna, trial, data, plan, end):
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "_loss", killed)
    with pytest.raises(KeyboardInterrupt):
        search("mlp", "wine", hours=5 / 3600, journal=tmp_path / "journal")
    monkeypatch.setattr(module, "_loss", whole)
    search("mlp", "wine", hours=5 / 3600, journal=tmp_path / "journal")
    assert losses[0]["hidden"] == (32,)
    assert losses[1] == {}
    assert losses[2] != {}


def test_a_search_goes_on_from_a_journal_with_a_torn_last_line(losses, tmp_path):
    journal = tmp_path / "journal"
    search("mlp", "wine", hours=5 / 3600, journal=journal)
    journal.write_bytes(journal.read_bytes()[:-9])
    found = search("mlp", "wine", hours=9 / 3600, journal=journal)
    assert found.num_trials == len(losses) >= 9


def test_trials_of_another_preset_or_another_room_do_not_count(losses, tmp_path, monkeypatch):
    journal = tmp_path / "journal"
    before = search("mlp", "wine", hours=5 / 3600, journal=journal)
    whole = Plan.settings_for
    with monkeypatch.context() as patch:
        patch.setattr(Plan, "settings_for", lambda *one: replace(whole(*one), max_steps=3))
        search("mlp", "wine", hours=5 / 3600, journal=journal)
    assert len(losses) == 10
    monkeypatch.setitem(space.ROOM, "dropout", space.Choice(("0.0", "0.2")))
    search("mlp", "wine", hours=5 / 3600, journal=journal)
    assert len(losses) == 15
    monkeypatch.undo()
    assert search("mlp", "wine", hours=5 / 3600, journal=journal) == before


def test_searches_draw_settings_of_their_own(losses, tmp_path):
    for method in ("mlp", "gcn"):
        search(method, "wine", hours=4 / 3600, journal=tmp_path / "journal")
    assert [one["learning_rate"] for one in losses[2:4]] != [
        one["learning_rate"] for one in losses[6:8]
    ]


@pytest.mark.parametrize("content", [b"not a journal\n", b"no end", b'{"op_code": 99}\n', b"[1]\n"])
def test_a_file_that_is_no_journal_gets_a_sentence(tmp_path, content):
    journal = tmp_path / "journal"
    journal.write_bytes(content)
    with pytest.raises(InputError, match=r"is not the journal of a search.*--journal"):
        search("mlp", "wine", hours=1.0, journal=journal)
    assert journal.read_bytes() == content


def test_a_folder_is_no_journal(tmp_path):
    with pytest.raises(InputError, match=r"cannot be written.*--journal"):
        search("mlp", "wine", hours=1.0, journal=tmp_path)


def test_a_slow_trial_counts_by_the_best_of_a_quarter_of_the_time(clock, tmp_path, monkeypatch):
    told = []

    def fit(data, plan, watch):
        for step, (loss, best_step) in enumerate([(0.5, 0), (0.3, 1), (0.4, 1)] + 500 * [(0.4, 1)]):
            watch(Evaluation(step, 1000, {}, loss, 0.5, best_step))
            told.append(step)

    monkeypatch.setattr(module, "fit", fit)
    found = search("mlp", "wine", hours=400 / 3600, journal=tmp_path / "journal")
    assert found.known == {"published": 0.3, "tuned": 0.3}
    assert found.num_trials >= 4
    assert max(told) < 100


@pytest.mark.parametrize(
    "error",
    [NotEnoughMemoryError("It would take 90 GB."), RuntimeError("can't allocate memory: 90 GB")],
)
@pytest.mark.parametrize(("start", "known"), [("published", ["tuned"]), ("tuned", None)])
def test_settings_that_do_not_fit_are_left_out_and_a_preset_that_does_not_gets_its_sentence(
    clock, tmp_path, monkeypatch, start, known, error
):
    def fit(data, plan, watch):
        if (plan.changes == {}) == (start == "tuned"):
            raise error
        return SimpleNamespace(record=SimpleNamespace(validation_loss=0.5))

    monkeypatch.setattr(module, "fit", fit)
    journal = tmp_path / "journal"
    if known is None:
        with pytest.raises(type(error), match="90 GB"):
            search("mlp", "wine", hours=50 / 3600, journal=journal)
    else:
        assert list(search("mlp", "wine", hours=50 / 3600, journal=journal).known) == known


def test_seeds_have_searches_of_their_own(losses, tmp_path):
    for seed in (0, 1):
        found = search("mlp", "wine", hours=3 / 3600, journal=tmp_path / "journal", seed=seed)
        assert found.num_trials == 3


def test_studies_of_one_journal_are_kept_apart(losses, tmp_path):
    for method in ("mlp", "gcn"):
        found = search(method, "wine", hours=3 / 3600, journal=tmp_path / "journal")
        assert found.num_trials == 3


@pytest.mark.slow
def test_a_real_search_beats_or_equals_the_preset_by_validation(tmp_path):
    seen = []
    found = search("mlp", "wine", hours=4 / 3600, journal=tmp_path / "journal", watch=seen.append)
    assert seen[-1] == found
    assert found.validation_loss <= seen[0].validation_loss
    json.dumps(found.changes)


def test_too_little_time_gets_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_spent", lambda study: 1e9)
    with pytest.raises(InputError, match=r"No trial .* --hours"):
        search("mlp", "wine", hours=1.0, journal=tmp_path / "journal")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dataset", ["cora", "photo"])
def test_the_first_trials_are_the_published_settings_judged_as_all_others_are(method, dataset):
    preset = Plan(method=method).settings_for(dataset)
    starts = module.starts_of(method, dataset, preset)
    name = "paper" if method == "bpgnn" else "published"
    assert list(starts) == [name, "tuned"]
    first = asdict(preset.changed(starts[name]))
    published = asdict(Plan(method=method, preset=name).settings_for(dataset))
    unlike = {setting for setting in first if first[setting] != published[setting]}
    assert unlike <= {"split", "stop_on", "outer_nodes"}
    assert first["split"] == preset.split


def test_no_search_of_lds_learns_edges_from_the_nodes_it_is_judged_by():
    preset = Plan(method="lds").settings_for("cora")
    for changes in module.starts_of("lds", "cora", preset).values():
        assert preset.changed(changes).outer_nodes == "train"


@pytest.mark.parametrize("method", METHODS)
def test_every_choice_in_the_room_of_every_method_is_accepted_alone(method):
    settings = Plan(method=method).settings_for("cora")
    room = module.room_of(settings)
    assert "learning_rate" in room
    assert ("dropout" in room) == hasattr(settings, "dropout")
    for name, where in room.items():
        for value in getattr(where, "values", ()):
            changed = settings.changed({name: value})
            assert getattr(changed, name) is not None


def test_witnesses_are_looked_for_only_where_they_vote():
    by_method = {name: module.room_of(Plan(method=name).settings_for("cora")) for name in METHODS}
    assert [name for name, room in by_method.items() if "witness" in room] == ["bpgnn"]
