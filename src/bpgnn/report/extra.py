"""Packages that only reports need."""

from importlib import util

from bpgnn.errors import InputError


def require(what: str, *names: str) -> None:
    """Refuse to make something without the packages it needs, and say how to get them.

    Example:
        >>> require("The sum", "math")
    """
    missing = [name for name in names if util.find_spec(name) is None]
    if missing:
        raise InputError(
            f"{what} needs {' and '.join(missing)}. Get it with: pip install 'bpgnn[report]'"
        )
