import networkx as nx
import numpy as np
import pandas as pd
import pytest
import torch

from bpgnn.data.files.folder import read_own
from bpgnn.data.split import split
from bpgnn.errors import InputError

NODES = "id,age,city,label\n1,31,Bern,yes\n2,45,Basel,no\n3,27,Bern,\n"


def test_a_shop_with_five_thousand_customers_is_read(shop):
    own = read_own(shop, label_column="segment")
    data = own.dataset
    assert (data.name, data.num_nodes, data.num_classes) == ("shop", 5000, 3)
    assert own.id_name == "Customer ID"
    assert own.ids[:2] == ("C-00000", "C-00001")
    assert data.class_names == ("leaving", "loyal", "new")
    assert int((data.labels >= 0).sum()) == 300
    kinds = {column.name: column.kind for column in own.columns.items}
    assert kinds == {
        "age": "number",
        "spent": "number",
        "city": "category",
        "newsletter": "category",
    }
    assert {"<script>", "=cmd|' /C calc'!A0", "Zürich, West"} <= set(
        own.columns.items[2].categories
    )
    assert data.graph.is_undirected
    said = " ".join(data.notes)
    assert all(word in said for word in ("duplicate", "self-loop", "one direction only"))
    frame = pd.read_csv(shop / "nodes.csv")
    assert data.features[:, 0].tolist() == pytest.approx(frame["age"].tolist())
    parts = split(data, "random", seed=0)
    assert int(parts.train.sum()) == 180


def test_parquet_gives_what_csv_gives(shop, tmp_path):
    pytest.importorskip("pyarrow")
    for name in ("nodes", "edges"):
        pd.read_csv(shop / f"{name}.csv").to_parquet(tmp_path / f"{name}.parquet")
    one, other = (read_own(path, label_column="segment") for path in (shop, tmp_path))
    assert one.columns == other.columns
    assert one.ids == other.ids
    assert torch.equal(one.dataset.features, other.dataset.features)
    assert torch.equal(one.dataset.labels, other.dataset.labels)
    assert torch.equal(one.dataset.graph.edge_index, other.dataset.graph.edge_index)


def test_whole_numbers_as_ids_meet_across_files_of_different_types(write, tmp_path):
    pytest.importorskip("pyarrow")
    write("nodes.csv", NODES)
    pd.DataFrame({"source": [1.0, 2.0], "target": [2, 3]}).to_parquet(tmp_path / "edges.parquet")
    assert read_own(tmp_path).dataset.num_pairs == 2


def test_a_table_alone_has_no_graph(write):
    own = read_own(write("people.csv", NODES))
    assert (own.dataset.name, own.dataset.graph) == ("people", None)


@pytest.mark.parametrize("header", ["source,target\n", ""])
@pytest.mark.parametrize("ids", ["123", "abc"])
def test_edges_need_no_header(write, tmp_path, header, ids):
    rows = [f"{name},{age},{kind}" for name, age, kind in zip(ids, "456", "xyx", strict=True)]
    write("nodes.csv", "\n".join(["id,age,class", *rows]))
    write("edges.csv", f"{header}{ids[0]},{ids[1]}\n{ids[1]},{ids[2]}\n")
    assert read_own(tmp_path).dataset.num_pairs == 2


def test_a_first_edge_without_a_header_is_kept_wherever_its_ends_stand(write, tmp_path):
    write("nodes.csv", "id,x,label\na,1,u\nb,2,v\nc,3,u\n")
    write("edges.csv", "1 May,a,b\n2 May,b,c\n")
    assert read_own(tmp_path).dataset.num_pairs == 2


def test_tables_that_are_not_read_are_noted(write, tmp_path):
    nodes = write("nodes.csv", "id,x,label\na,1,u\nb,2,v\n")
    assert read_own(tmp_path).dataset.notes == read_own(nodes).dataset.notes == ()
    write("links.csv", "a,b\n")
    assert "Not read in" in read_own(tmp_path).dataset.notes[0]
    assert "'links.csv'" in read_own(tmp_path).dataset.notes[0]
    write("edges.csv", "source,target\na,b\n")
    assert not any("Not read" in note for note in read_own(tmp_path).dataset.notes)
    assert "edges.csv. For a graph, call the table" in read_own(nodes).dataset.notes[0]


def test_edges_may_be_none_at_all(write, tmp_path):
    write("nodes.csv", NODES)
    write("edges.csv", "source,target\n")
    assert read_own(tmp_path).dataset.graph.num_edges == 0


def test_graphml_and_arrays_come_in_by_the_same_door(tmp_path):
    graph = nx.Graph([("a", "b")])
    nx.set_node_attributes(graph, {"a": {"x": 1, "y": "u"}, "b": {"x": 2, "y": "v"}})
    nx.write_graphml(graph, tmp_path / "g.graphml")
    np.savez(tmp_path / "g.npz", x=np.eye(2), y=np.array(["u", "v"]))
    for name in ("g.graphml", "g.npz"):
        assert read_own(tmp_path / name).dataset.class_names == ("u", "v")
    with pytest.raises(InputError, match="holds arrays, which have no columns"):
        read_own(tmp_path / "g.npz", drop="x")


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({}, "has no nodes.csv. Wanted: .* Found: nothing"),
        ({"Nodes.xlsx": ""}, "Found: Nodes.xlsx"),
        ({"nodes.csv": NODES, "nodes.tsv": NODES}, "has both nodes.csv and nodes.tsv"),
        ({"nodes.csv": "id,age,label\n"}, "nodes.csv has no rows"),
        ({"nodes.csv": "id,age\n1,2\n"}, "nodes.csv: which column holds the classes"),
        ({"nodes.csv": NODES.replace("45", "")}, "nodes.csv, line 3, column 'age': the value is"),
        ({"nodes.csv": NODES.replace("45", '"4,5"')}, "line 3, column 'age': '4,5' has a comma"),
        ({"nodes.csv": NODES.replace("\n2,", "\n1,")}, "line 3, column 'id': the id '1' was"),
        ({"nodes.csv": NODES, "edges.csv": "a,b\n1,2\n1,4\n"}, "edges.csv, line 3, column 'b'"),
        ({"nodes.csv": NODES, "edges.csv": ""}, "edges.csv is empty"),
        ({"nodes.csv": NODES, "edges.csv": "source\n1\n"}, "edges.csv must have two columns"),
    ],
)
def test_what_cannot_be_read_is_refused_with_file_line_and_cure(write, tmp_path, files, words):
    folder = tmp_path / "mine"
    folder.mkdir()
    for name, text in files.items():
        write(f"mine/{name}", text)
    with pytest.raises(InputError, match=words):
        read_own(folder)


def test_other_paths_are_refused(write, tmp_path):
    with pytest.raises(InputError, match="There is no file or folder .*Wanted"):
        read_own(tmp_path / "nowhere")
    with pytest.raises(InputError, match="of a kind that is not read here"):
        read_own(write("nodes.xlsx", ""))
