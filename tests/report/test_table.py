import pytest

from bpgnn.experiments.run import over_seeds
from bpgnn.report.table import Entry, ReportTable, entry

RUNS = over_seeds("cora", range(3), method="gcn")


def line(accuracy, **more):
    return {"test_accuracy": accuracy, **more}


def test_an_entry_is_over_the_seeds_that_are_there_and_says_if_some_are_not():
    lines = {RUNS[0].command: line(0.8), RUNS[2].command: line(0.9)}
    found = entry(RUNS, [*lines.values()], "78.74 ± 1.250")
    assert found.text == "85.00 ± 7.07 (2 of 3 seeds)"
    assert found.difference == pytest.approx(85 - 78.74)
    assert found.command == RUNS[0].command


def test_what_was_not_run_says_so():
    assert entry(RUNS, []).text == "not run"


@pytest.mark.parametrize(
    ("kind", "note"),
    [
        ("memory", "OOM"),
        ("time", "OOT"),
        ("killed", "killed"),
        ("refused", "refused"),
        ("?", "failed"),
    ],
)
def test_what_failed_has_the_sentence_behind_it(kind, note):
    lines = {RUNS[0].command: {"error": {"kind": kind, "words": "35 GB needed"}}}
    found = entry(RUNS, [*lines.values()])
    assert (found.text, found.detail, found.mean) == (note, "35 GB needed", None)


def test_a_mean_over_those_that_did_not_fail_says_how_many_did():
    lines = {RUNS[0].command: line(0.8)}
    lines |= {run.command: {"error": {"kind": "time", "words": "9 h"}} for run in RUNS[1:]}
    found = entry(RUNS, [*lines.values()])
    assert found.text == "80.00 (1 of 3 seeds, 2 OOT)"
    table = ReportTable("", ("method", "Cora"), (("gcn", (found,)), ("gat", (Entry(mean=7.0),))))
    assert table.notes == ["gcn, Cora: OOT. 9 h"]


def test_failures_are_counted_by_their_kind_and_their_words_take_one_line():
    errors = [("memory", "It would\ntake 35 GB."), ("time", "9 h."), ("memory", "It would not.")]
    lines = [{"error": {"kind": kind, "words": words}} for kind, words in errors]
    found = entry([*RUNS, *RUNS[:1]], [line(0.8), *lines])
    assert found.text == "80.00 (1 of 4 seeds, 2 OOM, 1 OOT)"
    table = ReportTable("", ("method", "Cora"), (("gcn", (found,)),))
    assert table.notes == ["gcn, Cora: OOM and OOT. It would take 35 GB. 9 h."]
    assert entry(RUNS, lines).text == "OOM and OOT"


def test_an_entry_says_which_seeds_and_which_code_it_is_from():
    lines = [line(0.8, seed=seed, versions={"code": code}) for seed, code in ((2, "a"), (0, "b"))]
    assert entry(RUNS, lines).origin == "seeds 0, 2; code a, b"


def test_figures_of_the_latent_graph_are_read_by_their_name():
    lines = {RUNS[0].command: line(0.8, latent_graph={"recovery": 0.75})}
    assert entry(RUNS[:1], [*lines.values()], key="recovery").mean == 75.0
    lines = {RUNS[0].command: line(0.8, latent_graph=None)}
    assert entry(RUNS[:1], [*lines.values()], key="recovery").text == "–"


@pytest.mark.parametrize("printed", ["OOM", "–", None])
def test_what_the_paper_has_no_figure_for_has_no_difference(printed):
    assert Entry(mean=80.0, printed=printed).difference is None


def test_the_highest_of_each_column_is_marked():
    rows = (
        ("a", (Entry(mean=1.0), Entry(mean=5.0), Entry(mean=5.0))),
        ("b", (Entry(mean=2.0), Entry(note="OOM"), Entry(note="OOM"))),
        ("c", (Entry(mean=2.0), Entry(mean=4.0), Entry())),
    )
    table = ReportTable("", ("", "x", "y", "z"), rows).with_best_marked()
    # Of one alone, nothing is best.
    assert [[one.best for one in entries] for _, entries in table.rows] == [
        [False, True, False],
        [True, False, False],
        [True, False, False],
    ]
