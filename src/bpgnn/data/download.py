"""Files fetched over the network: pinned, atomic, and continued after an interruption."""

import http.client
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

from bpgnn.data.checksum import Checksum
from bpgnn.errors import DataUnavailableError, InputError

Progress = Callable[[int, int | None], None]

_CHUNK = 1 << 16
_RANGE_NOT_SATISFIABLE = 416
_PARTIAL_CONTENT = 206


def download(
    address: str,
    path: Path,
    checksum: Checksum,
    *,
    progress: Progress | None = None,
    timeout: float = 30.0,
) -> None:
    """Fetch a file, unless it is already there with the right content.

    Bytes go to `path` plus `.part`, which is renamed once its fingerprint is right. After an
    interruption, even a kill, the next call asks the server for the missing bytes only.

    Args:
        address: Where it is, http or https.
        path: Where it goes.
        checksum: What its content must be.
        progress: Called now and then with the bytes so far and the bytes in all, or None
            where the server does not say.
        timeout: Seconds to wait for the server.

    Raises:
        DataUnavailableError: If it cannot be fetched, or is not the pinned content.
    """
    if not address.startswith(("http://", "https://")):
        raise InputError(f"`address` must begin with http:// or https://, but got {address!r}.")
    if path.is_file() and checksum.matches(path):
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    try:
        _fetch(address, part, progress, timeout)
    except (urllib.error.URLError, http.client.HTTPException, TimeoutError, OSError) as error:
        raise DataUnavailableError(
            f"{address} could not be fetched ({_reason(error)}). Check the network and try "
            f"again, which continues where this stopped, or save that address as {path}."
        ) from error
    if not checksum.matches(part):
        found = checksum.of_file(part)
        part.unlink()
        raise DataUnavailableError(
            f"{address} gave another file than expected: its {checksum.kind} should be "
            f"{checksum.digest}, but it is {found}. It was deleted. Try again; if this "
            f"repeats, save the right file as {path}."
        )
    part.replace(path)


def _fetch(address: str, part: Path, progress: Progress | None, timeout: float) -> None:
    have = part.stat().st_size if part.is_file() else 0
    try:
        _append(address, part, have, progress, timeout)
    except urllib.error.HTTPError as error:
        # The server has no byte after those we hold: all are here, or they are not its own.
        # The fingerprint, or a fresh start, will tell.
        if error.code != _RANGE_NOT_SATISFIABLE or have == 0:
            raise
        error.close()
        if _size_in(error.headers.get("Content-Range")) != have:
            _append(address, part, 0, progress, timeout)


def _append(address: str, part: Path, have: int, progress: Progress | None, timeout: float) -> None:
    request = urllib.request.Request(address)  # noqa: S310 - the scheme is checked above
    if have:
        request.add_header("Range", f"bytes={have}-")
    with urllib.request.urlopen(request, timeout=timeout) as response:  # noqa: S310 - as above
        continued = response.status == _PARTIAL_CONTENT
        length = response.headers.get("Content-Length")
        done = have if continued else 0
        total = None if length is None else done + int(length)
        with part.open("ab" if continued else "wb") as stream:
            while chunk := response.read(_CHUNK):
                stream.write(chunk)
                done += len(chunk)
                if progress is not None:
                    progress(done, total)
        if total is not None and done < total:
            raise http.client.IncompleteRead(b"", total - done)


def _size_in(content_range: str | None) -> int | None:
    size = (content_range or "").rpartition("/")[2]
    return int(size) if size.isdigit() else None


def _reason(error: Exception) -> str:
    if isinstance(error, http.client.IncompleteRead):
        return f"the connection broke with {error.expected} bytes to come"
    return str(getattr(error, "reason", "") or error or type(error).__name__)
