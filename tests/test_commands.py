import csv
import shutil

import numpy as np
import pytest
from typer.testing import CliRunner

from bpgnn.cli import app
from bpgnn.data.files.new_nodes import read_new
from bpgnn.errors import BPGNNError
from bpgnn.methods.registry import METHODS
from bpgnn.training.newcomers import nearest_known, predict_newcomers
from bpgnn.training.open import open_with_data

FEW = ["--set", "max_steps=8", "--set", "k=4", "--set", "num_samples=2", "--threads", "1"]


def typed(*words):
    return CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=True)


def rows_of(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data") / "shop"
    folder.mkdir()
    generator = np.random.default_rng(0)
    kind = generator.integers(2, size=80)
    lines = ["id,age,city,label"]
    for number in range(80):
        name = "<script>" if number == 3 else f"c{number}"
        label = ["stays", "=leaves"][kind[number]] if number < 40 else ""
        lines.append(f"{name},{20 + 20 * kind[number] + number % 7},{'AB'[kind[number]]},{label}")
    (folder / "nodes.csv").write_text("\n".join(lines) + "\n")
    pairs = generator.integers(4, 80, size=(160, 2))
    joined = [f"c{one},c{other}" for one, other in pairs] + ["<script>,c7"]
    (folder / "edges.csv").write_text("source,target\n" + "\n".join(joined) + "\n")
    return folder


@pytest.fixture(scope="module")
def run(shop):
    out = shop.parent / "run"
    found = typed("train", shop, "--out", out, *FEW)
    assert found.exit_code == 0, found.output
    assert "test accuracy" in found.output
    return out


def test_every_node_is_predicted(run, tmp_path):
    found = typed("predict", run, "-o", tmp_path / "p.csv")
    assert found.exit_code == 0, found.output
    assert "Note: " in found.output
    assert "apostrophe before texts" in found.output
    assert "such as '=leaves'" in found.output
    rows = rows_of(tmp_path / "p.csv")
    assert len(rows) == 80
    assert list(rows[0]) == [
        *("id", "label", "probability of =leaves", "probability of stays", "entropy")
    ]
    assert {row["label"] for row in rows} <= {"'=leaves", "stays"}
    shares = [float(rows[5][name]) for name in list(rows[0])[2:4]]
    assert sum(shares) == pytest.approx(1, abs=1e-4)


def test_the_run_needs_no_files_but_its_own(run, shop, tmp_path):
    hidden = shop.parent / "moved"
    shop.rename(hidden)
    try:
        assert typed("predict", run, "-o", tmp_path / "p.csv").exit_code == 0
    finally:
        hidden.rename(shop)


def test_new_nodes_are_predicted(run, tmp_path):
    new = tmp_path / "new"
    new.mkdir()
    (new / "nodes.csv").write_text("id,age,city\nn1,25,A\nn2,48,B\n")
    (new / "edges.csv").write_text("source,target\nn1,c5\n")
    found = typed("predict", run, new, "-o", tmp_path / "p.csv")
    assert found.exit_code == 0, found.output
    assert [row["id"] for row in rows_of(tmp_path / "p.csv")] == ["n1", "n2"]


def test_without_any_edges_new_nodes_are_joined_with_their_nearest(shop, tmp_path):
    words = ["--method", "gcn", "--set", "max_steps=20", "--out", tmp_path / "run"]
    assert typed("train", shop / "nodes.csv", *words).exit_code == 0
    later = tmp_path / "later.csv"
    later.write_text("id,age,city\nn1,25,A\nn2,48,B\n")
    found = typed("predict", tmp_path / "run", later, "-o", tmp_path / "p.csv")
    assert "each new node is joined with its 10 nearest" in found.output
    fitted, own = open_with_data(tmp_path / "run")
    new = read_new(later, own)
    edges = nearest_known(fitted, new.features, 10)
    shares = predict_newcomers(fitted, new.features, edges).mean(0)[:, 1]
    alone = predict_newcomers(fitted, new.features).mean(0)[:, 1]
    written = [float(row["probability of stays"]) for row in rows_of(tmp_path / "p.csv")]
    assert written == pytest.approx(shares.tolist(), rel=1e-4)
    assert written != pytest.approx(alone.tolist(), rel=1e-2)


def test_edges_that_new_nodes_bring_are_taken_and_no_others(shop, run, tmp_path):
    new = tmp_path / "new"
    new.mkdir()
    (new / "nodes.csv").write_text("id,age,city\nn1,25,A\n")
    assert "nearest" not in typed("predict", run, new, "-o", tmp_path / "p.csv").output
    words = ["--method", "gcn", "--set", "max_steps=1", "--out", tmp_path / "run"]
    assert typed("train", shop / "nodes.csv", *words).exit_code == 0
    (new / "edges.csv").write_text("source,target,weight\nn1,c5,2\n")
    found = typed("predict", tmp_path / "run", new, "-o", tmp_path / "p.csv")
    assert (found.exit_code, "nearest" in found.output) == (0, False)
    (new / "edges.csv").write_text("source,target,weight\nn1,n1,2\n")
    found = typed("predict", tmp_path / "run", new, "-o", tmp_path / "p.csv")
    assert (found.exit_code, "10 nearest" in found.output) == (0, True)


@pytest.mark.parametrize("ending", ["csv", "graphml", "npz", "parquet"])
def test_the_graph_is_written_in_four_forms(run, tmp_path, ending):
    found = typed("graph", run, "-o", tmp_path / f"g.{ending}")
    assert found.exit_code == 0, found.output
    assert (tmp_path / f"g.{ending}").stat().st_size > 100
    assert "dropped" in found.output
    assert "apostrophe" not in found.output


def test_an_edge_and_a_node_are_explained(run, tmp_path):
    found = typed("explain", run, "--edge", "c5", "<script>", "--svg", tmp_path / "why.svg")
    assert found.exit_code == 0, found.output
    assert "c5 – <script>: probability" in found.output
    drawing = (tmp_path / "why.svg").read_text()
    assert "&lt;script&gt;" in drawing
    assert "<script>" not in drawing
    node = typed("explain", run, "--node", "c9")
    assert node.exit_code == 0, node.output
    assert node.output.startswith("c9: ")


def test_the_page_is_one_file(run, tmp_path):
    found = typed("explore", run, "-o", tmp_path / "page.html", "--no-open")
    assert found.exit_code == 0, found.output
    assert "<script>,c7" not in (tmp_path / "page.html").read_text()
    assert list(tmp_path.iterdir()) == [tmp_path / "page.html"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["explain", "RUN"], "Ask for an edge"),
        (["explain", "RUN", "--node", "nobody"], "no node 'nobody'"),
        (["explain", "RUN", "--node", "C7"], "no node 'C7'. Did you mean c7"),
        (["explain", "RUN", "--node", "c7", "--svg", "why.svg"], "Only an edge is drawn"),
        (["explain", "RUN", "--edge", "c5", "c500"], "no node 'c500'.*c50"),
        (["explain", "RUN", "--edge", "c5", "c5"], "the same node"),
        (["predict", "RUN", "-o", "p.txt"], "must end in"),
        (["graph", "RUN", "-o", "g.gexf"], "must end in one of"),
        (["predict", "nowhere"], "no run folder"),
        (["train", "nowhere"], "neither a file or folder"),
        (["train", "cora", "--drop", "age"], "of the catalogue"),
        (["train", "--resume", "RUN", "--drop", "age"], "Leave out: --drop"),
    ],
)
def test_bad_words_get_a_sentence(run, words, sentence):
    found = typed(*[run if word == "RUN" else word for word in words])
    assert isinstance(found.exception, BPGNNError)
    with pytest.raises(BPGNNError, match=sentence):
        raise found.exception


