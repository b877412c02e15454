r"""Similarities of which only those above a threshold count.

A gradient with respect to such a matrix is a sum of outer products, one for every product
that the matrix had a part in. The products remember their two sides; when all have been met on
the way back, one sweep over rows turns them into the gradient of the factors. So no matrix of
gradients is ever written down, and one sweep serves ten products.
"""

from itertools import pairwise
from typing import Any, final

import torch
from torch import Tensor
from torch.autograd.function import FunctionCtx
from typing_extensions import override

from bpgnn.nn.factor import Factor, FeatureGram
from bpgnn.nn.similarity import DenseSimilarity, Similarity, row_blocks

# A matrix of up to 16 million entries is kept; of a larger one, rows are made when asked for.
_STORED_ENTRIES = 1 << 24

# Columns of a symmetric product at a time. Measured at 1,400 columns: two thirds of the time of
# the whole; 128 are as good.
_SYMMETRIC_BLOCK = 256


def thresholded(
    left: Factor, right: Factor, epsilon: float, *, stored: bool | None = None
) -> "ThresholdedSimilarity":
    r"""Multiply two factors and keep what exceeds a threshold.

    .. math:: S_{ij} = \begin{cases} l_i^\top r_j & l_i^\top r_j > \varepsilon \\ 0 & \text{else}
        \end{cases}

    Args:
        left: The vectors l, N of them.
        right: The vectors r, M of them.
        epsilon: The threshold, 0 or more.
        stored: Whether to keep the matrix between its uses; by default if it is small.

    Returns:
        The matrix, shape (N, M); differentiable in both factors.

    Example:
        >>> from bpgnn.nn.factor import DenseFactor
        >>> vectors = DenseFactor(torch.tensor([[1.0, 0.0], [0.6, 0.8]]))
        >>> thresholded(vectors, vectors, 0.7).row_sums
        tensor([1., 1.])
    """
    if stored is None:
        stored = is_small(left.num_rows, right.num_rows)
    entries = _Entries(left.detached(), right.detached(), epsilon, stored=stored)
    token = _Root.apply(left.tensor, right.tensor, entries)
    return ThresholdedSimilarity(_Part(entries, None, 0.0), token)


@final
class ThresholdedSimilarity(Similarity):
    """Stand for a matrix of products above a threshold; :func:`thresholded` makes one.

    Args:
        part: The entries, all or those that dropout kept.
        token: What ties all uses of the entries to their factors, shape ().
    """

    def __init__(self, part: "_Part", token: Any) -> None:
        self.part, self.token, self.shape = part, token, part.entries.shape

    def dropped(self, kept: Tensor, rate: float) -> "ThresholdedSimilarity":  # (N, M)
        """Return the same matrix with the entries that are not kept set to zero.

        Args:
            kept: Which entries to keep, as truth values, shape (N, M).
            rate: The share that is dropped; those kept are scaled up by it.
        """
        return ThresholdedSimilarity(_Part(self.part.entries, kept, rate), self.token)

    @override
    def times(self, states: Tensor) -> Tensor:
        return _Product.apply(states, self.token, self.part, False)  # pyright: ignore[reportReturnType]

    @override
    def transposed_times(self, states: Tensor) -> Tensor:
        return _Product.apply(states, self.token, self.part, True)  # pyright: ignore[reportReturnType]

    @override
    def alignment(self, gram: FeatureGram) -> Tensor:
        return _Alignment.apply(self.token, self.part, gram)  # pyright: ignore[reportReturnType]

    @override
    def square(self) -> Tensor:
        return _Alignment.apply(self.token, self.part, self.part)  # pyright: ignore[reportReturnType]

    @override
    def through(self, weight: Tensor) -> Similarity:
        return DenseSimilarity(_Through.apply(weight, self.token, self.part))  # pyright: ignore[reportArgumentType]

    @override
    def rows(self, start: int, stop: int) -> Tensor:
        return self.part.rows(start, stop)

    @override
    def _ones(self, number: int) -> Tensor:
        return self.part.entries.left.tensor.new_ones(number, 1)


def is_small(num_rows: int, num_columns: int) -> bool:
    """Tell whether a matrix is kept between its uses."""
    return num_rows * num_columns <= _STORED_ENTRIES


