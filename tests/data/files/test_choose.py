import pytest

from bpgnn.data.files.choose import is_own, read_named
from bpgnn.errors import InputError


def test_a_name_of_the_catalogue_wins_over_a_folder_of_that_name(tmp_path, monkeypatch, write):
    monkeypatch.chdir(tmp_path)
    write("wine/nodes.csv", "id,x,y\na,1,u\nb,2,v\n")
    assert read_named("wine").dataset.num_nodes == 178
    assert read_named("./wine").dataset.num_nodes == 2
    assert not is_own("wine")


def test_what_is_neither_is_refused_with_the_nearest(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="neither a file or folder 'wnie'.*Did you mean wine"):
        read_named("wnie")
    with pytest.raises(InputError, match="neither a file or folder ''"):
        read_named("")


def test_columns_are_of_tables_only():
    with pytest.raises(InputError, match="wine is of the catalogue, and has no columns"):
        read_named("wine", drop=["x"])
