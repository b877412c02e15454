import json
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

from bpgnn.errors import StoreError
from bpgnn.experiments.store import Store


def line(number, **more):
    command = f"bpgnn train cora --seed {number}"
    return {"command": command, "seed": number, "test_accuracy": 0.9, "cpu_seconds": 1.0, **more}


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "results" / "runs.jsonl")
    with store.writing() as append:
        for number in range(3):
            append(line(number))
    return store


def test_what_was_added_is_read_by_its_command(store):
    assert store.read() == {line(number)["command"]: line(number) for number in range(3)}


def test_a_store_that_is_not_there_yet_is_empty(tmp_path):
    assert Store(tmp_path / "none.jsonl").read() == {}


def test_a_later_line_takes_the_place_of_an_earlier(store):
    with store.writing() as append:
        append(line(1, test_accuracy=0.5))
    assert store.read()[line(1)["command"]]["test_accuracy"] == 0.5
    assert len(store.read()) == 3


@pytest.mark.parametrize("length", range(1, len(json.dumps(line(3)))))
def test_a_torn_last_line_does_not_count_and_is_cut_off(store, length):
    whole = store.path.read_bytes()
    store.path.write_bytes(whole + json.dumps(line(3)).encode()[:length])
    assert len(store.read()) == 3
    with store.writing() as append:
        append(line(4))
    assert store.path.read_bytes() == whole + json.dumps(line(4)).encode() + b"\n"


@pytest.mark.parametrize("nothing", [b"\n", b"\r\n", b" \n\n", b"\0" * 512, b"\0\0\n"])
def test_lines_with_nothing_on_them_are_passed_by(store, nothing):
    whole = store.path.read_bytes()
    first, _, rest = whole.partition(b"\n")
    for content in (whole + nothing, first + b"\n" + nothing.strip(b"\0") + rest):
        store.path.write_bytes(content)
        assert len(store.read()) == 3
        with store.writing() as append:
            append(line(4))
        assert len(store.read()) == 4


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_disk_gets_a_sentence_with_the_name_of_the_file(tmp_path, monkeypatch):
    store = Store(tmp_path / "runs.jsonl")
    with Path("/dev/full").open("wb", buffering=0) as full:
        monkeypatch.setattr(Store, "_opened", lambda _: nullcontext(full))
        monkeypatch.setattr("bpgnn.experiments.store._mend_last_line", lambda _: None)
        with (
            pytest.raises(StoreError, match=r"runs\.jsonl cannot be written \(No space left"),
            store.writing() as append,
        ):
            append(line(0))


def test_a_whole_last_line_without_its_end_counts(store):
    with store.path.open("a") as file:
        file.write(json.dumps(line(3)))
    assert len(store.read()) == 4
    with store.writing() as append:
        append(line(4))
    assert len(store.read()) == 5


@pytest.mark.parametrize(
    "foreign",
    [
        *("not json", "[1]", '{"a": 1}', '{"command": 3}'),
        json.dumps({"command": "bpgnn train cora --seed 0"}),
        *(
            json.dumps(line(3, **wrong))
            for wrong in (
                {"command": ""},
                {"command": "bpgnn train 'cora"},
                {"settings": {"k": 3}},
                {"error": "bad"},
                {"error": {"kind": "memory"}},
                {"test_accuracy": None},
                {"cpu_seconds": "long"},
            )
        ),
    ],
)
def test_a_foreign_line_gets_a_sentence(store, foreign):
    with store.path.open("a") as file:
        file.write(foreign + "\n")
    with pytest.raises(StoreError, match=r"Line 4 of .* is not a result of bpgnn"):
        store.read()


@pytest.mark.parametrize("foreign", ['{"my": "only copy"}', "line one\nline two without end"])
def test_a_file_that_is_no_store_is_left_as_it_is(tmp_path, foreign):
    path = tmp_path / "notes"
    path.write_text(foreign)
    with pytest.raises(StoreError, match="is not a result of bpgnn"), Store(path).writing():
        pass
    assert path.read_text() == foreign


def test_a_folder_is_no_store(tmp_path):
    with pytest.raises(StoreError, match="cannot be read"), Store(tmp_path).writing():
        pass


def test_a_second_writer_is_refused_and_a_later_one_is_not(store):
    with (
        store.writing(),
        pytest.raises(StoreError, match="Another process is writing"),
        Store(store.path).writing(),
    ):
        pass
    with store.writing() as append:
        append(line(9))
    assert len(store.read()) == 4


def test_a_killed_writer_holds_no_lock(store):
    code = f"""
import os, pathlib, signal
from bpgnn.experiments.store import Store
with Store(pathlib.Path({str(store.path)!r})).writing() as append:
    append({{"command": "last words", "cpu_seconds": 1.0}})
    os.kill(os.getpid(), signal.SIGKILL)
"""
    ended = subprocess.run([sys.executable, "-c", code])
    assert ended.returncode == -9
    assert "last words" in store.read()
    with store.writing() as append:
        append(line(3))
    assert len(store.read()) == 5


def test_a_place_that_cannot_be_written_gets_a_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(StoreError, match=r"cannot be written .* --store"),
        Store(tmp_path / "file" / "runs.jsonl").writing(),
    ):
        pass