@final
class _Entries:
    """Make the entries, all at once or as asked for, and the gradients of both factors."""

    def __init__(self, left: Factor, right: Factor, epsilon: float, *, stored: bool) -> None:
        self.left, self.right, self.epsilon = left, right, epsilon
        self.shape = (left.num_rows, right.num_rows)
        self.memories: list[_Memory] = []
        self.stored = None
        if stored:
            self.stored = left.tensor.new_empty(self.shape)
            for start, stop in row_blocks(*self.shape):
                self.stored[start:stop] = self._made(start, stop)

    def rows(self, start: int, stop: int) -> Tensor:  # (B, M)
        return self._made(start, stop) if self.stored is None else self.stored[start:stop]

    def _made(self, start: int, stop: int) -> Tensor:  # (B, M)
        found = self.left.products(self.right, start, stop)
        return torch.threshold_(found, self.epsilon, 0.0)

    def gradients(self) -> tuple[Tensor, Tensor]:
        """Turn all that is remembered into gradients of the factors, and forget it."""
        to_left, to_right = (torch.zeros_like(f.tensor) for f in (self.left, self.right))
        busy = [memory for memory in self.memories if memory.is_filled()]
        for memory in busy:
            memory.join()
        for start, stop in row_blocks(*self.shape) if busy else []:
            rows = self.rows(start, stop)
            gradient = busy[0].gradient(start, stop, rows)
            for memory in busy[1:]:
                gradient += memory.gradient(start, stop, rows)
            # Measured: a fifteenth of the time of a comparison and a fill.
            gradient = torch.ops.aten.threshold_backward(gradient, rows, 0.0)
            self.left.add_gradients(self.right, gradient, start, to_left, to_right)
        for memory in busy:
            memory.forget()
        return to_left, to_right


@final
class _Part:
    """Show the entries, all or those that dropout kept; remember what was done with them."""

    def __init__(self, entries: _Entries, kept: Tensor | None, rate: float) -> None:
        self.entries, self.mask = entries, _Mask(kept, rate)
        self.memory = _Memory(self.mask)
        self.stored = entries.stored
        if kept is not None and entries.stored is not None:
            self.stored = self.mask.applied(entries.stored.clone(), 0)
        # The entries know the memory, not this: a circle of large things is freed late.
        entries.memories.append(self.memory)

    def rows(self, start: int, stop: int) -> Tensor:  # (B, M)
        if self.stored is not None:
            return self.stored[start:stop]
        return self.mask.applied(self.entries.rows(start, stop), start)

    def product(self, states: Tensor, *, turned: bool) -> Tensor:  # (M, D) -> (N, D), or back
        # Measured: with few columns, matrix times states takes up to ten times as long as
        # turned states times matrix.
        lying = states.T.contiguous()
        if self.stored is not None:
            return (lying @ (self.stored if turned else self.stored.T)).T
        found = states.new_zeros(states.size(1), self.entries.shape[1 if turned else 0])
        for start, stop in row_blocks(*self.entries.shape):
            if turned:
                found.addmm_(lying[:, start:stop], self.rows(start, stop))
            else:
                found[:, start:stop] = lying @ self.rows(start, stop).T
        return found.T


@final
class _Mask:
    """Drop entries, or none."""

    def __init__(self, kept: Tensor | None, rate: float) -> None:
        self.kept, self.scale = kept, 1 / (1 - rate)

    def applied(self, block: Tensor, start: int) -> Tensor:  # (B, M)
        """Zero what is not kept in rows from `start` on, and scale up the rest, in place."""
        if self.kept is None:
            return block
        return block.mul_(self.kept[start : start + block.size(0)]).mul_(self.scale)


@final
class _Memory:
    """Remember how a gradient came about until the sweep that needs it.

    A way back that ends before the sweep, since nobody asked for the factors' gradients,
    leaves its outer products behind; they are told by the number of that way back.
    """

    def __init__(self, mask: _Mask) -> None:
        self.mask = mask
        self.forget()

    def forget(self) -> None:
        self.journey = -1
        self.pairs: list[tuple[Tensor, ...]] = []
        self.multiples: list[tuple[float, FeatureGram | _Part]] = []
        self.whole: list[Tensor] = []

    def begin(self) -> None:
        journey = torch._C._current_graph_task_id()  # noqa: SLF001  checkpointing has it, too
        if journey != self.journey:
            self.forget()
            self.journey = journey

    def is_filled(self) -> bool:
        self.begin()
        return bool(self.pairs or self.multiples or self.whole)

    def join(self) -> None:
        """Write all outer products as one."""
        if self.pairs:
            self.pairs = [tuple(torch.cat(side, dim=1) for side in zip(*self.pairs, strict=True))]

    def gradient(self, start: int, stop: int, like: Tensor) -> Tensor:  # (B, M)
        total = torch.zeros_like(like)
        for left, right in self.pairs:
            total.addmm_(left[start:stop], right.T)
        for factor, other in self.multiples:
            total.add_(other.rows(start, stop), alpha=factor)
        for matrix in self.whole:
            total += matrix[start:stop]
        return self.mask.applied(total, start)


