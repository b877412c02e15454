import numpy as np
import pytest

from bpgnn.data.files.node_table import own_from_tables
from bpgnn.data.files.table import FileTable
from bpgnn.errors import InputError


def table_of(path, **columns):
    cells = {name: np.array(values, dtype=object) for name, values in columns.items()}
    return FileTable(path, cells, range(2, 2 + len(next(iter(cells.values())))))


NODES = table_of("nodes.csv", key=["a", "b", "c"], age=["3", "1", "2"], label=["x", "y", ""])
EDGES = table_of("edges.csv", source=["a", "b"], target=["b", "c"])


def test_nodes_and_edges_become_one_data_set():
    own = own_from_tables("mine", NODES, EDGES)
    assert own.dataset.features.tolist() == [[3], [1], [2]]
    assert own.dataset.graph.undirected_pairs().tolist() == [[0, 1], [1, 2]]
    assert (own.id_name, own.label_name, own.columns.names) == ("key", "label", ("age",))
    assert "'key' is taken for the ids" in own.dataset.notes[0]


def test_directed_edges_stay_so_when_meant():
    own = own_from_tables("mine", NODES, EDGES, directed=True, id_column="key")
    assert own.dataset.graph.num_edges == 2
    assert own.dataset.notes == ()


def test_a_table_without_ids_or_edges_is_numbered():
    nodes = table_of("nodes.csv", age=["3", "1"], label=["x", "y"])
    own = own_from_tables("mine", nodes, None)
    assert own.ids == ("0", "1")
    assert own.dataset.graph is None
    with pytest.raises(InputError, match="which column holds the ids.*--id-column: age, label"):
        own_from_tables("mine", nodes, EDGES)


def test_a_dropped_column_may_hold_anything():
    nodes = table_of("nodes.csv", id=["a", "b"], bad=["", "1"], x=["1", "2"], y=["u", "v"])
    with pytest.raises(InputError, match=r"nodes.csv, line 2, column 'bad': .*--drop bad "):
        own_from_tables("mine", nodes, None)
    assert own_from_tables("mine", nodes, None, drop=["Bad"]).columns.names == ("x",)


def test_what_leaves_nothing_to_learn_from_is_refused():
    with pytest.raises(InputError, match="no column of features beside ids and labels"):
        own_from_tables("mine", NODES, None, drop=["age"])
    with pytest.raises(InputError, match="has no rows"):
        own_from_tables("mine", table_of("nodes.csv", id=[], label=[]), None)


def test_a_table_that_was_not_parted_into_columns_is_said_to_be_so():
    nodes = FileTable("nodes.csv", {"id x label": np.array(["a 1 u"], dtype=object)}, [2])
    with pytest.raises(InputError, match="one column only, 'id x label'. Put a comma"):
        own_from_tables("mine", nodes, None)
