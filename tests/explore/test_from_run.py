import numpy as np
import pytest
import torch

from bpgnn.data.files.columns import learn_columns
from bpgnn.data.synthetic import block_model
from bpgnn.explain.edge import explain_edge
from bpgnn.explore import from_run
from bpgnn.explore.from_run import scene_of
from bpgnn.training.fit import fit
from bpgnn.training.plan import Plan


def trained(method="bpgnn", **changes):
    data = block_model(60, seed=2)
    few = {"max_steps": 4} if method == "gcn" else {"max_steps": 4, "k": 4}
    return fit(data, Plan(method, changes={**few, **changes}))


@pytest.mark.parametrize("method", ["bpgnn", "ddgm-h", "knn-gcn"])
def test_a_scene_holds_all_nodes_and_pairs(method):
    fitted = trained(method)
    scene = scene_of(fitted, "one")
    summary = fitted.record.latent_graph
    assert len(scene.node_names) == 60
    assert (scene.kind == "kept").sum() == summary.kept
    assert (scene.kind == "added").sum() == summary.added
    assert scene.figures[2].after == pytest.approx(fitted.record.test_accuracy)


@pytest.mark.parametrize("symmetric", [False, True])
def test_witnesses_are_those_of_the_explanation(symmetric):
    fitted = trained(symmetric=symmetric)
    scene = scene_of(fitted, "one")
    for pair in (0, 17, len(scene.kind) - 1):
        target, source = scene.pairs[:, pair].tolist()
        reasons = explain_edge(fitted.method, fitted.output, target, source)
        ours = {one.node: one for one in reasons.witnesses if one.side == "target"}
        run = slice(*scene.witness_pointer[pair : pair + 2])
        assert set(scene.witness_nodes[run].tolist()) == set(ours)
        for node, share in zip(scene.witness_nodes[run], scene.witness_shares[run], strict=True):
            assert share == pytest.approx(ours[int(node)].share, abs=1e-5)


def test_of_many_added_pairs_the_likeliest_are_kept(monkeypatch):
    fitted = trained()
    whole = scene_of(fitted, "one")
    monkeypatch.setattr(from_run, "MOST_ADDED", 5)
    few = scene_of(fitted, "one")
    assert (few.kind == "added").sum() == 5
    assert (few.kind != "added").sum() == (whole.kind != "added").sum()
    best = np.sort(whole.weight[whole.kind == "added"])[-5:]
    np.testing.assert_allclose(np.sort(few.weight[few.kind == "added"]), best)


def test_features_are_named_where_columns_are():
    fitted = trained()
    names = [f"column {number}" for number in range(16)]
    columns = learn_columns({name: np.arange(60.0) for name in names})
    scene = scene_of(fitted, "one", columns)
    assert scene.features[0].startswith("column ")
    assert scene_of(fitted, "one").features[0] == ""
    assert bool(torch.isfinite(torch.from_numpy(scene.places)).all())
