import csv

import numpy as np
import pyarrow.parquet
import pytest

from bpgnn.data.files.write import safe_cell, write_table
from bpgnn.errors import InputError

COLUMNS = {
    "id": np.array(["a,b", '=HYPERLINK("x")', "-3", "@me", "<b>", "Zürich"], dtype=object),
    "share": np.array([0.5, 1e-12, 1.0, 0.0, 0.25, 1 / 3]),
}


def test_a_csv_reads_back_and_holds_no_formula(tmp_path):
    (note,) = write_table(tmp_path / "t.csv", COLUMNS)
    assert "t.csv has an apostrophe before" in note
    assert "such as '=HYPERLINK(\"x\")'. Parquet holds them as they are." in note
    with (tmp_path / "t.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["id"] for row in rows] == [
        *("a,b", '\'=HYPERLINK("x")', "-3", "'@me", "<b>", "Zürich")
    ]
    np.testing.assert_allclose([float(row["share"]) for row in rows], COLUMNS["share"], rtol=1e-5)
    assert list(tmp_path.iterdir()) == [tmp_path / "t.csv"]


def test_a_parquet_file_holds_the_cells_themselves(tmp_path):
    assert write_table(tmp_path / "t.parquet", COLUMNS) == ()
    table = pyarrow.parquet.read_table(tmp_path / "t.parquet")
    assert table["id"].to_pylist() == COLUMNS["id"].tolist()
    assert table["share"].to_pylist() == COLUMNS["share"].tolist()


@pytest.mark.parametrize("cell", ["=1", "+a", "-b", "@c", "\tx", "\ry"])
def test_what_a_spreadsheet_would_run_is_text(cell):
    assert safe_cell(cell) == f"'{cell}"


@pytest.mark.parametrize("cell", ["-3", "+4.5", "1e3", "plain", 5, None, ""])
def test_other_cells_stay(cell):
    assert safe_cell(cell) == cell


def test_nothing_is_noted_where_no_cell_was_changed(tmp_path):
    columns = {"-3": np.array(["a", "-3"], dtype=object), "share": np.array([-0.5, np.nan])}
    assert write_table(tmp_path / "t.csv", columns) == ()
    assert len(write_table(tmp_path / "t.csv", {"=a": np.array(["b"])})) == 1


def test_an_ending_may_be_in_capitals(tmp_path):
    write_table(tmp_path / "T.CSV", COLUMNS)
    assert (tmp_path / "T.CSV").stat().st_size > 0


def test_places_that_cannot_be_written_are_said(tmp_path):
    with pytest.raises(InputError, match=r"must end in .csv or .parquet"):
        write_table(tmp_path / "t.xlsx", COLUMNS)
    with pytest.raises(InputError, match="Cannot write"):
        write_table(tmp_path / "no" / "t.csv", COLUMNS)
