"""Amazon Photo's published file."""

from pathlib import Path

import numpy as np
import scipy.sparse
import torch

from bpgnn.data.dataset import Dataset
from bpgnn.data.npz import Arrays, read_arrays
from bpgnn.data.sparse import rows_from_scipy, shape_of
from bpgnn.errors import InputError
from bpgnn.graph import Graph, with_both_directions

_PARTS = ("data", "indices", "indptr", "shape")


def read_photo(path: Path) -> Dataset:
    """Read the file in which Amazon Photo was published.

    The result is that of PyG's reader: features above zero become one, edges go both ways,
    without self-loops. Arrays of Python objects in the file, names of nodes and words, are
    never read.

    From `Pitfalls of Graph Neural Network Evaluation <https://arxiv.org/abs/1811.05868>`_.

    Args:
        path: The file `amazon_electronics_photo.npz`.

    Returns:
        The data, without a split.

    Raises:
        InputError: If the file is damaged or another one.
    """
    arrays = read_arrays(path)
    wanted = [f"{matrix}_{part}" for matrix in ("adj", "attr") for part in _PARTS] + ["labels"]
    if missing := [key for key in wanted if key not in arrays]:
        raise InputError(
            f"{path} is not the published file of Amazon Photo: it lacks {', '.join(missing)}. "
            "Fetch it again."
        )
    try:
        features, adjacency = _matrix(arrays, "attr"), _matrix(arrays, "adj")
    except ValueError as error:
        raise InputError(f"{path} is damaged ({error}). Fetch it again.") from error
    features.data = np.where(features.data > 0, 1, features.data)
    features.eliminate_zeros()
    pairs = scipy.sparse.coo_array(adjacency)
    edge_index = torch.from_numpy(np.stack([pairs.row, pairs.col]).astype(np.int64))
    graph = Graph.from_edge_index(edge_index, shape_of(adjacency)[0]).without_self_loops()
    return Dataset(
        name="photo",
        features=rows_from_scipy(features),
        labels=torch.from_numpy(arrays["labels"].astype(np.int64)),
        graph=with_both_directions(graph),
        feature_kind="counts",
    )


def _matrix(arrays: Arrays, name: str) -> scipy.sparse.csr_array:
    data, indices, indptr, shape = (arrays[f"{name}_{part}"] for part in _PARTS)
    size = (int(shape[0]), int(shape[1]))
    matrix = scipy.sparse.csr_array((data, indices, indptr), shape=size)
    matrix.check_format(full_check=True)
    return matrix
