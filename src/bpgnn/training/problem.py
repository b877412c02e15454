"""A data set made ready for a method."""

import math

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
        dtype: The precision of features, edge weights and class weights.

    Returns:
        What a method sees. No gradient goes back to the data.
    """
    features = dataset.features.detach()
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
    graph = None if dataset.graph is None else dataset.graph.detached().to(device, dtype)
    weight = None
    if settings.class_weight == "balanced":
        weight = balanced_weight(labels[labelled], dataset.num_classes)
        weight = weight.to(device=device, dtype=dtype)
    return Problem(
        features=ready,
        labels=shown,
        graph=graph,
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
    nodes = _labelled(dataset, settings.outer_nodes)
    count = int(_OUTER_SHARES[settings.outer_nodes] * len(nodes))
    if count == 0:
        raise InputError(_too_few(dataset, settings.outer_nodes))
    chosen = numpy_generator_for(seed, _STREAM).permutation(nodes)[:count]
    mask[torch.from_numpy(np.sort(chosen))] = True
    return mask


def _labelled(dataset: Dataset, part: str) -> np.ndarray:  # (M,)
    pool = getattr(dataset.chosen_split(), part) & (dataset.labels >= 0)
    return pool.nonzero().squeeze(1).numpy()


def _too_few(dataset: Dataset, part: str) -> str:
    """Say how many labels outer nodes are taken from, and where there are as many."""
    found = {name: len(_labelled(dataset, name)) for name in _OUTER_SHARES}
    needed = {name: math.ceil(1 / share) for name, share in _OUTER_SHARES.items()}
    wanted = f"`outer_nodes={part}` needs {needed[part]} labelled nodes there, but got"
    other = next(name for name in _OUTER_SHARES if name != part)
    if found[other] >= needed[other]:
        return f"{wanted} {found[part]}. Set `outer_nodes={other}`: there are {found[other]}."
    return (
        f"{wanted} {found[part]}. Label {needed['train']} training nodes or more; or set "
        f"`outer_nodes=validation` and keep {needed['validation']} or more for validation, by the "
        "split or an estimator's `validation_share`."
    )
