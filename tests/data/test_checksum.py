import hashlib
import shutil
import subprocess
from pathlib import Path

import pytest

from bpgnn.data.checksum import Checksum


def test_sha256_is_that_of_the_content(tmp_path: Path):
    path = tmp_path / "file"
    path.write_bytes(b"content")
    digest = hashlib.sha256(b"content").hexdigest()
    assert Checksum(digest).of_file(path) == digest
    assert Checksum(digest).matches(path)
    assert not Checksum("0" * 64).matches(path)


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_git_sha1_is_the_name_that_git_gives(tmp_path: Path):
    path = tmp_path / "file"
    path.write_bytes(b"some\x00content\n" * 100)
    command = ["git", "hash-object", "--no-filters", str(path)]
    name = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    assert Checksum(name, "git-sha1").matches(path)
