"""Which nodes are most alike, and how alike, without all pairs of nodes in memory."""

from typing import cast

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import FunctionCtx

from bpgnn.infer.compiled import inlined, lean
from bpgnn.nn.factor import DENSE_SPEED
from bpgnn.nn.pattern import Pattern, product_at
from bpgnn.nn.sparse import Features, SparseMatrix

# Scores at a time in the search over dense vectors.
BLOCK_ENTRIES = 1 << 24


@torch.no_grad()
def most_similar(vectors: Features, count: int) -> Tensor:  # (N, F) -> (N, K)
    """Find for each node those whose vectors have the largest inner products with its own.

    Products of zero or less all count alike: whom they are filled up with is not defined.

    Args:
        vectors: Dense or sparse vectors, shape (N, F).
        count: Number of nodes to find, the node itself among them, K.

    Returns:
        Numbers of nodes, ascending in each row, shape (N, K).

    Example:
        >>> most_similar(torch.tensor([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]]), 2)
        tensor([[0, 1],
                [0, 1],
                [1, 2]])
    """
    if isinstance(vectors, SparseMatrix):
        num_nodes, width = vectors.shape
        work = float((vectors.column_pointer.diff().double() ** 2).sum())
        if DENSE_SPEED * work < num_nodes**2 * width:
            return _search_sparse(vectors, count)
        vectors = vectors.by_rows.to_dense()
    rows = max(1, BLOCK_ENTRIES // vectors.size(0))
    found = [(block @ vectors.t()).topk(count).indices for block in vectors.split(rows)]
    return torch.cat(found).sort().values


def similarities(vectors: Features, neighbours: Tensor) -> Tensor:  # (N, F), (N, K) -> (N, K)
    """Compute inner products with some nodes each; differentiable in the vectors.

    Example:
        >>> similarities(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([[1], [1]]))
        tensor([[11.],
                [25.]])
    """
    if isinstance(vectors, SparseMatrix):
        return _PairProducts.apply(vectors.value, vectors, neighbours)  # pyright: ignore[reportReturnType]
    num_nodes, count = neighbours.shape
    pointer = torch.arange(num_nodes + 1, device=neighbours.device) * count
    pattern = Pattern(pointer, neighbours.flatten(), (num_nodes, num_nodes))
    return product_at(pattern, vectors, vectors).view(num_nodes, count)


class _PairProducts(torch.autograd.Function):
    """Multiply rows of a sparse matrix by each other, over the columns they share."""

    @staticmethod
    def forward(
        ctx: FunctionCtx, value: Tensor, matrix: SparseMatrix, neighbours: Tensor
    ) -> Tensor:
        ctx.matrix, ctx.neighbours = matrix, neighbours  # pyright: ignore[reportAttributeAccessIssue]
        ctx.save_for_backward(value)
        found = np.empty(neighbours.shape, dtype=_numpy(value).dtype)
        _multiply_pairs(*_by_rows(matrix), _numpy(value), _numpy(neighbours), found)
        return torch.from_numpy(found).to(value)

    @staticmethod
    def backward(ctx: FunctionCtx, gradient: Tensor) -> tuple[Tensor, None, None]:  # pyright: ignore[reportIncompatibleMethodOverride]
        matrix: SparseMatrix = ctx.matrix  # pyright: ignore[reportAttributeAccessIssue]
        neighbours: Tensor = ctx.neighbours  # pyright: ignore[reportAttributeAccessIssue]
        (value,) = ctx.saved_tensors  # pyright: ignore[reportAttributeAccessIssue]
        found = np.zeros(value.shape, dtype=_numpy(value).dtype)
        _add_pair_gradients(
            *(*_by_rows(matrix), _numpy(value), _numpy(neighbours), _numpy(gradient), found)
        )
        return torch.from_numpy(found).to(value), None, None


def _numpy(tensor: Tensor) -> np.ndarray:
    return tensor.detach().contiguous().cpu().numpy()


def _by_rows(matrix: SparseMatrix) -> tuple[np.ndarray, ...]:
    """Return pointer, column, and room to mark where in a row each column stands."""
    place = np.full(matrix.shape[1], -1, dtype=np.int64)
    return _numpy(matrix.pointer), _numpy(matrix.column), place


def _search_sparse(vectors: SparseMatrix, count: int) -> Tensor:  # (N, K)
    num_nodes = vectors.shape[0]
    value = _numpy(vectors.value)
    found = np.empty((num_nodes, count), dtype=np.int64)
    column_pointer = _numpy(vectors.column_pointer)
    _find_most_similar(
        *(_numpy(vectors.pointer), _numpy(vectors.column), value),
        *(column_pointer, _numpy(vectors.row), value[_numpy(vectors.order)]),
        *(column_pointer.copy(), np.zeros(num_nodes, dtype=value.dtype)),
        *(np.zeros(num_nodes, dtype=np.int64), np.zeros(num_nodes, dtype=value.dtype)),
        *(np.empty((num_nodes, count), dtype=value.dtype), found),
    )
    return torch.from_numpy(cast(np.ndarray, np.sort(found, axis=1))).to(vectors.column.device)


@inlined
def _insert(best: np.ndarray, found: np.ndarray, size: int, new: float, target: int) -> int:  # (K,)
    """Put a node among the best so far, behind its equals; return how many there are now."""
    count = len(best)
    place = min(size, count - 1)
    while place > 0 and new > best[place - 1]:
        best[place] = best[place - 1]
        found[place] = found[place - 1]
        place -= 1
    best[place] = new
    found[place] = target
    return min(size + 1, count)


@lean
def _fill_up(found: np.ndarray, size: int) -> None:  # (K,)
    """Fill up with the nodes of the lowest numbers that are not there."""
    filler = 0
    while size < len(found):
        fresh = True
        for place in range(size):
            fresh = fresh and found[place] != filler
        if fresh:
            found[size] = filler
            size += 1
        filler += 1


@lean
def _find_most_similar(  # noqa: ANN202  compiled
    pointer: np.ndarray,  # (N + 1,)
    column: np.ndarray,  # (M,)
    value: np.ndarray,  # (M,)
    column_pointer: np.ndarray,  # (F + 1,)
    row: np.ndarray,  # (M,)
    value_by_column: np.ndarray,  # (M,)
    begin: np.ndarray,  # a copy of column_pointer
    score: np.ndarray,  # zeros (N,)
    size: np.ndarray,  # zeros (N,)
    bar: np.ndarray,  # zeros (N,)
    best: np.ndarray,  # room (N, K)
    found: np.ndarray,  # room (N, K)
):
    """Score each node against those from itself on that share a column, for both of them."""
    num_nodes, count = found.shape
    for node in range(num_nodes):
        score[node:] = 0
        for entry in range(pointer[node], pointer[node + 1]):
            own = value[entry]
            shared = column[entry]
            # Nodes before this one have scored it already; they left the column here.
            for other in range(begin[shared], column_pointer[shared + 1]):
                score[row[other]] += own * value_by_column[other]
            begin[shared] += 1
        for target in range(node, num_nodes):
            new = score[target]
            if new > bar[node]:
                size[node] = _insert(best[node], found[node], size[node], new, target)
                if size[node] == count:
                    bar[node] = best[node, count - 1]
            if new > bar[target] and target != node:
                size[target] = _insert(best[target], found[target], size[target], new, node)
                if size[target] == count:
                    bar[target] = best[target, count - 1]
    for node in range(num_nodes):
        _fill_up(found[node], size[node])


@lean
def _multiply_pairs(  # noqa: ANN202  compiled
    pointer: np.ndarray,  # (N + 1,)
    column: np.ndarray,  # (M,)
    place: np.ndarray,  # minus ones (F,)
    value: np.ndarray,  # (M,)
    neighbours: np.ndarray,  # (N, K)
    found: np.ndarray,  # room (N, K)
):
    for node in range(neighbours.shape[0]):
        for entry in range(pointer[node], pointer[node + 1]):
            place[column[entry]] = entry
        for index in range(neighbours.shape[1]):
            other = neighbours[node, index]
            total = 0.0
            for entry in range(pointer[other], pointer[other + 1]):
                own = place[column[entry]]
                if own >= 0:
                    total += value[own] * value[entry]
            found[node, index] = total
        for entry in range(pointer[node], pointer[node + 1]):
            place[column[entry]] = -1


@lean
def _add_pair_gradients(  # noqa: ANN202  compiled
    pointer: np.ndarray,  # (N + 1,)
    column: np.ndarray,  # (M,)
    place: np.ndarray,  # minus ones (F,)
    value: np.ndarray,  # (M,)
    neighbours: np.ndarray,  # (N, K)
    gradient: np.ndarray,  # (N, K)
    found: np.ndarray,  # zeros (M,)
):
    for node in range(neighbours.shape[0]):
        for entry in range(pointer[node], pointer[node + 1]):
            place[column[entry]] = entry
        for index in range(neighbours.shape[1]):
            other = neighbours[node, index]
            factor = gradient[node, index]
            for entry in range(pointer[other], pointer[other + 1]):
                own = place[column[entry]]
                if own >= 0:
                    found[own] += factor * value[entry]
                    found[entry] += factor * value[own]
        for entry in range(pointer[node], pointer[node + 1]):
            place[column[entry]] = -1
