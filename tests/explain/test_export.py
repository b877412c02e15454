from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
import torch

from bpgnn.data.dataset import make_dataset
from bpgnn.errors import InputError
from bpgnn.explain.export import prediction_table, write_graph
from bpgnn.explain.pairs import Pairs

PAIRS = Pairs(
    torch.tensor([[0, 1], [1, 2]]),
    np.array(["observed", "added"]),
    torch.tensor([0.25, 0.5]).double(),
    torch.tensor([1.0, 0.1]).double(),
)
DATA = make_dataset(
    "own",
    torch.eye(3),
    torch.tensor([0, 1, -1]),
    torch.tensor([[0, 1], [1, 0]]),
    class_names=("<i>", "b"),
    node_names=("=a", "<script>", "c\x00d"),
)


def test_a_prediction_names_its_class():
    shares = torch.tensor([[0.25, 0.75], [1.0, 0.0]])
    found = prediction_table(["x", "y"], shares, ["no", "yes"])
    assert list(found) == ["id", "label", "probability of no", "probability of yes", "entropy"]
    assert found["label"].tolist() == ["yes", "no"]
    assert found["entropy"][1] == 0


def test_graphml_opens_elsewhere(tmp_path):
    assert write_graph(tmp_path / "g.graphml", PAIRS, DATA) == ()
    graph = nx.read_graphml(tmp_path / "g.graphml")
    assert sorted(graph.nodes) == ["<script>", "=a", "cd"]
    edge = graph.edges["=a", "<script>"]
    assert (edge["weight"], edge["frequency"], edge["kind"]) == (0.25, 1.0, "observed")
    assert graph.nodes["=a"]["label"] == "<i>"


@pytest.mark.parametrize(
    ("names", "written"),
    [
        (("ab", "a\u200bb", "a\u00a0\tb\n\rc"), ("ab", "a\u200bb", "a\u00a0\tb\n\rc")),
        (("a\x00b", "a\x01b", "ab"), ("ab (2)", "ab (3)", "ab")),
        (("\x00", "ab (2)", "\ud800\ufffe"), ("?", "ab (2)", "? (2)")),
        (("ab", "a\x00b", "ab (2)"), ("ab", "ab (3)", "ab (2)")),
    ],
)
def test_nodes_in_graphml_keep_what_xml_can_hold_and_stay_apart(tmp_path, names, written):
    write_graph(tmp_path / "g.graphml", PAIRS, replace(DATA, node_names=names))
    graph = nx.read_graphml(tmp_path / "g.graphml")
    assert tuple(graph.nodes) == written
    assert set(graph.edges) == {written[:2], written[1:]}
    assert [graph.nodes[name]["label"] for name in written] == ["<i>", "b", ""]


def test_npz_and_csv_hold_the_same(tmp_path):
    assert write_graph(tmp_path / "g.npz", PAIRS, DATA) == ()
    with np.load(tmp_path / "g.npz", allow_pickle=False) as found:
        assert found["edge_index"].tolist() == [[0, 1], [1, 2]]
        assert found["source"].tolist() == ["=a", "<script>"]
        assert found["kind"].tolist() == ["observed", "added"]
    (note,) = write_graph(tmp_path / "g.csv", PAIRS, DATA)
    assert "such as '=a'" in note
    lines = (tmp_path / "g.csv").read_text().splitlines()
    assert lines[0] == "source,target,probability,frequency,kind"
    assert lines[1] == "'=a,<script>,0.25,1,observed"


def test_another_ending_is_refused(tmp_path):
    with pytest.raises(InputError, match="must end in one of"):
        write_graph(tmp_path / "g.gexf", PAIRS, DATA)