class _Root(torch.autograd.Function):
    """Begin a matrix; its token makes autograd wait until all its products have been met."""

    @staticmethod
    def forward(ctx: FunctionCtx, left: Tensor, right: Tensor, entries: _Entries) -> Tensor:  # noqa: ARG004
        ctx.entries = entries  # pyright: ignore[reportAttributeAccessIssue]
        return left.new_zeros(())

    @staticmethod
    def backward(ctx: FunctionCtx, gradient: Tensor) -> tuple[Tensor, Tensor, None]:  # noqa: ARG004  # pyright: ignore[reportIncompatibleMethodOverride]
        return *ctx.entries.gradients(), None  # pyright: ignore[reportAttributeAccessIssue]


class _Product(torch.autograd.Function):
    """Multiply the matrix, or its transpose, with states."""

    @staticmethod
    def forward(
        ctx: FunctionCtx,
        states: Tensor,
        token: Tensor,  # noqa: ARG004
        part: _Part,
        turned: bool,  # noqa: FBT001
    ) -> Tensor:
        ctx.part, ctx.turned = part, turned  # pyright: ignore[reportAttributeAccessIssue]
        ctx.save_for_backward(states)
        return part.product(states, turned=turned)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, Tensor, None, None]:  # pyright: ignore[reportIncompatibleMethodOverride]
        (states,) = ctx.saved_tensors
        to_states = None
        if ctx.needs_input_grad[0]:
            to_states = ctx.part.product(gradient, turned=not ctx.turned)
        memory = ctx.part.memory
        memory.begin()
        memory.pairs.append((states, gradient) if ctx.turned else (gradient, states))
        return to_states, gradient.new_zeros(()), None, None


class _Alignment(torch.autograd.Function):
    """Add up the products of the entries with those of a constant matrix, or with themselves."""

    @staticmethod
    def forward(
        ctx: FunctionCtx,
        token: Tensor,  # noqa: ARG004
        part: _Part,
        other: FeatureGram | _Part,
    ) -> Tensor:
        ctx.part, ctx.other = part, other  # pyright: ignore[reportAttributeAccessIssue]
        blocks = row_blocks(*part.entries.shape)
        sums = [
            torch.dot(part.rows(*block).flatten(), other.rows(*block).flatten()) for block in blocks
        ]
        return torch.stack(sums).sum()

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:  # pyright: ignore[reportIncompatibleMethodOverride]
        memory = ctx.part.memory
        memory.begin()
        slope = float(gradient) * (2 if ctx.part is ctx.other else 1)
        memory.multiples.append((slope, ctx.other))
        return gradient.new_zeros(()), None, None


class _Through(torch.autograd.Function):
    """Multiply the transposed matrix, row weights and the matrix."""

    @staticmethod
    def forward(ctx: FunctionCtx, weight: Tensor, token: Tensor, part: _Part) -> Tensor:  # noqa: ARG004
        ctx.part = part  # pyright: ignore[reportAttributeAccessIssue]
        ctx.save_for_backward(weight)
        size = part.entries.shape[1]
        found = weight.new_zeros(size, size)
        # It is symmetric: what is right of the diagonal blocks, and these, will do.
        edges = [*range(0, size, _SYMMETRIC_BLOCK), size]
        for start, stop in row_blocks(*part.entries.shape):
            rows = part.rows(start, stop)
            weighed = weight[start:stop, None] * rows
            for first, last in pairwise(edges):
                found[first:last, first:].addmm_(rows[:, first:last].T, weighed[:, first:])
        for first, last in pairwise(edges):
            found[last:, first:last] = found[first:last, last:].T
        return found

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, None]:  # pyright: ignore[reportIncompatibleMethodOverride]
        (weight,) = ctx.saved_tensors
        part = ctx.part
        both = gradient + gradient.T
        to_weight, to_matrix = torch.empty_like(weight), weight.new_empty(part.entries.shape)
        for start, stop in row_blocks(*part.entries.shape):
            rows = part.rows(start, stop)
            moved = torch.mm(rows, both, out=to_matrix[start:stop])
            to_weight[start:stop] = (moved * rows).sum(1) / 2
            moved *= weight[start:stop, None]
        part.memory.begin()
        part.memory.whole.append(to_matrix)
        return to_weight, gradient.new_zeros(()), None
