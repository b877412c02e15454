"""The settings that a search has found, from the one file that has them."""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


def tuned_for(method: str, dataset: str) -> dict[str, Any]:
    """Return what the preset `tuned` changes of a method for one data set.

    Args:
        method: A name among the methods.
        dataset: The data set's name; for one's own there is nothing.

    Example:
        >>> tuned_for("bpgnn", "photo")["k"], tuned_for("bpgnn", "my own")
        (16, {})
    """
    return dict(_all().get(method, {}).get(dataset, {}))


@cache
def _all() -> dict[str, dict[str, dict[str, Any]]]:
    return tomllib.loads(files("bpgnn.methods").joinpath("tuned.toml").read_text("utf-8"))
