"""The result store: one JSON line a run, appended whole, by one process at a time."""

import json
import os
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, final

from filelock import FileLock, Timeout

from bpgnn.errors import StoreError

Line = dict[str, Any]
Append = Callable[[Line], None]


@final
class Store:
    """Keep finished runs by the command that makes each again.

    A line that was torn when its process was killed does not count, and is cut off before the
    next is written. A later line of the same command takes the place of an earlier one.

    Args:
        path: The file; it need not exist yet.
        option: The option by which another one is named.

    Example:
        >>> import tempfile
        >>> store = Store(Path(tempfile.mkdtemp()) / "runs.jsonl")
        >>> with store.writing() as append:
        ...     append(
        ...         {"command": "bpgnn train cora", "seed": 0}
        ...         | {"test_accuracy": 0.9, "cpu_seconds": 60.0}
        ...     )
        >>> store.read()["bpgnn train cora"]["test_accuracy"]
        0.9
    """

    def __init__(self, path: Path, option: str = "--store") -> None:
        self.path, self.option = path, option

    def read(self) -> dict[str, Line]:
        """Read all whole lines."""
        if not self.path.exists():
            return {}
        found = {}
        try:
            *lines, last = self.path.read_bytes().split(b"\n")
        except OSError as error:
            raise self._cannot("read", error) from None
        if not _is_torn(last):
            lines.append(last)
        for number, text in enumerate(lines, start=1):
            # An editor leaves empty lines, and a power cut zeros.
            if not text.strip(b"\0 \t\r"):
                continue
            line = _parsed(text)
            if line is None:
                raise StoreError(
                    f"Line {number} of {self.path} is not a result of bpgnn. Take the line out, "
                    f"or name another file with {self.option}."
                )
            found[line["command"]] = line
        return found

    @contextmanager
    def writing(self) -> Iterator[Append]:
        """Hold the store alone; hand out what adds a line to it."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            # The system frees the lock of a process that was killed.
            lock = FileLock(f"{self.path}.lock", timeout=0)
            lock.acquire()
        except Timeout:
            raise StoreError(
                f"Another process is writing to {self.path}. Wait for it, stop it, or name "
                f"another file with {self.option}."
            ) from None
        except (OSError, NotImplementedError) as error:
            raise self._cannot("written", error) from None
        try:
            self.read()
            with self._opened() as file:
                _mend_last_line(file)

                def append(line: Line) -> None:
                    try:
                        file.write(json.dumps(line).encode() + b"\n")
                        file.flush()
                        os.fsync(file.fileno())
                    except OSError as error:
                        raise self._cannot("written", error) from None

                yield append
        finally:
            lock.release()

    def _opened(self) -> BinaryIO:
        try:
            return self.path.open("a+b")
        except OSError as error:
            raise self._cannot("written", error) from None

    def _cannot(self, be: str, error: Exception) -> StoreError:
        why = getattr(error, "strerror", None) or error
        return StoreError(
            f"{self.path} cannot be {be} ({why}). Name another file with {self.option}."
        )


def _parsed(text: bytes) -> Line | None:
    try:
        line = json.loads(text)
    except ValueError:
        return None
    return line if isinstance(line, dict) and _is_result(line) else None


_NUMBER, _TEXT = (int, float), (str,)
_IS: dict[str, tuple[type, ...]] = {
    "command": _TEXT,
    "method": _TEXT,
    "dataset": _TEXT,
    "preset": _TEXT,
    "way": _TEXT,
    "settings": (dict,),
    "seed": (int,),
    "num_nodes": (int,),
    "test_accuracy": _NUMBER,
    "cpu_seconds": _NUMBER,
    "wall_seconds": _NUMBER,
    "error": (dict,),
    "kind": _TEXT,
    "words": _TEXT,
}
"""What the fields that others rely on must be, where a line has them."""


def _is_result(line: Line) -> bool:
    """Tell whether a line has what those who read results rely on."""
    wanted = ["command"]
    if "settings" in line:
        wanted += ["method", "dataset", "preset", "seed"]
    if "error" not in line:
        trained = str(line.get("command")).startswith("bpgnn train")
        wanted += ["cpu_seconds", *(("seed", "test_accuracy") if trained else ())]
    elif not _has(line["error"], ["kind", "words"]):
        return False
    return _has(line, wanted) and _can_be_split(line["command"])


def _has(line: Any, wanted: list[str]) -> bool:
    if not isinstance(line, dict) or not line.keys() >= set(wanted):
        return False
    return all(isinstance(value, _IS[name]) for name, value in line.items() if name in _IS)


def _can_be_split(command: str) -> bool:
    try:
        return bool(shlex.split(command))
    except ValueError:
        return False


def _is_torn(text: bytes) -> bool:
    """Tell the beginning of a result, which was cut off, from a whole line."""
    beginning = b'{"command": '
    ours = text.startswith(beginning[: len(text)])
    return ours and _parsed(text) is None


def _mend_last_line(file: BinaryIO) -> None:
    """End a last line that is whole, and cut off one that is not."""
    file.seek(0)
    content = file.read()
    end = content.rfind(b"\n") + 1
    if _parsed(content[end:]) is not None:
        file.write(b"\n")
    else:
        file.truncate(end)
