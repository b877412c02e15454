import builtins
import collections
import io
import os
import pickle
import subprocess
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from bpgnn.data import unpickle
from bpgnn.data.unpickle import read_pickle
from bpgnn.errors import InputError


class Calls:
    """An object whose pickle calls a function when it is loaded."""

    def __init__(self, function, *arguments):
        self.reduced = (function, arguments)

    def __reduce__(self):
        return self.reduced


@given(
    values=arrays(
        st.sampled_from([np.int32, np.int64, np.float32, np.float64, np.uint8]),
        st.tuples(st.integers(0, 4), st.integers(0, 4)),
        elements=st.integers(0, 100),
    ),
    by_columns=st.booleans(),
    big_endian=st.booleans(),
)
def test_arrays_come_back_as_they_were(values, by_columns, big_endian):
    stored = np.asfortranarray(values) if by_columns else values
    if big_endian:
        stored = stored.astype(stored.dtype.newbyteorder(">"))
    back = read_pickle(pickle.dumps(stored, protocol=3), "array")
    assert back.dtype == values.dtype
    assert np.array_equal(back, values)


def test_sparse_matrices_come_back_as_they_were():
    matrix = scipy.sparse.csr_matrix(np.array([[0.0, 2.0], [3.0, 0.0], [0.0, 0.0]]))
    back = read_pickle(pickle.dumps(matrix, protocol=3), "matrix")
    assert isinstance(back, scipy.sparse.csr_array)
    assert np.array_equal(back.toarray(), matrix.toarray())


def test_dictionaries_of_lists_come_back_as_they_were():
    neighbours = collections.defaultdict(list, {0: [1, 2], 1: [0]})
    assert read_pickle(pickle.dumps(neighbours, protocol=2), "graph") == {0: [1, 2], 1: [0]}
    ordered = collections.OrderedDict([(0, [1])])
    assert read_pickle(pickle.dumps(ordered, protocol=2), "graph") == {0: [1]}


def test_pickles_of_python_two_are_read():
    """As `pickle.dumps(numpy.array([1, 2]), 2)` gives it in Python 2: raw bytes in a string."""
    content = (
        b"\x80\x02cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R"
        b"(K\x01K\x02\x85cnumpy\ndtype\nU\x02i2K\x00K\x01\x87R(K\x03U\x01<NNNJ\xff\xff\xff\xff"
        b"J\xff\xff\xff\xffK\x00tb\x89U\x04\x01\x00\x02\x00tb."
    )
    assert read_pickle(content, "array").tolist() == [1, 2]


HOSTILE = {
    "os.system": Calls(os.system, "touch exploded"),
    "os.mkdir": Calls(os.mkdir, "exploded"),
    "eval": Calls(eval, "__import__('os').mkdir('exploded')"),
    "exec": Calls(exec, "open('exploded', 'w')"),
    "subprocess": Calls(subprocess.call, ["touch", "exploded"]),
    "open": Calls(open, "exploded", "w"),
    "getattr": Calls(getattr, 1, "real"),
    "import": Calls(builtins.__import__, "os"),
    "numpy.load": Calls(np.load, "file.npy"),
    "numpy.fromfile": Calls(np.fromfile, "file.npy"),
    "numpy.memmap": Calls(np.memmap, "exploded", "uint8", "w+", 0, (4,)),
    "namedtuple": Calls(collections.namedtuple, "name", "field"),
    "Counter": Calls(collections.Counter, "abc"),
    "scipy.io": Calls(scipy.sparse.load_npz, "file.npz"),
    "bytearray": Calls(bytearray, 10),
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("protocol", [0, 2, 4])
def test_a_hostile_pickle_is_refused_without_effect(tmp_path, monkeypatch, name, protocol):
    monkeypatch.chdir(tmp_path)
    content = pickle.dumps({"data": [HOSTILE[name]]}, protocol)
    with pytest.raises(InputError, match="was refused, and nothing in it was run: it asks for"):
        read_pickle(content, "ind.cora.x")
    assert list(tmp_path.iterdir()) == []


def test_the_hostile_pickles_would_do_harm_if_loaded(tmp_path: Path, monkeypatch):
    """Otherwise the test above would prove nothing."""
    monkeypatch.chdir(tmp_path)
    pickle.loads(pickle.dumps({"data": [HOSTILE["eval"]]}))
    assert (tmp_path / "exploded").exists()


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("numpy", "core.multiarray._reconstruct.__globals__"),
        ("collections", "_sys.modules"),
        ("collections", "abc"),
        ("builtins", "list.__subclasses__"),
        ("numpy.core.multiarray", "scalar"),
        ("numpy", "ndarray.tofile"),
        ("copyreg", "_reconstructor"),
        ("bpgnn.data.unpickle", "pickle.loads"),
    ],
)
def test_names_with_dots_reach_nothing(module, name):
    """Protocol 4 lets a pickle walk along attributes, from an allowed module to any other."""
    words = b"".join(b"\x8c" + bytes([len(word)]) + word.encode() for word in (module, name))
    with pytest.raises(InputError, match="was refused"):
        read_pickle(b"\x80\x04" + words + b"\x93.", "file")


