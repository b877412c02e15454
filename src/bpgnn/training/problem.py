"""A data set made ready for a method."""

import torch

from bpgnn.data.dataset import Dataset
from bpgnn.data.prepare import prepare_features
from bpgnn.losses.classification import balanced_weight
from bpgnn.method import MethodSettings, Problem
from bpgnn.nn.sparse import SparseMatrix

_KINDS = {"rows": "counts", "columns": "table"}


def make_problem(
    dataset: Dataset,
    settings: MethodSettings,
    *,
    device: torch.device | str = "cpu",
    dtype: torch.dtype = torch.float32,
) -> Problem:
    """Scale the features, hide all but the training labels, and move to a device."""
    features = dataset.features
    if settings.feature_scaling != "none":
        kind = _KINDS.get(settings.feature_scaling, dataset.feature_kind)
        features = prepare_features(features, kind)  # pyright: ignore[reportArgumentType]
    if features.layout == torch.sparse_csr:
        ready = SparseMatrix.from_csr(features).to(device=device, dtype=dtype)
    else:
        ready = features.to(device=device, dtype=dtype)
    labels = dataset.labels
    labelled = dataset.chosen_split().train & (labels >= 0)
    shown = labels.masked_fill(~labelled, -1).to(device)
    weight = None
    if settings.class_weight == "balanced":
        weight = balanced_weight(labels[labelled], dataset.num_classes)
        weight = weight.to(device=device, dtype=dtype)
    return Problem(
        features=ready,
        labels=shown,
        graph=None if dataset.graph is None else dataset.graph.to(device),
        train=labelled.nonzero().squeeze(1).to(device),
        num_classes=dataset.num_classes,
        class_weight=weight,
    )
