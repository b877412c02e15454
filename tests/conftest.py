import os
import sys
from pathlib import Path

import pytest
import torch
from hypothesis import settings

from bpgnn import cli

# A shared machine may be slow for a moment; that is no failure.
settings.register_profile("bpgnn", deadline=None)
settings.load_profile("bpgnn")

# Some tests work in a folder of their own, from which a relative path would lead elsewhere.
if os.environ.get("BPGNN_DATA"):
    os.environ["BPGNN_DATA"] = str(Path(os.environ["BPGNN_DATA"]).resolve())


class Ran:
    """What a command gave."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err


@pytest.fixture
def place(tmp_path, monkeypatch):
    """An empty folder to work in, a narrow terminal, and the threads as they were."""
    threads = torch.get_num_threads()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("BPGNN_TRACEBACK", raising=False)
    yield tmp_path
    torch.set_num_threads(threads)


@pytest.fixture
def run(monkeypatch, capsys):
    """Type a command, and catch how it ended."""

    def type_words(*words):
        monkeypatch.setattr(sys, "argv", ["bpgnn", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        caught = capsys.readouterr()
        return Ran(ended.value.code, caught.out, caught.err)

    return type_words
