import pytest

from bpgnn.cli import Log
from bpgnn.errors import InputError
from bpgnn.training.folder import RunFolder
from bpgnn.training.logs.choose import LOGS, open_logs
from bpgnn.training.logs.tensorboard import TensorBoardLog


def test_a_log_named_twice_is_opened_once(tmp_path):
    with open_logs(["tensorboard", "tensorboard"], RunFolder(tmp_path)) as (log,):
        assert isinstance(log, TensorBoardLog)
        assert log.folder == tmp_path / "tensorboard"


def test_an_unknown_log_is_refused(tmp_path):
    refused = pytest.raises(InputError, match="no log 'tensorbord'. Did you mean tensorboard")
    with refused, open_logs(["tensorbord"], RunFolder(tmp_path)):
        pass


def test_the_command_line_offers_all_of_them():
    assert set(Log) == set(LOGS)
