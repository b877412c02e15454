"""Pinned fingerprints of the files we fetch."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, final


@final
@dataclass(frozen=True)
class Checksum:
    """Pin the content of a file.

    Args:
        digest: The fingerprint in hexadecimal digits.
        kind: `sha256` of the content, or `git-sha1`, by which git names the content.

    Example:
        >>> Checksum("e69de29bb2d1d6434b8b29ae775ad8c2e48c5391", "git-sha1").of_bytes(b"")
        'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391'
    """

    digest: str
    kind: Literal["sha256", "git-sha1"] = "sha256"

    def of_bytes(self, content: bytes) -> str:
        """Compute this kind of fingerprint for some content."""
        if self.kind == "sha256":
            return hashlib.sha256(content).hexdigest()
        # Git names a file so; it guards against damage, and no stronger pin is published.
        header = b"blob %d\0" % len(content)
        return hashlib.sha1(header + content, usedforsecurity=False).hexdigest()

    def of_file(self, path: Path) -> str:
        """Compute this kind of fingerprint for a file."""
        return self.of_bytes(path.read_bytes())

    def matches(self, path: Path) -> bool:
        """Tell whether a file has the pinned content."""
        return self.of_file(path) == self.digest
