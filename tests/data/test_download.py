import hashlib
import http.server
import re
import socket
import threading
from pathlib import Path

import pytest

from bpgnn.data.checksum import Checksum
from bpgnn.data.download import download
from bpgnn.errors import DataUnavailableError, InputError

CONTENT = bytes(range(256)) * 2000
CHECKSUM = Checksum(hashlib.sha256(CONTENT).hexdigest())


class Server(http.server.ThreadingHTTPServer):
    """Serve one file on this machine, and note which bytes were asked for."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Answer)
        self.content = CONTENT
        self.asked: list[str | None] = []
        self.knows_ranges = True
        self.breaks_after: int | None = None
        self.says_length = True

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/file"


class Answer(http.server.BaseHTTPRequestHandler):
    server: Server

    def do_GET(self):
        wanted = self.headers.get("Range")
        self.server.asked.append(wanted)
        size = len(self.server.content)
        start = 0
        if self.path != "/file":
            self.send_error(404)
            return
        if wanted and self.server.knows_ranges:
            start = int(re.fullmatch(r"bytes=(\d+)-", wanted)[1])
            if start >= size:
                self.send_response(416)
                self.send_header("Content-Range", f"bytes */{size}")
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {start}-{size - 1}/{size}")
        else:
            self.send_response(200)
        if self.server.says_length:
            self.send_header("Content-Length", str(size - start))
        self.end_headers()
        self.wfile.write(self.server.content[start : self.server.breaks_after])

    def log_message(self, *_args):
        pass


@pytest.fixture
def server():
    server = Server()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_file_is_fetched_and_its_progress_told(server, tmp_path: Path):
    told = []
    path = tmp_path / "deep" / "file"
    download(server.address, path, CHECKSUM, progress=lambda *pair: told.append(pair))
    assert path.read_bytes() == CONTENT
    assert [entry.name for entry in path.parent.iterdir()] == ["file"]
    assert told[-1] == (len(CONTENT), len(CONTENT))
    assert told == sorted(told)


def test_a_file_that_is_there_is_not_fetched_again(server, tmp_path: Path):
    (tmp_path / "file").write_bytes(CONTENT)
    download(server.address, tmp_path / "file", CHECKSUM)
    assert server.asked == []


def test_a_wrong_file_that_is_there_is_replaced(server, tmp_path: Path):
    (tmp_path / "file").write_bytes(b"something else")
    download(server.address, tmp_path / "file", CHECKSUM)
    assert (tmp_path / "file").read_bytes() == CONTENT


@pytest.mark.parametrize("have", [1, 1000, len(CONTENT) - 1])
def test_after_a_kill_only_the_missing_bytes_are_asked_for(server, tmp_path: Path, have):
    (tmp_path / "file.part").write_bytes(CONTENT[:have])
    told = []
    download(server.address, tmp_path / "file", CHECKSUM, progress=lambda *pair: told.append(pair))
    assert server.asked == [f"bytes={have}-"]
    assert (tmp_path / "file").read_bytes() == CONTENT
    assert not (tmp_path / "file.part").exists()
    assert told[-1] == (len(CONTENT), len(CONTENT))


def test_a_kill_just_before_the_rename_costs_no_second_download(server, tmp_path: Path):
    (tmp_path / "file.part").write_bytes(CONTENT)
    download(server.address, tmp_path / "file", CHECKSUM)
    assert server.asked == [f"bytes={len(CONTENT)}-"]
    assert (tmp_path / "file").read_bytes() == CONTENT


def test_a_part_that_is_too_long_is_started_over(server, tmp_path: Path):
    (tmp_path / "file.part").write_bytes(CONTENT + b"more")
    download(server.address, tmp_path / "file", CHECKSUM)
    assert server.asked[-1] is None
    assert (tmp_path / "file").read_bytes() == CONTENT


def test_a_server_without_ranges_sends_all_again(server, tmp_path: Path):
    server.knows_ranges = False
    (tmp_path / "file.part").write_bytes(CONTENT[:1000])
    download(server.address, tmp_path / "file", CHECKSUM)
    assert (tmp_path / "file").read_bytes() == CONTENT


def test_a_server_that_hides_the_length_is_served_too(server, tmp_path: Path):
    server.says_length = False
    told = []
    download(server.address, tmp_path / "file", CHECKSUM, progress=lambda *pair: told.append(pair))
    assert told[-1] == (len(CONTENT), None)


def test_a_connection_that_breaks_is_continued_by_the_next_call(server, tmp_path: Path):
    server.breaks_after = 200_000
    with pytest.raises(DataUnavailableError, match="the connection broke with 312000 bytes"):
        download(server.address, tmp_path / "file", CHECKSUM)
    assert not (tmp_path / "file").exists()
    assert (tmp_path / "file.part").stat().st_size == 200_000
    server.breaks_after = None
    download(server.address, tmp_path / "file", CHECKSUM)
    assert server.asked == [None, "bytes=200000-"]
    assert (tmp_path / "file").read_bytes() == CONTENT


def test_wrong_content_is_deleted_and_said(server, tmp_path: Path):
    server.content = b"a page that asks for a password"
    with pytest.raises(DataUnavailableError, match="gave another file than expected") as caught:
        download(server.address, tmp_path / "file", CHECKSUM)
    assert CHECKSUM.digest in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_part_of_another_file_is_deleted_and_the_next_call_succeeds(server, tmp_path: Path):
    (tmp_path / "file.part").write_bytes(b"not the beginning")
    with pytest.raises(DataUnavailableError, match="It was deleted"):
        download(server.address, tmp_path / "file", CHECKSUM)
    download(server.address, tmp_path / "file", CHECKSUM)
    assert (tmp_path / "file").read_bytes() == CONTENT


def test_a_missing_page_is_a_sentence(server, tmp_path: Path):
    with pytest.raises(DataUnavailableError, match="could not be fetched .*Not Found"):
        download(server.address + "s", tmp_path / "file", CHECKSUM)


def test_offline_says_what_to_save_where(tmp_path: Path):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{unused.getsockname()[1]}/file"
        with pytest.raises(DataUnavailableError) as caught:
            download(address, tmp_path / "file", CHECKSUM)
    assert f"save that address as {tmp_path / 'file'}" in str(caught.value)
    assert address in str(caught.value)


def test_other_schemes_are_refused(tmp_path: Path):
    with pytest.raises(InputError, match="must begin with http"):
        download("file:///etc/passwd", tmp_path / "file", CHECKSUM)
