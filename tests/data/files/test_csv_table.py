import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpgnn.data.files.csv_table import read_csv
from bpgnn.errors import InputError


def cells(table):
    return {name: column.tolist() for name, column in table.columns.items()}


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_delimiters_marks_and_line_ends_do_not_matter(tmp_path, delimiter, mark, end):
    path = tmp_path / "t.csv"
    rows = [["id", "Größe"], ["a", " 1.5 "], ["b", "2"]]
    path.write_bytes((mark + end.join(map(delimiter.join, rows)) + end).encode())
    table = read_csv(path)
    assert cells(table) == {"id": ["a", "b"], "Größe": ["1.5", "2"]}
    assert table.where("id", 1) == f"{path}, line 3, column 'id'"


plain = st.text("aé,;'\"<=", min_size=1)


@given(rows=st.lists(st.lists(plain, min_size=2, max_size=2), min_size=1, max_size=8))
def test_whatever_a_writer_wrote_is_read(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("csv") / "t.csv"
    text = io.StringIO(newline="")
    csv.writer(text).writerows([["id", "x"], *rows])
    path.write_bytes(text.getvalue().encode())
    table = read_csv(path)
    assert list(map(list, zip(*cells(table).values(), strict=True))) == rows


def test_lines_are_those_of_the_file_across_long_cells_and_empty_rows(write):
    table = read_csv(write("t.csv", 'id,text\na,"one\ntwo"\n\n , \nb,three\n'))
    assert cells(table)["text"] == ["one\ntwo", "three"]
    assert list(table.rows) == [2, 6]


def test_what_a_spreadsheet_or_a_browser_would_run_stays_text(write):
    table = read_csv(write("t.csv", "id,x\n=cmd|' /C calc'!A0,<script>alert(1)</script>\n+1,@a\n"))
    assert cells(table) == {
        "id": ["=cmd|' /C calc'!A0", "+1"],
        "x": ["<script>alert(1)</script>", "@a"],
    }


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("1,2\n3,4\n", ["column 1", "column 2"]),
        ("1,2\n", ["column 1", "column 2"]),
        ("a,2\nb,4\n", ["column 1", "column 2"]),
        ("c1,3,y\nc2,4,n\nc3,5,y\n", ["column 1", "column 2", "column 3"]),
        ("id,2019\na,4\n", ["id", "2019"]),
        ("x,2019\n3,4\n", ["x", "2019"]),
        ("from,to\na,b\n", ["from", "to"]),
        ("x,y\n1,2\n", ["x", "y"]),
        ("a,b\nc,d\n", ["a", "b"]),
    ],
)
def test_a_header_is_told_from_data(write, text, names):
    assert list(read_csv(write("t.csv", text)).columns) == names


def test_the_caller_may_know_that_the_first_row_is_data(write):
    table = read_csv(write("t.csv", "a,b\nc,d\n"), is_data=lambda row: row == ["a", "b"])
    assert cells(table)["column 1"] == ["a", "c"]


def test_semicolons_may_stand_beside_decimal_commas(write):
    assert cells(read_csv(write("t.csv", "id;x\na;1,5\nb;2,5\n")))["x"] == ["1,5", "2,5"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty. Write a first line"),
        (b"\n\n", "is empty"),
        (b"id,x\na,1\nb,1,2\n", r"line 3: the row has 3 cells, but there are 2 columns.*quotes"),
        (b"id,x\na\n", r"line 2: the row has 1 cells"),
        (b"id,x\na,\xe9\n", r"line 2: this is not UTF-8. Save it as UTF-8"),
        ("id,x\n".encode("utf-16"), "is in UTF-16. Save it as UTF-8"),
        (b"id,x\na,\0\n", "line 2: this is no text file"),
        (b'id,x\na,1\nb,"2\nc,3\n', "line 3: the row cannot be read .*quotation mark"),
        (b"id,x,id\na,1,2\n", "line 1: columns 1 and 3 are both called 'id'"),
        (b"id,,x\n0,a,2\n", "line 1: column 2 has no name"),
        (b"id,x\na," + b"1" * 200_000 + b"\n", "line 2: the row cannot be read"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_with_line_and_cure(tmp_path, content, words):
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    with pytest.raises(InputError, match=words) as refused:
        read_csv(path)
    assert str(path) in str(refused.value)


def test_a_file_that_is_not_there_is_a_sentence(tmp_path):
    with pytest.raises(InputError, match="There is no file"):
        read_csv(tmp_path / "none.csv")
    with pytest.raises(InputError, match="cannot be read"):
        read_csv(tmp_path)


def test_row_numbers_without_a_name_and_empty_columns_do_no_harm(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(",id,x,,\n0,a,2,,\n1,b,3, ,\n")
    assert list(read_csv(path).columns) == ["column 1", "id", "x"]
    path.write_text(",id,x\n,a,2\n,b,3\n")
    table = read_csv(path)
    assert list(table.columns) == ["id", "x"]
    assert table.columns["x"].tolist() == ["2", "3"]


def test_bars_part_cells_as_well(write):
    table = read_csv(write("t.csv", "id|x|label\na,1|2|u\nb,2|3|v\n"))
    assert {name: cells.tolist() for name, cells in table.columns.items()} == {
        "id": ["a,1", "b,2"],
        "x": ["2", "3"],
        "label": ["u", "v"],
    }
