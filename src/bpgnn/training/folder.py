"""A run's folder: every file in it is whole, whenever the run is killed."""

import errno
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, final

from bpgnn.errors import RunFolderError

PLAN, DATA, HISTORY, CHECKPOINT, WEIGHTS, RESULT = (
    "settings.json",
    "data.safetensors",
    "history.jsonl",
    "checkpoint.safetensors",
    "weights.safetensors",
    "result.json",
)


@final
class RunFolder:
    """Write and read the files of one run.

    Args:
        path: The folder; it is made when the first file is written.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Keep the path."""
        self.path = Path(path)

    def has(self, name: str) -> bool:
        """Tell whether a file of that name is there."""
        with _explained(self.path, "read"):
            return (self.path / name).is_file()

    def check_free(self) -> None:
        """Refuse a place that holds anything."""
        with _explained(self.path, "write"):
            used = self.path.exists() and any(self.path.iterdir())
        if used:
            raise RunFolderError(
                f"{self.path} is not empty. Choose another --out, or go on with what is in it "
                f"by `bpgnn train --resume {self.path}`."
            )

    def claim(self) -> None:
        """Make the folder for a new run."""
        self.check_free()
        with _explained(self.path, "write"):
            self.path.mkdir(parents=True, exist_ok=True)

    def sweep(self) -> None:
        """Remove what a process that was killed while writing has left."""
        with _explained(self.path, "write"):
            for aside in self.path.glob(".*.tmp"):
                aside.unlink(missing_ok=True)

    def write(self, name: str, content: bytes) -> None:
        """Write a file whole or not at all: to a temporary name first, then renamed."""
        with _explained(self.path, "write"):
            self.path.mkdir(parents=True, exist_ok=True)
            aside = self.path / f".{name}.{os.getpid()}.tmp"
            try:
                with aside.open("wb") as file:
                    file.write(content)
                    file.flush()
                    os.fsync(file.fileno())
                aside.replace(self.path / name)
            finally:
                aside.unlink(missing_ok=True)

    def read(self, name: str) -> bytes:
        """Read a whole file."""
        with _explained(self.path, "read"):
            try:
                return (self.path / name).read_bytes()
            except (FileNotFoundError, NotADirectoryError):
                raise RunFolderError(
                    f"{self.path} is not the folder of a run: it has no {name}. "
                    "Name a folder that `bpgnn train` has written."
                ) from None

    def write_json(self, name: str, value: dict[str, Any]) -> None:
        """Write a value as indented JSON."""
        self.write(name, (json.dumps(value, indent=2) + "\n").encode())

    def read_json(self, name: str) -> dict[str, Any]:
        """Read a JSON object."""
        try:
            value = json.loads(self.read(name))
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            raise RunFolderError(
                f"{name} in {self.path} is damaged: it is not a JSON object. Train again "
                "with another --out."
            )
        return value

    def check_data(self, fingerprint: str) -> dict[str, Any]:
        """Refuse data that are not those that the run was begun with; return its stored plan."""
        stored = self.read_json(PLAN)
        if stored.get("fingerprint") != fingerprint:
            raise RunFolderError(
                f"The run in {self.path} was trained on other data than is here now. "
                "Put the data back as they were, or train anew with another --out."
            )
        return stored

    def check_unchanged(self, fingerprint: str, settings: dict[str, Any]) -> None:
        """Refuse data and settings that are not those that the run was begun with."""
        stored = self.check_data(fingerprint)
        if differing := _differing(stored.get("settings"), settings):
            raise RunFolderError(
                f"The run in {self.path} was begun with other settings than this version of "
                f"bpgnn gives it now: {', '.join(differing)}. Train anew with another --out."
            )

    def append_history(self, line: dict[str, Any]) -> None:
        """Add one evaluation to the history."""
        with _explained(self.path, "write"):
            self.path.mkdir(parents=True, exist_ok=True)
            with (self.path / HISTORY).open("a") as file:
                file.write(json.dumps(line) + "\n")

    def cut_history(self, last_step: int) -> None:
        """Forget the evaluations after a step, and a torn last line."""
        lines = self.read(HISTORY).decode(errors="replace") if self.has(HISTORY) else ""
        kept = []
        for line in lines.splitlines():
            try:
                if json.loads(line)["step"] <= last_step:
                    kept.append(line + "\n")
            except (ValueError, KeyError, TypeError):
                break
        self.write(HISTORY, "".join(kept).encode())


def _differing(stored: Any, now: dict[str, Any]) -> list[str]:
    """Name the settings that are not those of a run's folder, as JSON has them."""
    stored, now = stored if isinstance(stored, dict) else {}, json.loads(json.dumps(now))
    return [name for name in {**now, **stored} if stored.get(name) != now.get(name)]


@contextmanager
def _explained(path: Path, verb: str) -> Iterator[None]:
    """Turn what the file system refuses into a sentence with the cure."""
    try:
        yield
    except PermissionError:
        reason = "permission is missing. Choose a folder of your own with --out."
    except (FileExistsError, NotADirectoryError):
        reason = "a file is in the way. Choose another folder with --out."
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        cure = "the disk is full. Free some room, then go on with --resume."
        reason = cure if full else f"{error.strerror or error}."
    else:
        return
    raise RunFolderError(f"Cannot {verb} {path}: {reason}")
