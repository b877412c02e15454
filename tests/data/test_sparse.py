import subprocess
import sys

import numpy as np
import scipy.sparse
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from bpgnn.data.sparse import rows_from_scipy, rows_of, rows_to_scipy, shape_of
from bpgnn.matrix import csr_matrix

matrices = arrays(
    np.float32,
    st.tuples(st.integers(0, 5), st.integers(1, 5)),
    elements=st.sampled_from([0.0, 1, 2]),
)


@given(values=matrices)
def test_scipy_to_torch_and_back_is_the_same_matrix(values):
    tensor = rows_from_scipy(scipy.sparse.csr_array(values))
    assert tensor.dtype == torch.float32
    assert np.array_equal(tensor.to_dense().numpy(), values)
    back = rows_to_scipy(tensor)
    assert shape_of(back) == values.shape
    assert np.array_equal(back.toarray(), values)


@given(values=matrices)
def test_every_sparse_layout_has_the_same_rows(values):
    dense = torch.from_numpy(values)
    for sparse in (dense.to_sparse_coo(), dense.to_sparse_csr(), dense.to_sparse_csc()):
        rows = rows_of(sparse)
        assert rows.layout == torch.sparse_csr
        assert torch.equal(rows.to_dense(), dense)
    assert rows_of(dense) is dense


def test_columns_come_out_sorted_and_merged():
    pairs = (np.ones(4), (np.array([0, 0, 0, 1]), np.array([2, 0, 2, 1])))
    tensor = rows_from_scipy(scipy.sparse.coo_array(pairs, shape=(2, 3)))
    assert tensor.col_indices().tolist() == [0, 2, 1]
    assert tensor.values().tolist() == [1.0, 2.0, 1.0]


def test_the_first_sparse_tensor_of_a_process_warns_of_nothing():
    code = (
        "import torch; from bpgnn.matrix import csr_matrix;"
        "csr_matrix(torch.tensor([0, 1]), torch.tensor([0]), torch.ones(1), (1, 1))"
    )
    # Torch says it once a process, so only a fresh one can tell.
    finished = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, check=False
    )
    assert finished.returncode == 0, finished.stderr.decode()


def test_gradients_pass_through_the_values():
    values = torch.tensor([2.0, 3.0], requires_grad=True)
    matrix = csr_matrix(torch.tensor([0, 1, 2]), torch.tensor([1, 0]), values, (2, 2))
    (matrix @ torch.ones(2, 1)).sum().backward()
    assert values.grad.tolist() == [1.0, 1.0]
