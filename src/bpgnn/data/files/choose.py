"""One word for data: a name of the catalogue, or a path to somebody's own."""

from collections.abc import Collection
from pathlib import Path

from bpgnn.data.catalog import CATALOG, load
from bpgnn.data.download import Progress
from bpgnn.data.files.folder import read_own
from bpgnn.data.files.own import OwnData
from bpgnn.errors import InputError, nearest


def is_own(word: str) -> bool:
    """Tell whether a word means a path; a name of the catalogue never does, `./cora` does.

    Example:
        >>> is_own("cora"), is_own("./cora")
        (False, True)
    """
    return word not in CATALOG


def read_named(
    word: str,
    *,
    id_column: str | None = None,
    label_column: str | None = None,
    drop: Collection[str] = (),
    directed: bool = False,
    progress: Progress | None = None,
) -> OwnData:
    """Load a data set of the catalogue, or read one's own.

    Args:
        word: A name of the catalogue, or a path that :func:`read_own` reads.
        id_column: See :func:`read_own`.
        label_column: See :func:`read_own`.
        drop: See :func:`read_own`.
        directed: See :func:`read_own`.
        progress: Called with bytes done and bytes in all while something is fetched.

    Returns:
        The data.

    Raises:
        InputError: If there is neither, or one's own cannot be used.

    Example:
        >>> read_named("wine").dataset.num_nodes
        178
    """
    if is_own(word):
        if not word or not Path(word).exists():
            raise InputError(
                f"There is neither a file or folder {word!r} nor a data set of that name."
                f"{nearest(word, CATALOG)}"
            )
        return read_own(
            word, id_column=id_column, label_column=label_column, drop=drop, directed=directed
        )
    if id_column or label_column or drop:
        raise InputError(f"{word} is of the catalogue, and has no columns to name or drop.")
    return OwnData(load(word, progress=progress))
