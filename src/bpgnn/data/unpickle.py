"""Old pickles read as data: no object in them is ever built, and no code in them runs.

A pickle is a program that may call whatever it can name. The few names that the Planetoid
files use are answered with the small stand-ins of this file, which only keep what they are
given and interpret it; every other name is refused.
"""

import io
import math
import pickle
import re
from typing import NoReturn, final

import numpy as np
import scipy.sparse

from bpgnn.errors import InputError


def read_pickle(content: bytes, label: str) -> object:
    """Read a pickled array, sparse matrix or dictionary of lists.

    Args:
        content: The pickle, of Python 2 or 3.
        label: What to call it in an error.

    Returns:
        A numpy array of numbers, a `scipy.sparse.csr_array`, or plain Python values.

    Raises:
        InputError: If the pickle is damaged, or names anything but arrays, CSR matrices,
            dictionaries, lists and whole numbers.

    Example:
        >>> read_pickle(pickle.dumps({1: [2, 3]}), "example")
        {1: [2, 3]}
    """
    try:
        value = _DataUnpickler(io.BytesIO(content), encoding="latin1").load()
        return value.interpreted() if isinstance(value, _Array | _Rows) else value
    except _RefusedError as error:
        raise InputError(
            f"{label} was refused, and nothing in it was run: it asks for `{error}`, which plain "
            "data never need. Fetch the file again from its official address."
        ) from error
    except (
        *(pickle.UnpicklingError, ArithmeticError, AttributeError, EOFError, ImportError),
        *(LookupError, MemoryError, RecursionError, TypeError, ValueError),
    ) as error:
        raise InputError(
            f"{label} is damaged or holds no plain arrays ({error}). Fetch the file again."
        ) from error


class _RefusedError(Exception):
    """Name what a pickle asked for and may not have."""


class _Sealed(type):
    """Keep a pickle from writing to a stand-in itself, which would outlive the reading."""

    def __setattr__(cls, name: str, value: object) -> NoReturn:
        raise _RefusedError(f"{cls.__name__}.{name}")


class _NumberType(metaclass=_Sealed):
    """Stand in for a numpy type of numbers."""

    __slots__ = ("code", "order")

    def __init__(self, code: str, *_: object) -> None:
        if not isinstance(code, str) or not re.fullmatch(r"[<>|=]?[biuf][1248]", code):
            raise _RefusedError(f"numpy.dtype({str(code)[:40]!r})")
        self.code = code.lstrip("<>|=")
        self.order = "="

    def __setstate__(self, state: tuple[object, ...]) -> None:
        order = state[1]
        if order not in ("<", ">", "|", "=") or any(part is not None for part in state[2:5]):
            raise _RefusedError("numpy.dtype with fields")
        self.order = str(order)

    def interpreted(self) -> np.dtype:
        return np.dtype(self.order + self.code)


class _Array(metaclass=_Sealed):
    """Stand in for a numpy array, for the type of one, and for the function that makes one."""

    __slots__ = ("state",)

    def __init__(self, *_: object) -> None:
        self.state: tuple[object, ...] = ()

    def __setstate__(self, state: tuple[object, ...]) -> None:
        self.state = state

    def interpreted(self) -> np.ndarray:
        _, shape, kind, by_columns, raw = self.state
        if not isinstance(kind, _NumberType) or not isinstance(shape, tuple):
            raise ValueError("an array lacks its type or shape")
        content = raw.encode("latin1") if isinstance(raw, str) else raw
        if not isinstance(content, bytes):
            raise _RefusedError("an array of Python objects")
        sizes = [int(size) for size in shape]
        dtype = kind.interpreted()
        if min(sizes, default=0) < 0 or math.prod(sizes) * dtype.itemsize != len(content):
            raise ValueError(f"an array of shape {tuple(sizes)} has {len(content)} bytes")
        flat = np.frombuffer(content, dtype=dtype).astype(dtype.newbyteorder("="))
        return flat.reshape(sizes, order="F" if by_columns else "C")


class _Rows(metaclass=_Sealed):
    """Stand in for a scipy CSR matrix."""

    __slots__ = ("state",)

    def __init__(self) -> None:
        self.state: dict[str, object] = {}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.state = state

    def interpreted(self) -> scipy.sparse.csr_array:
        parts = [self.state.get(key) for key in ("data", "indices", "indptr")]
        shape = self.state.get("_shape", self.state.get("shape"))
        if not isinstance(shape, tuple) or len(shape) != 2:
            raise ValueError("a sparse matrix lacks its shape")
        arrays = [part.interpreted() for part in parts if isinstance(part, _Array)]
        if len(arrays) != len(parts):
            raise ValueError("a sparse matrix lacks its arrays")
        matrix = scipy.sparse.csr_array(tuple(arrays), shape=(int(shape[0]), int(shape[1])))
        matrix.check_format(full_check=True)
        return matrix


class _Dictionary(dict[object, object], metaclass=_Sealed):
    """Stand in for Python's special dictionaries; what they would add is not needed."""

    __slots__ = ()

    def __init__(self, *_: object) -> None:
        super().__init__()


_STAND_INS: dict[tuple[str, str], type] = {
    ("numpy.core.multiarray", "_reconstruct"): _Array,
    ("numpy._core.multiarray", "_reconstruct"): _Array,
    ("numpy", "ndarray"): _Array,
    ("numpy", "dtype"): _NumberType,
    ("scipy.sparse.csr", "csr_matrix"): _Rows,
    ("scipy.sparse._csr", "csr_matrix"): _Rows,
    ("collections", "defaultdict"): _Dictionary,
    ("collections", "OrderedDict"): _Dictionary,
    ("__builtin__", "list"): list,
    ("builtins", "list"): list,
    ("__builtin__", "int"): int,
    ("builtins", "int"): int,
}


@final
class _DataUnpickler(pickle.Unpickler):
    """Answer the names of `_STAND_INS`, and refuse all others before anything is looked up."""

    def find_class(self, module: str, name: str) -> type:
        try:
            return _STAND_INS[module, name]
        except KeyError:
            raise _RefusedError(f"{module}.{name}") from None

    def persistent_load(self, pid: object) -> NoReturn:
        raise _RefusedError(f"persistent object {str(pid)[:40]}")
