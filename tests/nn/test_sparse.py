import torch
from hypothesis import given
from hypothesis import strategies as st

from bpgnn.nn.sparse import SparseMatrix, matmul


@st.composite
def sparse_matrices(draw):
    """Draw a small dense matrix of which most entries, whole rows and columns are zero."""
    rows, columns = draw(st.integers(1, 6)), draw(st.integers(1, 6))
    entries = st.sampled_from([0.0, 0.0, 0.0, 1.0, -2.5])
    values = draw(st.lists(entries, min_size=rows * columns, max_size=rows * columns))
    return torch.tensor(values, dtype=torch.double).view(rows, columns)


@given(sparse_matrices(), st.integers(1, 4))
def test_product_and_gradient_are_those_of_the_dense_matrix(dense, width):
    sparse = SparseMatrix.from_csr(dense.to_sparse_csr())
    weight = torch.linspace(-1, 1, dense.size(1) * width, dtype=torch.double)
    one = weight.view(-1, width).clone().requires_grad_()
    other = one.detach().clone().requires_grad_()
    found, expected = matmul(sparse, one), matmul(dense, other)
    torch.testing.assert_close(found, expected)
    upstream = torch.arange(found.numel(), dtype=torch.double).view_as(found)
    found.backward(upstream)
    expected.backward(upstream)
    torch.testing.assert_close(one.grad, other.grad)


def test_the_gradient_passes_gradcheck():
    dense = torch.tensor([[0.0, 2.0, 0.0], [1.0, 0.0, -3.0]], dtype=torch.double)
    sparse = SparseMatrix.from_csr(dense.to_sparse_csr())
    weight = torch.ones(3, 2, dtype=torch.double, requires_grad=True)
    assert torch.autograd.gradcheck(lambda w: matmul(sparse, w), (weight,))


def test_the_gradient_has_a_gradient_itself():
    dense = torch.tensor([[0.0, 2.0, 0.0], [1.0, 0.0, -3.0]], dtype=torch.double)
    sparse = SparseMatrix.from_csr(dense.to_sparse_csr())
    weight = torch.linspace(-1, 1, 6, dtype=torch.double).view(3, 2).requires_grad_()
    assert torch.autograd.gradgradcheck(lambda w: matmul(sparse, w).pow(3), (weight,))


def test_a_gradient_that_is_not_contiguous_is_taken_too():
    sparse = SparseMatrix.from_csr(torch.eye(2).to_sparse_csr())
    weight = torch.ones(2, 2, requires_grad=True)
    matmul(sparse, weight).T.matmul(torch.tensor([[1.0], [2.0]])).sum().backward()
    assert weight.grad.tolist() == [[1.0, 1.0], [2.0, 2.0]]


def test_other_values_keep_the_pattern_and_its_gradient():
    dense = torch.tensor([[0.0, 2.0], [1.0, 4.0]])
    sparse = SparseMatrix.from_csr(dense.to_sparse_csr())
    doubled = sparse.with_value(2 * sparse.value)
    weight = torch.eye(2, requires_grad=True)
    found = matmul(doubled, weight)
    assert torch.equal(found, 2 * dense)
    found.sum().backward()
    assert torch.equal(weight.grad, 2 * dense.T @ torch.ones(2, 2))


def test_size_and_precision_are_those_asked_for():
    sparse = SparseMatrix.from_csr(torch.ones(2, 3).to_sparse_csr())
    assert (sparse.size(0), sparse.size(1)) == (2, 3)
    exact = sparse.to(device="cpu", dtype=torch.double)
    assert matmul(exact, torch.ones(3, 1, dtype=torch.double)).tolist() == [[3.0], [3.0]]