def test_an_array_of_objects_is_refused():
    content = pickle.dumps(np.array([{}, []], dtype=object), protocol=3)
    with pytest.raises(InputError, match=r"refused.*numpy.dtype\('O8'\)"):
        read_pickle(content, "file")


def test_a_type_with_fields_is_refused():
    content = pickle.dumps(np.zeros(2, dtype=[("a", "i4")]), protocol=3)
    with pytest.raises(InputError, match="refused"):
        read_pickle(content, "file")


RECONSTRUCT = (np._core.multiarray._reconstruct, (np.ndarray, (0,), b"b"))


@pytest.mark.parametrize(
    "reduced",
    [
        (*RECONSTRUCT, (1, (1,), np.dtype("i4"), False, [{}])),
        (*RECONSTRUCT, (1, (1,), None, False, b"1234")),
        (*RECONSTRUCT, (1, (-1,), np.dtype("i4"), False, b"")),
        (*RECONSTRUCT, (1, 1)),
        RECONSTRUCT,
        (np.dtype, ("i4", False, True), (3, "<", None, ("a",), {"a": 1}, -1, -1, 0)),
        (scipy.sparse.csr_matrix, (), {"_shape": 5}),
        (scipy.sparse.csr_matrix, (), {"_shape": (2, 2), "data": [1]}),
        (scipy.sparse.csr_matrix, (), [1]),
        (scipy.sparse.csr_matrix, ()),
    ],
)
def test_arrays_and_matrices_with_parts_missing_are_refused(reduced):
    class Lying:
        def __reduce__(self):
            return reduced

    with pytest.raises(InputError, match="damaged|refused"):
        read_pickle(pickle.dumps(Lying(), protocol=3), "file")


def test_a_persistent_object_is_refused():
    with pytest.raises(InputError, match="persistent object"):
        read_pickle(b"\x80\x02X\x03\x00\x00\x00abcQ.", "file")


@pytest.mark.parametrize(
    "name",
    ["numpy\nndarray", "numpy\ndtype", "scipy.sparse.csr\ncsr_matrix", "collections\ndefaultdict"],
)
def test_a_pickle_cannot_write_to_a_stand_in(name):
    """State of the form (None, {...}) is set attribute by attribute, on classes too."""
    content = b"\x80\x02c" + name.encode() + b"\nN}X\x0b\x00\x00\x00interpretedK\x01s\x86b."
    stand_ins = set(unpickle._STAND_INS.values())
    before = [dict(vars(stand_in)) for stand_in in stand_ins]
    with pytest.raises(InputError):
        read_pickle(content, "file")
    assert [dict(vars(stand_in)) for stand_in in stand_ins] == before


def test_an_array_that_lies_about_its_shape_is_refused():
    content = pickle.dumps(np.arange(1000, dtype=np.int32), protocol=3)
    # 1000 is stored in two bytes; the shape comes before the content.
    place = content.index(b"M\xe8\x03")
    lying = content[:place] + b"M\xff\xff" + content[place + 3 :]
    with pytest.raises(InputError, match=r"shape \(65535,\) has 4000 bytes"):
        read_pickle(lying, "file")


def test_a_matrix_with_columns_out_of_range_is_refused():
    matrix = scipy.sparse.csr_matrix(np.eye(3))
    matrix.indices[0] = 77
    with pytest.raises(InputError, match="damaged"):
        read_pickle(pickle.dumps(matrix, protocol=3), "file")


@given(content=st.binary(max_size=200))
def test_noise_is_refused_or_is_plain_data(content):
    try:
        value = read_pickle(content, "noise")
    except InputError:
        return
    assert type(value).__module__ in ("builtins", "bpgnn.data.unpickle", "numpy")


def test_a_cut_pickle_is_refused():
    content = pickle.dumps(np.arange(100), protocol=3)
    for end in range(len(content)):
        with pytest.raises(InputError, match="damaged"):
            read_pickle(content[:end], "file")


def test_reading_uses_no_other_unpickler(monkeypatch):
    """The plain ones must never see a file of somebody else's."""

    def refuse(*_args, **_kwargs):
        raise AssertionError

    monkeypatch.setattr(pickle, "loads", refuse)
    monkeypatch.setattr(pickle, "load", refuse)
    buffer = io.BytesIO()
    pickle.Pickler(buffer, protocol=2).dump([1])
    assert read_pickle(buffer.getvalue(), "file") == [1]
