import errno
import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpgnn.errors import RunFolderError
from bpgnn.training.folder import HISTORY, RunFolder


@pytest.fixture
def folder(tmp_path):
    return RunFolder(tmp_path / "deep" / "run")


def names(folder):
    return sorted(path.name for path in folder.path.iterdir())


def test_what_was_written_is_read_again_and_nothing_else_is_there(folder):
    folder.write("weights", b"\x00\xff")
    folder.write_json("plan", {"seed": 1, "widths": [2, 3]})
    assert folder.read("weights") == b"\x00\xff"
    assert folder.read_json("plan") == {"seed": 1, "widths": [2, 3]}
    assert folder.has("plan")
    assert not folder.has("result")
    assert names(folder) == ["plan", "weights"]


def refusing(number):
    def refuse(*_args, **_kwargs):
        raise OSError(number, os.strerror(number))

    return refuse


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_write_that_fails_leaves_the_old_file_and_no_temporary_one(folder, monkeypatch, call):
    folder.write("checkpoint", b"old")
    if call == "fsync":
        monkeypatch.setattr(os, "fsync", refusing(errno.ENOSPC))
    else:
        monkeypatch.setattr(Path, "replace", refusing(errno.ENOSPC))
    with pytest.raises(RunFolderError, match="the disk is full. Free some room"):
        folder.write("checkpoint", b"new")
    assert folder.read("checkpoint") == b"old"
    assert names(folder) == ["checkpoint"]


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ENOSPC, "the disk is full"),
        (errno.EDQUOT, "the disk is full"),
        (errno.EACCES, "permission is missing. Choose a folder of your own with --out."),
        (errno.EPERM, "permission is missing"),
        (errno.EROFS, "Read-only file system"),
        (errno.ENAMETOOLONG, "File name too long"),
    ],
)
def test_what_the_file_system_refuses_is_said_in_a_sentence(folder, monkeypatch, number, words):
    monkeypatch.setattr(Path, "open", refusing(number))
    for write in (
        lambda: folder.write("plan", b""),
        lambda: folder.append_history({"step": 1}),
    ):
        with pytest.raises(RunFolderError, match=f"^Cannot write .*run: {words}"):
            write()


@pytest.mark.parametrize("call", ["has", "claim"])
def test_a_folder_that_may_not_be_looked_into_is_said_in_a_sentence(folder, monkeypatch, call):
    folder.path.mkdir(parents=True)
    monkeypatch.setattr(Path, "stat", refusing(errno.EACCES))
    monkeypatch.setattr(Path, "iterdir", refusing(errno.EACCES))
    with pytest.raises(RunFolderError, match="permission is missing"):
        folder.has("plan") if call == "has" else folder.claim()


def test_a_folder_below_a_file_is_said_in_a_sentence(tmp_path):
    (tmp_path / "file").write_text("mine")
    for path in (tmp_path / "file", tmp_path / "file" / "run"):
        with pytest.raises(RunFolderError, match="a file is in the way. Choose another folder"):
            RunFolder(path).write("plan", b"")
    assert (tmp_path / "file").read_text() == "mine"


def test_a_missing_file_says_that_the_folder_is_no_run(tmp_path):
    (tmp_path / "file").write_text("mine")
    for path in (tmp_path, tmp_path / "nowhere", tmp_path / "file"):
        with pytest.raises(RunFolderError, match="is not the folder of a run: it has no plan"):
            RunFolder(path).read("plan")


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[1]", b"3", b"\xff\xfe", b'{"a": 1', b"[" * 99999]
)
def test_json_that_is_damaged_or_no_object_is_said_in_a_sentence(folder, content):
    folder.write("plan", content)
    with pytest.raises(RunFolderError, match="plan in .* is damaged"):
        folder.read_json("plan")


def test_history_grows_by_one_line_an_evaluation(folder):
    lines = [{"step": step, "losses": {"task": 0.5}} for step in (10, 20)]
    for line in lines:
        folder.append_history(line)
    written = (folder.path / HISTORY).read_text().splitlines()
    assert [json.loads(line) for line in written] == lines


@given(st.integers(0, 8), st.integers(0, 60))
def test_history_is_cut_to_whole_lines_up_to_the_checkpoint(tmp_path_factory, last, torn):
    folder = RunFolder(tmp_path_factory.mktemp("run"))
    for step in range(1, 7):
        folder.append_history({"step": step})
    content = folder.read(HISTORY)
    (folder.path / HISTORY).write_bytes(content[: len(content) - torn])
    whole = content[: len(content) - torn].decode().splitlines()
    folder.cut_history(last)
    steps = [json.loads(line)["step"] for line in folder.read(HISTORY).decode().splitlines()]
    # A line that lost its newline only is whole as well.
    complete = [int(line[9:-1]) for line in whole if line.endswith("}")]
    assert steps == [step for step in complete if step <= last]
    folder.append_history({"step": 99})
    assert folder.read(HISTORY).decode().endswith('{"step": 99}\n')


def test_a_history_of_rubbish_is_forgotten(folder):
    folder.write(HISTORY, b'\xff\x00rubbish\n{"step": 1}\n')
    folder.cut_history(5)
    assert folder.read(HISTORY) == b""


def test_claiming_makes_the_folder_and_takes_one_that_is_empty(folder):
    folder.claim()
    assert folder.path.is_dir()
    folder.claim()


def test_claiming_a_folder_in_use_is_refused_and_leaves_it_as_it_is(folder):
    folder.write("notes.txt", b"mine")
    with pytest.raises(RunFolderError, match="is not empty. Choose another --out"):
        folder.claim()
    assert names(folder) == ["notes.txt"]


def test_temporary_files_of_a_killed_process_are_swept(folder):
    folder.write("checkpoint", b"whole")
    (folder.path / ".checkpoint.123.tmp").write_bytes(b"half")
    folder.sweep()
    assert names(folder) == ["checkpoint"]
