"""A run from a data set's name to its folder, new or resumed."""

import re
from dataclasses import fields, replace
from pathlib import Path
from typing import get_args

from bpgnn.data.catalog import CATALOG, load, with_neighbours
from bpgnn.data.dataset import Dataset
from bpgnn.data.download import Progress
from bpgnn.data.files.own import OwnData
from bpgnn.data.perturb import add_edges, drop_edges, perturbation_note
from bpgnn.data.split import SplitKind, is_possible, with_fewer_labels
from bpgnn.data.split import split as choose_split
from bpgnn.errors import InputError, RunFolderError, nearest
from bpgnn.training.folder import PLAN, RESULT, RunFolder
from bpgnn.training.plan import Plan

# Nearest neighbours that stand in for a graph, as in the catalogue's tables.
_NEIGHBOURS = 10


def load_for(
    plan: Plan, dataset: str, split: str | None, *, progress: Progress | None = None
) -> Dataset:
    """Load a data set by name and perturb its graph as the plan says.

    The random split and the perturbation take the run's seed, so that two methods under the
    same seed see the same data. Where no split is named, it is the one of the method's settings
    if the data set has it.
    """
    data = load(dataset, split=_checked(split), seed=plan.seed, progress=progress)
    wanted = plan.settings_for(dataset).split
    if split is None and wanted != "auto" and is_possible(data, wanted):
        data = data.with_split(choose_split(data, wanted, seed=plan.seed))
    return _as_planned(plan, data)


def own_for(plan: Plan, own: OwnData, split: str | None) -> OwnData:
    """Split one's own data and perturb their graph as the plan says.

    Without a graph, each node is joined with its nearest. The labelled nodes are split at
    random by the run's seed unless another split is named.
    """
    data = own.dataset
    if data.name in CATALOG:
        # Settings that were chosen for the published data of that name are not meant for these.
        data = replace(data, name=f"own-{data.name}")
    if data.graph is None:
        data = with_neighbours(data, min(_NEIGHBOURS, data.num_nodes - 1))
    data = data.with_split(choose_split(data, _checked(split) or "random", seed=plan.seed))
    return replace(own, dataset=_as_planned(plan, data))


def _checked(split: str | None) -> SplitKind | None:
    kinds = get_args(SplitKind)
    if split is not None and split not in kinds:
        raise InputError(f"There is no split {split!r}.{nearest(split, kinds)}")
    return split  # pyright: ignore[reportReturnType]


def _as_planned(plan: Plan, data: Dataset) -> Dataset:
    if plan.labels_per_class is not None:
        count, parts = plan.labels_per_class, data.chosen_split()
        data = data.with_split(with_fewer_labels(parts, data.labels, count, seed=plan.seed))
    graph = data.graph
    if graph is None:
        if plan.add_edges or plan.drop_edges:
            raise InputError(f"{data.name} has no graph to add edges to or drop edges from.")
        return data
    changed = graph
    if plan.drop_edges:
        changed = drop_edges(changed, plan.drop_edges, seed=plan.seed)
    if plan.add_edges:
        changed = add_edges(changed, plan.add_edges, seed=plan.seed)
    if changed is graph:
        return data
    noisy = data.with_graph(changed, perturbation_note(graph, changed))
    return replace(noisy, true_graph=graph, num_neighbours=data.num_neighbours)


def new_folder(path: Path | None, plan: Plan, dataset: str) -> RunFolder:
    """Choose a run's folder: the one named, or the next free one under `runs`."""
    if path is not None:
        folder = RunFolder(path)
        folder.check_free()
        return folder
    word = re.sub(r"[^\w.-]+", "-", dataset).strip(".-") or "own"
    name = f"{word}-{plan.method}-{plan.preset}-seed{plan.seed}"
    number = 1
    while True:
        candidate = Path("runs") / (name if number == 1 else f"{name}-{number}")
        if not candidate.exists():
            return RunFolder(candidate)
        number += 1


def resumed_plan(folder: RunFolder) -> tuple[Plan, str, str, int]:
    """Read from an unfinished run's folder its plan, data set, split and number of threads."""
    found = stored_plan(folder)
    if folder.has(RESULT):
        raise RunFolderError(
            f"The run in {folder.path} is finished: see {RESULT} there. "
            "Train anew with another --out or --seed."
        )
    return found


def stored_plan(folder: RunFolder) -> tuple[Plan, str, str, int]:
    """Read from a run's folder its plan, data set, split and number of threads."""
    if not folder.path.is_dir():
        raise RunFolderError(f"There is no run folder {folder.path}. Check the path.")
    stored = folder.read_json(PLAN)
    try:
        plan = Plan(**{item.name: stored[item.name] for item in fields(Plan)})
        dataset, split, threads = (stored[name] for name in ("dataset", "split", "threads"))
        if not (isinstance(dataset, str) and isinstance(split, str)):
            raise TypeError
        if not isinstance(threads, int) or threads < 1:
            raise TypeError
    except (KeyError, TypeError, InputError):
        raise RunFolderError(
            f"{PLAN} in {folder.path} is damaged or not one of bpgnn's. "
            "Train again with another --out."
        ) from None
    return plan, dataset, split, threads
