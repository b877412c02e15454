import networkx as nx
import pytest

from bpgnn.data.files.graphml import read_graphml
from bpgnn.errors import InputError

UNKNOWN_KEY = """<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<graph edgedefault="directed"><node id="a"><data key="d9">3</data></node></graph></graphml>"""


@pytest.fixture
def friends():
    graph = nx.Graph()
    for number, (name, kind) in enumerate([("Ann", "x"), ("<b>", "y"), ("Cem", "")]):
        graph.add_node(f"n{number}", name=name, age=30 + number, city="Bern", Class=kind)
    graph.add_edge("n0", "n1", weight=2.0, since=1999)
    graph.add_edge("n1", "n2", weight=0.5)
    return graph


def test_attributes_are_features_and_edges_have_weights(tmp_path, friends):
    nx.write_graphml(friends, tmp_path / "friends.graphml")
    own = read_graphml(tmp_path / "friends.graphml")
    assert own.ids == ("n0", "n1", "n2")
    assert own.columns.names == ("age", "city")
    assert own.dataset.class_names == ("x", "y")
    assert own.dataset.labels.tolist() == [0, 1, -1]
    assert own.dataset.graph.edge_weight.tolist() == [2.0, 2.0, 0.5, 0.5]
    assert own.dataset.name == "friends"


def test_nodes_may_be_called_by_an_attribute(tmp_path, friends):
    nx.write_graphml(friends, tmp_path / "g.graphml")
    own = read_graphml(tmp_path / "g.graphml", id_column="Name", drop=["city"])
    assert own.ids == ("Ann", "<b>", "Cem")
    assert own.dataset.num_pairs == 2
    assert own.columns.names == ("age",)


def test_a_directed_multigraph_is_repaired(tmp_path, friends):
    graph = nx.MultiDiGraph(friends)
    graph.add_edge("n0", "n0", weight=1.0)
    nx.write_graphml(graph, tmp_path / "g.graphml")
    own = read_graphml(tmp_path / "g.graphml")
    assert own.dataset.num_pairs == 2
    assert any("self-loop" in note for note in own.dataset.notes)


def test_a_missing_attribute_is_refused_with_its_node(tmp_path, friends):
    del friends.nodes["n1"]["age"]
    nx.write_graphml(friends, tmp_path / "g.graphml")
    with pytest.raises(InputError, match="node 'n1', attribute 'age': the value is missing"):
        read_graphml(tmp_path / "g.graphml")


def test_a_missing_weight_is_refused_with_its_edge(tmp_path, friends):
    del friends.edges["n1", "n2"]["weight"]
    nx.write_graphml(friends, tmp_path / "g.graphml")
    with pytest.raises(InputError, match="edge 'n1' to 'n2', attribute 'weight'"):
        read_graphml(tmp_path / "g.graphml")


@pytest.mark.parametrize(
    "text",
    [
        "", "hello", "<graphml>", "<graphml></graphml>", "<html><body/></html>",
        UNKNOWN_KEY,
    ],
)  # fmt: skip
def test_what_is_no_graphml_is_a_sentence(write, text):
    with pytest.raises(InputError, match="g.graphml"):
        read_graphml(write("g.graphml", text))


def test_entities_are_not_expanded(write):
    bomb = '<!DOCTYPE g [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><graphml>&b;</graphml>'
    with pytest.raises(InputError, match="defines entities of its own"):
        read_graphml(write("g.graphml", bomb))


def test_a_file_cut_short_is_a_sentence(tmp_path, friends):
    path = tmp_path / "g.graphml"
    nx.write_graphml(friends, path)
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(InputError, match="is damaged or no GraphML file"):
        read_graphml(path)
