"""Raw features made ready for a model."""

from typing import get_args

import torch
from torch import Tensor

from bpgnn.data.dataset import FeatureKind
from bpgnn.errors import InputError
from bpgnn.matrix import csr_matrix

# Of fewer columns, spans say little about units.
_FEWEST_ALIKE = 10


def prepare_features(
    features: Tensor, kind: FeatureKind, like: Tensor | None = None
) -> Tensor:  # (N, F) -> (N, F)
    """Bring raw features to a common scale.

    Rows of `counts` are divided by their sum, or by one where the sum is below one, as PyG's
    `NormalizeFeatures` does, so that an empty row stays empty. Columns of a `table` get mean
    zero and standard deviation one; a constant column becomes zero. Columns that are `alike`
    get mean zero and one scale for all, so that those that hardly vary stay small. Sparse
    features stay sparse, for which their columns are scaled but not shifted.

    Args:
        features: Raw values, shape (N, F), dense or sparse CSR.
        kind: `counts`, `table` or `alike`.
        like: Values whose mean and deviation columns are brought to a scale by, for rows that
            come later, shape (M, F); those of `features` if None.

    Returns:
        Prepared values of the same layout and type, shape (N, F).

    Example:
        >>> prepare_features(torch.tensor([[1.0, 3.0], [0.0, 0.0]]), "counts")
        tensor([[0.2500, 0.7500],
                [0.0000, 0.0000]])
    """
    if kind not in get_args(FeatureKind):
        words = ", ".join(repr(word) for word in get_args(FeatureKind))
        raise InputError(f"`kind` must be one of {words}, but got {kind!r}.")
    sparse = features.layout == torch.sparse_csr
    if kind != "counts":
        like = features if like is None else like
        scale = _scaled_columns if sparse else _standardised_columns
        return scale(features, like, alike=kind == "alike")
    values = features.values() if sparse else features
    if values.numel() > 0 and bool((values < 0).any()):
        raise InputError(
            "Features of kind 'counts' must not be negative, because each row is divided by "
            "its sum. Use the kind 'table' for signed values."
        )
    return _divided_rows(features) if sparse else features / _row_sums(features)


def _row_sums(features: Tensor) -> Tensor:  # (N, F) -> (N, 1)
    return features.sum(dim=1, keepdim=True).clamp(min=1)


def _divided_rows(features: Tensor) -> Tensor:
    pointer, values = features.crow_indices(), features.values()
    num_rows = features.size(0)
    row = torch.repeat_interleave(torch.arange(num_rows, device=values.device), pointer.diff())
    sums = torch.zeros(num_rows, dtype=values.dtype, device=values.device)
    sums = sums.index_add(0, row, values).clamp(min=1)
    return _with_values(features, values / sums[row])


def guess_kind(features: Tensor) -> FeatureKind:  # (N, F)
    """Guess what kind of features someone has handed in.

    Values of which nine in ten or more are zero, and none negative, are `counts`, such as words
    in a text. At least ten columns are `alike` if the spans of three in four that vary are
    within a factor of four of the median: pixels are, prices beside ages are not. Everything
    else is a `table`.

    Args:
        features: Raw values, shape (N, F), dense or sparse CSR.

    Example:
        >>> guess_kind(torch.tensor([[20.0, 1500.0], [60.0, 90000.0]]))
        'table'
    """
    sparse = features.layout == torch.sparse_csr
    values = features.values() if sparse else features
    stored = int((values != 0).sum())
    some = features.numel() if not sparse else features.size(0) * features.size(1)
    if values.numel() > 0 and stored <= 0.1 * some and not bool((values < 0).any()):
        return "counts"
    if sparse or features.numel() == 0:
        return "table"
    span = features.amax(dim=0) - features.amin(dim=0)
    span = span[span > 0]
    if span.numel() < _FEWEST_ALIKE:
        return "table"
    near = (span >= span.median() / 4) & (span <= span.median() * 4)
    return "alike" if bool(near.double().mean() >= 0.75) else "table"


def _standardised_columns(features: Tensor, like: Tensor, *, alike: bool) -> Tensor:
    if like.size(0) == 0:
        return features
    # Twice the precision, since a large mean would cancel the digits of a small deviation.
    exact = like.double()
    constant = exact.amax(dim=0) == exact.amin(dim=0)
    mean = exact.mean(dim=0)
    deviation = (exact - mean).square().mean(dim=0).sqrt()
    scale = _scale_of(deviation, constant, alike=alike)
    return ((features.double() - mean) * scale).to(features.dtype)


def _scale_of(deviation: Tensor, constant: Tensor, *, alike: bool) -> Tensor:  # (F,)
    if alike and not bool(constant.all()):
        deviation = deviation[~constant].square().mean().sqrt().expand_as(deviation)
    return torch.where(constant, 0.0, 1.0 / deviation.masked_fill(constant, 1.0))


def _scaled_columns(features: Tensor, like: Tensor, *, alike: bool) -> Tensor:
    values, column = like.values().double(), like.col_indices()
    num_rows, num_columns = like.shape
    zeros = torch.zeros(num_columns, dtype=values.dtype, device=values.device)
    mean = zeros.index_add(0, column, values) / max(num_rows, 1)
    square = zeros.index_add(0, column, values.square()) / max(num_rows, 1)
    deviation = (square - mean.square()).clamp(min=0).sqrt()
    # Below this the difference of squares is rounding, that is, the column is constant.
    constant = deviation <= 1e-7 * mean.abs()
    scale = _scale_of(deviation, constant, alike=alike)
    scaled = features.values().double() * scale[features.col_indices()]
    return _with_values(features, scaled.to(features.dtype))


def _with_values(features: Tensor, values: Tensor) -> Tensor:
    shape = (features.size(0), features.size(1))
    return csr_matrix(features.crow_indices(), features.col_indices(), values, shape)
