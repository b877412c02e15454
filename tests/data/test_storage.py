from pathlib import Path

import pytest

from bpgnn.data.storage import cache_folder, data_folder, find_file
from bpgnn.errors import InputError


def test_the_folder_of_the_user_comes_before_the_cache(tmp_path: Path, own_cache, monkeypatch):
    own_cache.mkdir()
    (own_cache / "a.npz").write_bytes(b"")
    assert find_file(("a.npz",)) == ("cache", own_cache / "a.npz")
    own = tmp_path / "own"
    own.mkdir()
    monkeypatch.setenv("BPGNN_DATA", str(own))
    assert find_file(("a.npz",)) == ("cache", own_cache / "a.npz")
    (own / "b.npz").write_bytes(b"")
    assert find_file(("a.npz", "b.npz")) == ("folder", own / "b.npz")


def test_a_file_that_is_nowhere_is_none(own_cache: Path):
    assert find_file(("a.npz",)) is None
    assert not own_cache.exists()


def test_a_folder_that_does_not_exist_is_refused_with_the_cure(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("BPGNN_DATA", str(tmp_path / "none"))
    with pytest.raises(InputError, match="which is no folder. Make it, or unset BPGNN_DATA"):
        data_folder()


def test_the_cache_is_the_users_unless_named(monkeypatch):
    monkeypatch.delenv("BPGNN_CACHE", raising=False)
    assert "bpgnn" in str(cache_folder())
    monkeypatch.setenv("BPGNN_CACHE", "~/mine")
    assert cache_folder() == Path.home() / "mine"
