"""Where data files are on this machine."""

import os
from pathlib import Path
from typing import Literal

from platformdirs import user_cache_dir

from bpgnn.errors import InputError


def data_folder() -> Path | None:
    """Return the folder named by `BPGNN_DATA`, or None where it is not set."""
    named = os.environ.get("BPGNN_DATA")
    if not named:
        return None
    folder = Path(named).expanduser()
    if not folder.is_dir():
        raise InputError(
            f"BPGNN_DATA names {folder}, which is no folder. Make it, or unset BPGNN_DATA."
        )
    return folder


def cache_folder() -> Path:
    """Return the folder for fetched files: `BPGNN_CACHE`, else the user's cache."""
    named = os.environ.get("BPGNN_CACHE")
    return Path(named).expanduser() if named else Path(user_cache_dir("bpgnn"))


def find_file(file_names: tuple[str, ...]) -> tuple[Literal["folder", "cache"], Path] | None:
    """Find a data file, in the user's own folder first and in the cache second.

    Args:
        file_names: Names it may have, the usual one first.

    Returns:
        `folder` or `cache`, and the path; None where it is in neither.
    """
    own, cache = data_folder(), cache_folder()
    for name in file_names:
        if own is not None and (own / name).is_file():
            return "folder", own / name
    for name in file_names:
        if (cache / name).is_file():
            return "cache", cache / name
    return None
