"""Our own file format: a pickle-free `.npz` with sparse or dense features."""

import os
import tempfile
import zipfile
import zlib
from pathlib import Path
from typing import IO

import numpy as np
import scipy.sparse
import torch

from bpgnn.data.dataset import Dataset, FeatureKind, Split
from bpgnn.data.sparse import rows_from_scipy, rows_to_scipy
from bpgnn.errors import InputError
from bpgnn.graph import Graph

_SPARSE_KEYS = ("x_indptr", "x_indices", "x_data", "x_shape")
_PUBLIC_KEYS = ("train_idx", "val_idx", "test_idx")

Arrays = dict[str, np.ndarray]


def read_npz(
    path: str | os.PathLike[str],
    *,
    name: str | None = None,
    feature_kind: FeatureKind = "counts",
) -> Dataset:
    """Read a data set from an `.npz` file; no code in the file is ever run.

    Keys of the file: features as `x` (dense) or `x_indptr, x_indices, x_data, x_shape` (CSR);
    labels `y`; and as far as there are any, `edge_index` (sources and targets, shape (2, E)),
    `edge_weight`, the public split `train_idx, val_idx, test_idx`, `class_names`,
    `node_names` and `feature_kind`.

    Args:
        path: The file.
        name: What to call the data; the file's own name if left out.
        feature_kind: `counts` or `table`, where the file does not say.

    Returns:
        The data, without a chosen split.

    Raises:
        InputError: If the file is missing, damaged, or not of this form.
    """
    path = Path(path)
    arrays = read_arrays(path)
    try:
        return _dataset_from(arrays, name or path.stem, feature_kind)
    except InputError as error:
        raise InputError(f"The file {path} cannot be used: {error}") from error
    except (ValueError, TypeError, IndexError, OverflowError) as error:
        raise InputError(
            f"The file {path} is damaged: its arrays do not fit together ({error}). "
            "Fetch or write it again."
        ) from error


def read_arrays(source: Path | IO[bytes]) -> Arrays:
    """Read every array of an `.npz` file that holds plain values, without unpickling.

    Args:
        source: A file, or an open one.

    Returns:
        The arrays by key. Arrays of Python objects are left out, since only code could
        bring them back.

    Raises:
        InputError: If the file is missing, damaged or not an `.npz` file.
    """
    label = str(source) if isinstance(source, Path) else getattr(source, "name", "given")
    try:
        with zipfile.ZipFile(source) as archive:
            return {
                member.removesuffix(".npy"): array
                for member in archive.namelist()
                if (array := _read_member(archive, member)) is not None
            }
    except FileNotFoundError as error:
        raise InputError(f"There is no file {label}. Check the path.") from error
    except (
        OSError,
        ValueError,
        EOFError,
        RuntimeError,  # of zipfile: a password, a version or a compression that it does not know
        zipfile.BadZipFile,
        zlib.error,
        SyntaxError,
    ) as error:
        raise InputError(
            f"The file {label} is damaged or not an .npz file ({error}). Fetch or write it again."
        ) from error


def _read_member(archive: zipfile.ZipFile, member: str) -> np.ndarray | None:
    with archive.open(member) as stream:
        version = np.lib.format.read_magic(stream)
        read_header = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }.get(version)
        if read_header is None:
            raise ValueError(f"unknown array format {version}")
        if read_header(stream)[2].hasobject:
            return None
    with archive.open(member) as stream:
        return np.lib.format.read_array(stream, allow_pickle=False)


def write_npz(dataset: Dataset, path: str | os.PathLike[str]) -> None:
    """Write a data set to an `.npz` file, whole or not at all.

    The same data give the same bytes. The chosen split is not part of the file, the public
    one is.

    Args:
        dataset: The data.
        path: The file, replaced if it exists.

    Raises:
        InputError: If there is no room or no permission.
    """
    try:
        _write_arrays(_arrays_of(dataset), Path(path))
    except OSError as error:
        raise InputError(
            f"{path} could not be written ({error.strerror or error}). Free some space, or choose "
            "a folder that you may write to."
        ) from error