def test_a_run_that_lost_its_data_says_which_file_is_missing(run, tmp_path):
    lost = tmp_path / "lost"
    shutil.copytree(run, lost)
    content = (lost / "data.safetensors").read_bytes()
    (lost / "data.safetensors").write_bytes(content[:-9])
    found = typed("predict", lost, "-o", tmp_path / "p.csv")
    assert "data.safetensors in" in str(found.exception)
    assert "train again" in str(found.exception)
    (lost / "data.safetensors").unlink()
    found = typed("predict", lost, "-o", tmp_path / "p.csv")
    assert isinstance(found.exception, BPGNNError)
    assert "has no data.safetensors" in str(found.exception)


def test_a_stopped_run_of_own_files_goes_on(shop, tmp_path, monkeypatch):
    def killed(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("bpgnn.training.fit._Training.run", killed)
        typed("train", shop, "--out", tmp_path / "run", *FEW)
    assert (tmp_path / "run" / "data.safetensors").exists()
    assert not (tmp_path / "run" / "result.json").exists()
    found = typed("train", "--resume", tmp_path / "run")
    assert found.exit_code == 0, found.output


@pytest.mark.parametrize("method", METHODS)
def test_ten_nodes_are_enough_for_every_method(method, tmp_path):
    rows = [f"n{row},{row % 5},{row % 2},{'ab'[row % 2]}" for row in range(10)]
    (tmp_path / "ten.csv").write_text("id,x,z,label\n" + "\n".join(rows) + "\n")
    words = ["--method", method, "--set", "max_steps=2", "--out", tmp_path / "run"]
    found = typed("train", tmp_path / "ten.csv", *words)
    assert found.exit_code == 0, found.output
    assert ("Note: `k` is 9 instead of" in found.output) == (method in ("knn-gcn", "slaps", "grcn"))


def test_a_method_without_a_graph_says_so(shop, tmp_path):
    words = ["--method", "mlp", "--set", "max_steps=2", "--out", tmp_path / "run"]
    assert typed("train", shop, *words).exit_code == 0
    found = typed("graph", tmp_path / "run", "-o", tmp_path / "g.csv")
    assert "infers no graph" in str(found.exception)
    for asked in (["--edge", "c5", "c6"], ["--node", "c5"]):
        found = typed("explain", tmp_path / "run", *asked)
        assert "mlp infers no graph" in str(found.exception)
        assert "bpgnn" in str(found.exception)
