import json

import pytest
import torch

from bpgnn.errors import RunFolderError
from bpgnn.training.fit import fit
from bpgnn.training.folder import PLAN, RESULT, WEIGHTS, RunFolder
from bpgnn.training.open import open_run
from bpgnn.training.plan import Plan
from bpgnn.training.run import load_for


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    path = tmp_path_factory.mktemp("runs") / "wine"
    plan = Plan(seed=2, changes={"max_steps": 8, "k": 5}, add_edges=0.3)
    fitted = fit(load_for(plan, "wine", "random"), plan, folder=RunFolder(path))
    return path, fitted


def copied(run, tmp_path):
    for file in run[0].iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    return tmp_path


def test_an_opened_run_predicts_as_at_its_end(run):
    path, fitted = run
    opened = open_run(path)
    assert torch.equal(opened.probabilities, fitted.probabilities)
    assert torch.equal(opened.latent_graph.edge_index, fitted.latent_graph.edge_index)
    assert opened.record.to_json() == json.loads(json.dumps(fitted.record.to_json()))


def test_a_run_without_a_result_is_sent_to_resume(run, tmp_path):
    path = copied(run, tmp_path)
    (path / RESULT).unlink()
    with pytest.raises(RunFolderError, match="not finished.*--resume"):
        open_run(path)


def test_a_folder_that_is_none_is_refused(tmp_path):
    with pytest.raises(RunFolderError, match="no run folder"):
        open_run(tmp_path / "nowhere")
    with pytest.raises(RunFolderError, match="not the folder of a run"):
        open_run(tmp_path)


def test_weights_that_were_changed_are_refused(run, tmp_path):
    path = copied(run, tmp_path)
    content = bytearray((path / WEIGHTS).read_bytes())
    content[-3] ^= 1
    (path / WEIGHTS).write_bytes(bytes(content))
    with pytest.raises(RunFolderError, match="damaged"):
        open_run(path)
    (path / WEIGHTS).write_bytes(bytes(content[:100]))
    with pytest.raises(RunFolderError, match="damaged"):
        open_run(path)


def test_a_result_of_something_else_is_refused(run, tmp_path):
    path = copied(run, tmp_path)
    (path / RESULT).write_text('{"accuracy": 1}')
    with pytest.raises(RunFolderError, match="belongs to another run"):
        open_run(path)


def test_a_run_has_the_settings_of_its_record_whatever_presets_have_become(run, tmp_path):
    path = copied(run, tmp_path)
    plan, result = (json.loads((path / name).read_text()) for name in (PLAN, RESULT))
    # As if the preset had changed since, and a setting had been added with its default.
    plan["changes"]["k"] = plan["settings"]["k"] = 6
    del plan["settings"]["linear_start"], result["settings"]["linear_start"]
    (path / PLAN).write_text(json.dumps(plan))
    (path / RESULT).write_text(json.dumps(result))
    assert torch.equal(open_run(path).probabilities, run[1].probabilities)


def test_a_record_with_settings_that_are_none_is_refused(run, tmp_path):
    path = copied(run, tmp_path)
    result = json.loads((path / RESULT).read_text())
    result["settings"]["no_such"] = 1
    (path / RESULT).write_text(json.dumps(result))
    with pytest.raises(RunFolderError, match="belongs to another run"):
        open_run(path)
