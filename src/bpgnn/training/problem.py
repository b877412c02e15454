"""A data set made ready for a method."""

import numpy as np
import torch
from torch import Tensor

from bpgnn.data.dataset import Dataset, FeatureKind
from bpgnn.data.prepare import prepare_features
from bpgnn.errors import InputError
from bpgnn.losses.classification import balanced_weight
from bpgnn.method import MethodSettings, Problem
from bpgnn.nn.sparse import SparseMatrix
from bpgnn.randomness import numpy_generator_for

_OUTER_SHARES = {"validation": 0.5, "train": 0.2}
_STREAM = 0x0073B

_KINDS: dict[str, FeatureKind] = {"rows": "counts", "columns": "table"}


def make_problem(
    dataset: Dataset,
    settings: MethodSettings,
    *,
    seed: int = 0,
    device: torch.device | str = "cpu",
    dtype: torch.dtype = torch.float32,
) -> Problem:
    """Scale the features, hide all but the training labels, and move to a device.

    Args:
        dataset: The data, with a split.
        settings: How features are scaled, classes weighed and outer nodes taken.
        seed: Draws the outer nodes.
        device: Where to.
        dtype: The precision of features and class weights.

    Returns:
        What a method sees.
    """
    features = dataset.features
    kind = scaling_of(dataset, settings)
    if kind is not None:
        features = prepare_features(features, kind)
    if features.layout == torch.sparse_csr:
        ready = SparseMatrix.from_csr(features).to(device=device, dtype=dtype)
    else:
        ready = features.to(device=device, dtype=dtype)
    labels = dataset.labels
    labelled = dataset.chosen_split().train & (labels >= 0)
    outer = _outer_nodes(dataset, settings, seed)
    shown = labels.masked_fill(~(labelled | outer), -1).to(device)
    labelled &= ~outer
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
        outer=None if settings.outer_nodes == "none" else outer.nonzero().squeeze(1).to(device),
    )


def scaling_of(dataset: Dataset, settings: MethodSettings) -> FeatureKind | None:
    """Tell how features are scaled, or None where they are taken as they are."""
    scaling, kind = settings.feature_scaling, dataset.feature_kind
    if scaling == "none" or (scaling == "tables" and kind != "table"):
        return None
    return _KINDS.get(scaling, kind)


def stopping_nodes(dataset: Dataset, problem: Problem) -> Tensor:  # (N,)
    """Mark the validation nodes with labels that are not for the outer problem."""
    mask = dataset.chosen_split().validation & (dataset.labels >= 0)
    if problem.outer is not None:
        mask[problem.outer.to(mask.device)] = False
    return mask


def _outer_nodes(dataset: Dataset, settings: MethodSettings, seed: int) -> Tensor:  # (N,)
    mask = torch.zeros(dataset.num_nodes, dtype=torch.bool)
    if settings.outer_nodes == "none":
        return mask
    pool = getattr(dataset.chosen_split(), settings.outer_nodes) & (dataset.labels >= 0)
    nodes = pool.nonzero().squeeze(1).numpy()
    count = int(_OUTER_SHARES[settings.outer_nodes] * len(nodes))
    if count == 0 or count == len(nodes):
        raise InputError(
            f"`outer_nodes={settings.outer_nodes}` needs more labelled nodes there than "
            f"{len(nodes)}. Take the other part."
        )
    chosen = numpy_generator_for(seed, _STREAM).permutation(nodes)[:count]
    mask[torch.from_numpy(np.sort(chosen))] = True
    return mask
