import numpy as np
import scipy.sparse
import torch
from hypothesis import given
from hypothesis import strategies as st

from bpgnn.matrix import csr_matrix, products_at, times


@given(st.integers(0, 2**31), st.integers(1, 8), st.integers(1, 8))
def test_it_is_the_matrix_that_scipy_reads_from_the_same_parts(seed, rows, columns):
    reference = scipy.sparse.random_array(
        (rows, columns), density=0.3, format="csr", rng=np.random.default_rng(seed)
    )
    matrix = csr_matrix(
        torch.from_numpy(reference.indptr),
        torch.from_numpy(reference.indices),
        torch.from_numpy(reference.data),
        (rows, columns),
    )
    np.testing.assert_array_equal(matrix.to_dense().numpy(), reference.toarray())


def test_indices_are_of_32_bits_where_they_fit():
    matrix = csr_matrix(torch.tensor([0, 1]), torch.tensor([0]), torch.ones(1), (1, 1))
    assert matrix.crow_indices().dtype == torch.int32
    assert matrix.col_indices().dtype == torch.int32


@given(st.integers(0, 2**31), st.integers(1, 8), st.integers(1, 80))
def test_products_are_those_of_dense_matrices(seed, rows, width):
    reference = scipy.sparse.random_array(
        (rows, 6), density=0.4, format="csr", rng=np.random.default_rng(seed)
    )
    pointer, column, value = (
        torch.from_numpy(part) for part in (reference.indptr, reference.indices, reference.data)
    )
    generator = torch.Generator().manual_seed(seed)
    left = torch.randn(rows, width, generator=generator).double()
    right = torch.randn(6, width, generator=generator).double()
    dense = torch.from_numpy(reference.toarray())
    found = times(csr_matrix(pointer, column, value, (rows, 6)), right)
    torch.testing.assert_close(found, dense @ right)
    row = torch.repeat_interleave(torch.arange(rows), pointer.diff())
    wanted = (left @ right.T)[row, column.long()]
    torch.testing.assert_close(products_at(pointer, column, left, right), wanted)
