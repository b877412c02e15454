import pytest

from bpgnn.experiments.experiment import Experiment, quickened
from bpgnn.experiments.paper import ablation, aggregation, layers, results, robustness
from bpgnn.experiments.paper.systems import DATASETS, SYSTEMS
from bpgnn.experiments.registry import EXPERIMENTS
from bpgnn.experiments.run import Run, over_seeds
from bpgnn.methods.registry import METHODS, settings_of
from bpgnn.training.plan import Plan


@pytest.mark.parametrize("name", EXPERIMENTS)
@pytest.mark.parametrize("fast", [False, True])
def test_every_run_of_every_experiment_has_settings_that_are_accepted(name, fast):
    runs = EXPERIMENTS[name].runs(2, fast=fast)
    assert len({run.command for run in runs}) == len(runs)
    for run in runs:
        if isinstance(run, Run):
            run.plan.settings_for(run.dataset)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_a_name_is_that_of_its_experiment_which_ends_with_a_question_mark(name):
    experiment = EXPERIMENTS[name]
    assert experiment.name == name
    assert experiment.question.endswith("?")


def test_seeds_are_the_experiments_own_unless_asked_otherwise():
    one = Experiment("one", "?", 4, lambda seeds: over_seeds("cora", seeds))
    assert [len(one.runs(number)) for number in (None, 2)] == [4, 2]


@pytest.mark.parametrize("dataset", DATASETS)
def test_fast_runs_keep_what_they_are_about(dataset):
    run = quickened(Run(dataset, Plan("slaps", changes={"k": 3})))
    assert run.plan.changes["k"] == 3
    settings = run.plan.settings_for(dataset)
    assert settings.warm_up < settings.max_steps < 100
    assert settings.max_steps % settings.evaluate_every == 0


@pytest.mark.parametrize("method", ["idgl", "idgl-anch"])
@pytest.mark.parametrize("dataset", DATASETS)
def test_fast_runs_of_idgl_infer_a_graph_once_more_and_no_more(method, dataset):
    run = quickened(Run(dataset, Plan(method)))
    assert run.plan.settings_for(dataset).max_iterations == 1


def test_fast_timings_are_of_few_nodes_and_of_every_way():
    whole, fast = (EXPERIMENTS["speed"].runs(fast=fast) for fast in (False, True))
    assert {job.way for job in fast} == {job.way for job in whole}
    assert max(job.num_nodes for job in fast) < max(job.num_nodes for job in whole)


def test_the_main_table_has_thirteen_systems_which_the_paper_prints():
    assert len(SYSTEMS) == 13
    assert set(SYSTEMS) == set(results.PRINTED) <= set(METHODS)
    cells = {(run.plan.preset, run.plan.method, run.dataset) for run in results.RESULTS.runs(1)}
    assert len(cells) == 2 * 13 * len(DATASETS)


def test_tables_of_settings_have_what_the_paper_prints():
    assert set(layers.NUMBERS) == set(layers.PRINTED)
    assert set(aggregation.FUNCTIONS) == set(aggregation.PRINTED)


def test_a_method_that_ignores_the_graph_is_not_run_again_where_edges_change():
    runs = [run for run in robustness.ROBUSTNESS.runs(2) if run.plan.method == "slaps"]
    assert len(runs) == 2 * 2
    assert robustness.cell("slaps", "cora", "deleted", 0.5, range(2)) == runs[:2]
    changed = robustness.cell("idgl", "cora", "deleted", 0.5, range(1))
    assert changed[0].plan.drop_edges == 0.5


def test_added_edges_meet_the_gcn_that_was_tuned_and_the_one_of_the_paper():
    tuned, papers = (
        robustness.cell(name, "cora", "added", 0.75, range(1))[0].plan
        for name in ("gcn", "gcn, the paper's settings")
    )
    assert (tuned.method, tuned.preset) == ("gcn", "tuned")
    assert (papers.method, papers.preset) == ("gcn", "paper")
    assert tuned.add_edges == papers.add_edges == 0.75


def test_what_a_data_set_has_anyway_is_no_variant_of_its_model():
    tuned = settings_of("bpgnn", "tuned", "cora")
    same = [
        name
        for name, changes in ablation.VARIANTS.items()
        if all(getattr(tuned, key) == value for key, value in changes.items())
    ]
    assert "as tuned" in same
    cells = [ablation.cell(name, "cora", 0.0, range(2)) for name in ablation.VARIANTS]
    assert len({cell[0].command for cell in cells}) == len(cells) - len(same) + 1
    commands = [job.command for job in ablation.ABLATION.runs(2)]
    assert len(commands) == len(set(commands))
