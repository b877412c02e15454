import io
import signal
import threading

import pytest
from rich.console import Console

from bpgnn.console import say, say_notes, stoppable


@pytest.fixture
def console():
    return Console(file=io.StringIO(), width=20)


def test_a_line_is_printed_as_it_is(console):
    say(console, "a path with [brackets] that is longer than the terminal is wide")
    wanted = "a path with [brackets] that is longer than the terminal is wide\n"
    assert console.file.getvalue() == wanted


def test_every_note_has_a_line(console):
    say_notes(console, ("one", "two"))
    assert console.file.getvalue() == "Note: one\nNote: two\n"


def test_a_process_that_is_asked_to_end_says_how_to_go_on(console):
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(SystemExit) as ended, stoppable(console, "Go on."):
        signal.raise_signal(signal.SIGTERM)
    assert ended.value.code == 143
    assert console.file.getvalue() == "Stopped. Go on.\n"
    assert signal.getsignal(signal.SIGTERM) == before


def test_in_another_thread_no_signal_is_taken(console):
    def work():
        with stoppable(console, "Go on."):
            done.append(True)

    done = []
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [True]


def test_ctrl_c_ends_with_how_to_go_on(console):
    with pytest.raises(SystemExit) as ended, stoppable(console, "Go on."):
        raise KeyboardInterrupt
    assert ended.value.code == 130
    assert console.file.getvalue() == "Stopped. Go on.\n"
