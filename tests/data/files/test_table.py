import numpy as np
import pytest

from bpgnn.data.files.table import FileTable, refuse_names
from bpgnn.errors import InputError


def test_a_table_tells_where_a_cell_stands():
    table = FileTable("a.parquet", {"x": np.array([1, 2])}, range(1, 3), row_word="row")
    assert table.where("x", 1) == "a.parquet, row 2, column 'x'"
    assert table.num_rows == 2
    assert table.without({"x"}) == {}


def test_a_column_is_found_by_its_very_name_before_any_case():
    table = FileTable("a", {"ID": np.array([]), "id": np.array([])}, [])
    assert table.find("id") == "id"
    assert table.find("Id") == "ID"
    assert table.find("ids") is None


def test_columns_without_a_name_of_their_own_are_refused():
    with pytest.raises(InputError, match=r"a.csv, line 1: column 2 has no name. Write one"):
        refuse_names("a.csv", ["id", "", "x"], "line 1")
    with pytest.raises(InputError, match=r"columns 1 and 3 are both called 'x'. Rename"):
        refuse_names("a.csv", ["x", "y", "x"], "line 1")
