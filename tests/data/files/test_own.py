import torch

from bpgnn.data.files.own import OwnData, repaired_dataset


def test_repairs_are_notes_and_no_warnings():
    data = repaired_dataset(
        "mine",
        torch.eye(3),
        torch.tensor([0, 1, -1]),
        torch.tensor([[0, 0, 1, 2], [1, 1, 1, 1]]),
        edge_weight=None,
        directed=False,
        class_names=("a", "b"),
        node_names=("x", "y", "z"),
        notes=("First.",),
    )
    assert data.notes[0] == "First."
    assert [note.split(" ", 1)[0] for note in data.notes[1:]] == ["1", "1", "2"]
    assert data.feature_kind == "table"
    assert OwnData(data).ids == ("x", "y", "z")
