"""A finished run, opened again with its model."""

import os
from dataclasses import asdict

from bpgnn.errors import RunFolderError
from bpgnn.methods.registry import METHODS
from bpgnn.randomness import seeded_globally
from bpgnn.training.checkpoint import from_bytes
from bpgnn.training.fit import Fit, final_output
from bpgnn.training.folder import RESULT, WEIGHTS, RunFolder
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
        RunFolderError: If the folder is not that of a finished run, or its data, settings or
            weights are not those that it was trained with.
    """
    folder = RunFolder(path)
    plan, name, split, _ = stored_plan(folder)
    if not folder.has(RESULT):
        raise RunFolderError(
            f"The run in {folder.path} is not finished. Go on with it first: "
            f"bpgnn train --resume {folder.path}"
        )
    dataset = load_for(plan, name, split)
    settings = plan.settings_for(name)
    folder.check_unchanged(fingerprint(dataset), asdict(settings))
    problem = make_problem(dataset, settings, seed=plan.seed, device=device)
    with seeded_globally(plan.seed, 0):
        method = METHODS[plan.method].build(settings, problem).to(device)
    weights = from_bytes(folder.read(WEIGHTS), str(folder.path / WEIGHTS)).weights
    try:
        method.load_state_dict(weights)
        record = RunRecord.from_json(folder.read_json(RESULT))
    except (RuntimeError, TypeError) as error:
        raise RunFolderError(
            f"{WEIGHTS} or {RESULT} in {folder.path} belongs to another run "
            f"({str(error).splitlines()[0]}). Train again with another --out."
        ) from None
    output, latent = final_output(method, problem, plan.seed)
    probabilities = output.probabilities().cpu()
    return Fit(dataset, method, problem, output, probabilities, latent, record)