def _write_arrays(arrays: Arrays, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            np.savez_compressed(stream, allow_pickle=False, **arrays)
            stream.flush()
            os.fsync(stream.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _dataset_from(arrays: Arrays, name: str, feature_kind: FeatureKind) -> Dataset:
    missing = [key for key in _SPARSE_KEYS if key not in arrays]
    if ("x" not in arrays and missing) or "y" not in arrays:
        wanted = "`y`, and `x` or " + ", ".join(f"`{key}`" for key in _SPARSE_KEYS)
        found = ", ".join(sorted(arrays)) or "nothing"
        raise InputError(f"it must hold {wanted}, but it holds {found}.")
    if "x" in arrays:
        features = torch.from_numpy(arrays["x"].astype(np.float32))
    else:
        features = rows_from_scipy(_checked_csr(arrays))
    labels = torch.from_numpy(arrays["y"].astype(np.int64, casting="same_kind"))
    graph = None
    if "edge_index" in arrays:
        weight = arrays.get("edge_weight")
        graph = Graph.from_edge_index(
            torch.from_numpy(arrays["edge_index"]),
            features.size(0),
            None if weight is None else torch.from_numpy(weight.astype(np.float32)),
        ).without_self_loops()
    return Dataset(
        name=name,
        features=features,
        labels=labels,
        graph=graph,
        public_split=_public_split(arrays, features.size(0)),
        class_names=_words(arrays, "class_names"),
        node_names=_words(arrays, "node_names"),
        feature_kind=_stored_kind(arrays, feature_kind),
    )


def _checked_csr(arrays: Arrays) -> scipy.sparse.csr_array:
    num_rows, num_columns = (int(size) for size in arrays["x_shape"])
    matrix = scipy.sparse.csr_array(
        (arrays["x_data"], arrays["x_indices"], arrays["x_indptr"]), shape=(num_rows, num_columns)
    )
    matrix.check_format(full_check=True)
    return matrix


def _public_split(arrays: Arrays, num_nodes: int) -> Split | None:
    if any(key not in arrays for key in _PUBLIC_KEYS):
        return None
    masks = []
    for key in _PUBLIC_KEYS:
        mask = torch.zeros(num_nodes, dtype=torch.bool)
        mask[torch.from_numpy(arrays[key].astype(np.int64, casting="same_kind"))] = True
        masks.append(mask)
    return Split("public", *masks)


def _words(arrays: Arrays, key: str) -> tuple[str, ...]:
    return tuple(str(word) for word in arrays.get(key, ()))


def _stored_kind(arrays: Arrays, default: FeatureKind) -> FeatureKind:
    kind = str(arrays["feature_kind"]) if "feature_kind" in arrays else default
    if kind not in ("counts", "table"):
        raise InputError(f"`feature_kind` must be 'counts' or 'table', but it is {kind!r}.")
    return kind


def _arrays_of(dataset: Dataset) -> Arrays:
    arrays = _feature_arrays(dataset)
    if dataset.graph is not None:
        # By source and then target; a graph is sorted by target and then source.
        edges = dataset.graph.edge_index.cpu().numpy().astype(np.int32)
        order = np.lexsort((edges[1], edges[0]))
        arrays["edge_index"] = edges[:, order]
        if dataset.graph.edge_weight is not None:
            arrays["edge_weight"] = dataset.graph.edge_weight.cpu().numpy()[order]
    arrays["y"] = dataset.labels.cpu().numpy()
    if dataset.public_split is not None:
        public = dataset.public_split
        for key, mask in zip(
            _PUBLIC_KEYS, (public.train, public.validation, public.test), strict=True
        ):
            arrays[key] = mask.nonzero().squeeze(1).cpu().numpy()
    if dataset.class_names:
        arrays["class_names"] = np.array(dataset.class_names)
    if dataset.node_names:
        arrays["node_names"] = np.array(dataset.node_names)
    arrays["feature_kind"] = np.array(dataset.feature_kind)
    return arrays


def _feature_arrays(dataset: Dataset) -> Arrays:
    if dataset.features.layout != torch.sparse_csr:
        return {"x": dataset.features.detach().cpu().numpy()}
    matrix = rows_to_scipy(dataset.features)
    return {
        "x_indptr": matrix.indptr.astype(np.int32),
        "x_indices": matrix.indices.astype(np.int32),
        "x_data": matrix.data,
        "x_shape": np.array(matrix.shape, dtype=np.int64),
    }
