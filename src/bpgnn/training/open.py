"""A finished run, opened again with its model."""

import os

from torch import Tensor

from bpgnn.data.catalog import CATALOG
from bpgnn.data.dataset import Dataset
from bpgnn.data.download import Progress
from bpgnn.data.files.own import OwnData
from bpgnn.data.files.save import load_own
from bpgnn.errors import InputError, RunFolderError
from bpgnn.methods.registry import METHODS
from bpgnn.randomness import seeded_globally
from bpgnn.training.checkpoint import from_bytes
from bpgnn.training.fit import Fit, final_output
from bpgnn.training.folder import DATA, RESULT, WEIGHTS, RunFolder
from bpgnn.training.plan import Plan
from bpgnn.training.problem import make_problem
from bpgnn.training.record import RunRecord, fingerprint
from bpgnn.training.run import load_for, stored_plan


def open_run(path: str | os.PathLike[str], *, device: str = "cpu") -> Fit:
    """Read a finished run from its folder: the same predictions as at its end.

    Args:
        path: A folder that `bpgnn train` has written.
        device: Where to compute.

    Returns:
        What the training gave.

    Raises:
        RunFolderError: If the folder is not that of a finished run, or its data or weights are
            not those that it was trained with.
    """
    return open_with_data(path, device=device)[0]


def open_with_data(path: str | os.PathLike[str], *, device: str = "cpu") -> tuple[Fit, OwnData]:
    """Do as :func:`open_run`, and give the data with what is needed to read more of the same."""
    folder = RunFolder(path)
    plan, name, split, _ = stored_plan(folder)
    if not folder.has(RESULT):
        raise RunFolderError(
            f"The run in {folder.path} is not finished. Go on with it first: "
            f"bpgnn train --resume {folder.path}"
        )
    own = kept_data(folder, plan, name, split)
    # Settings are those of its record: presets may have changed since.
    folder.check_data(fingerprint(own.dataset))
    weights = from_bytes(folder.read(WEIGHTS), str(folder.path / WEIGHTS)).weights
    try:
        record = RunRecord.from_json(folder.read_json(RESULT))
        return restored(own.dataset, weights, record, device=device), own
    except (InputError, RuntimeError, TypeError) as error:
        raise RunFolderError(
            f"{WEIGHTS} or {RESULT} in {folder.path} belongs to another run "
            f"({str(error).splitlines()[0]}). Train again with another --out."
        ) from None


def kept_data(
    folder: RunFolder, plan: Plan, name: str, split: str, *, progress: Progress | None = None
) -> OwnData:
    """Read the data of a run: those that its folder keeps, or else by their name."""
    if folder.has(DATA):
        try:
            return load_own(folder.read(DATA))
        except InputError as error:
            raise RunFolderError(
                f"{DATA} in {folder.path}, the data of the run, cannot be read: {error} "
                "Put the file back, or train again with another --out."
            ) from None
    if name not in CATALOG:
        raise RunFolderError(
            f"{folder.path} has no {DATA}, which keeps the data of a run on one's own files. "
            "Put the file back, or train again with another --out."
        )
    return OwnData(load_for(plan, name, split, progress=progress))


def restored(
    dataset: Dataset, weights: dict[str, Tensor], record: RunRecord, *, device: str = "cpu"
) -> Fit:
    """Make a trained method again from its data, weights and record.

    Args:
        dataset: What it was trained on.
        weights: Its parameters and buffers by name; others than its own are a RuntimeError.
        record: What was run.
        device: Where to compute.

    Returns:
        What the training gave; predictions are those of its end.
    """
    kind = METHODS[record.method]
    settings = kind.settings_type().changed(record.settings)
    problem = make_problem(dataset, settings, seed=record.seed, device=device)
    with seeded_globally(record.seed, 0):
        method = kind.build(settings, problem).to(device)
    method.load_state_dict(weights)
    output, latent = final_output(method, problem, record.seed)
    probabilities = output.probabilities().cpu()
    return Fit(dataset, method, problem, output, probabilities, latent, record)
