import builtins
import datetime as dt
import decimal

import pandas as pd
import pytest

from bpgnn.data.files.csv_table import read_csv
from bpgnn.data.files.parquet_table import read_parquet
from bpgnn.data.files.table import FileTable
from bpgnn.errors import InputError

pa = pytest.importorskip("pyarrow")
from pyarrow import parquet  # noqa: E402


def test_a_column_of_each_type_is_read(tmp_path):
    path = tmp_path / "t.parquet"
    table = pa.table(
        {
            "id": ["a", "<script>"],
            "age": [1, None],
            "exact": [decimal.Decimal("1.5"), decimal.Decimal("2.0")],
            "old": [True, None],
            "kind": pa.array(["x", "y"]).dictionary_encode(),
            "day": [dt.date(2024, 1, 2), dt.date(2024, 1, 3)],
            "list": [[1], [2, 3]],
        }
    )
    parquet.write_table(table, path)
    read = read_parquet(path)
    assert read.columns["id"].tolist() == ["a", "<script>"]
    assert read.columns["age"].tolist()[0] == 1
    assert read.columns["exact"].tolist() == [1.5, 2.0]
    assert read.columns["old"].tolist() == [True, None]
    assert read.columns["kind"].tolist() == ["x", "y"]
    assert read.columns["list"].tolist() == [[1], [2, 3]]
    assert read.where("age", 1) == f"{path}, row 2, column 'age'"


def test_the_same_table_is_read_from_both_kinds_of_files(tmp_path, shop):
    frame = pd.read_csv(shop / "nodes.csv")
    frame.to_parquet(tmp_path / "nodes.parquet")
    one, other = read_csv(shop / "nodes.csv"), read_parquet(tmp_path / "nodes.parquet")
    assert isinstance(other, FileTable)
    assert list(one.columns) == list(other.columns)
    assert other.columns["city"].tolist() == one.columns["city"].tolist()


@pytest.mark.parametrize("content", [b"", b"PAR1", b"id,x\n1,2\n", b"PAR1" + bytes(100) + b"PAR1"])
def test_a_damaged_file_is_a_sentence(tmp_path, content):
    (tmp_path / "t.parquet").write_bytes(content)
    with pytest.raises(InputError, match="t.parquet is damaged or no Parquet file"):
        read_parquet(tmp_path / "t.parquet")


def test_a_file_that_is_not_there_is_a_sentence(tmp_path):
    with pytest.raises(InputError, match="There is no file"):
        read_parquet(tmp_path / "none.parquet")


def test_columns_of_the_same_name_are_refused(tmp_path):
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["x", "x"])
    parquet.write_table(table, tmp_path / "t.parquet")
    with pytest.raises(InputError, match="both called 'x'"):
        read_parquet(tmp_path / "t.parquet")


def test_a_missing_extra_is_named(tmp_path, monkeypatch):
    genuine = builtins.__import__

    def without_pyarrow(name, *rest):
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return genuine(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without_pyarrow)
    with pytest.raises(InputError, match=r"needs pyarrow. Install it with: pip install bpgnn\["):
        read_parquet(tmp_path / "t.parquet")
