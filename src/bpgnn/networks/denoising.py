"""Features with some of their entries hidden, and the price of guessing those wrong."""

import math
from dataclasses import dataclass
from typing import Literal, final

import torch
import torch.nn.functional as F
from torch import Tensor

from bpgnn.nn.pattern import Pattern, SparseValues
from bpgnn.nn.sparse import Features, SparseMatrix

FeatureKind = Literal["presence", "value"]


@final
@dataclass(frozen=True, eq=False)
class Masked:
    """Hold features with hidden entries.

    Args:
        features: The features, zero where they are hidden, shape (N, F).
        pattern: The hidden places.
        target: What stood there, shape (E,).
    """

    features: SparseValues
    pattern: Pattern
    target: Tensor


@final
class Mask:
    """Hide entries of features at random, anew each time.

    Features that say whether something is there (a word) are mostly zeros, so that hidden
    zeros are drawn less often, in a settled proportion to the hidden ones. Features that are
    values are hidden all alike.

    Args:
        features: Dense or sparse features, shape (N, F).
        kind: `presence` or `value`.
        share: Share of the entries other than zero that is hidden.
        zeros: Zeros hidden for each hidden one, where features are a presence.
    """

    def __init__(
        self, features: Features, kind: FeatureKind, *, share: float, zeros: float
    ) -> None:
        """Number the entries that are not zero."""
        if isinstance(features, Tensor):
            row, column = features.nonzero(as_tuple=True)
            places = Pattern.from_places(row, column, (features.size(0), features.size(1)))
            features = SparseMatrix.from_csr(places.matrix(features.detach()[row, column]))
        pattern = Pattern.from_matrix(features)
        self.features, self.share = SparseValues(pattern, features.value), share
        self.num_cells = features.shape[0] * features.shape[1]
        self.key = pattern.row * features.shape[1] + features.column
        self.sorted_key = self.key.sort().values
        num_ones, num_zeros = len(self.key), self.num_cells - len(self.key)
        wanted = share * (zeros * num_ones / max(num_zeros, 1) if kind == "presence" else 1.0)
        self.zero_share = min(1.0, wanted)

    def draw(self, *, generator: torch.Generator) -> Masked:
        """Draw what is hidden this time."""
        value, device = self.features.value, generator.device
        hidden = torch.rand(value.shape, generator=generator, device=device) < self.share
        cells = independent_draws(self.num_cells, self.zero_share, generator=generator)
        cells = cells[~_is_among(cells, self.sorted_key)]
        key = torch.cat([self.key[hidden], cells])
        target = torch.cat([value[hidden], value.new_zeros(cells.numel())])
        key, order = key.sort()
        return Masked(
            SparseValues(self.features.pattern, value.masked_fill(hidden, 0.0)),
            Pattern.from_keys(key, self.features.pattern.shape),
            target[order],
        )


def independent_draws(count: int, share: float, *, generator: torch.Generator) -> Tensor:  # (M,)
    """Take each number below `count` with probability `share`, in time for those taken only.

    From one number taken to the next it is a geometrically distributed step.

    Example:
        >>> independent_draws(3, 1.0, generator=torch.Generator())
        tensor([0, 1, 2])
    """
    device = generator.device
    if share >= 1.0:
        return torch.arange(count, device=device)
    if share <= 0.0 or count == 0:
        return torch.empty(0, dtype=torch.long, device=device)
    parts, last = [], -1
    while last < count:
        expected = (count - last) * share
        size = int(expected + 5 * math.sqrt(expected)) + 8
        draws = torch.rand(size, generator=generator, device=device, dtype=torch.double)
        steps = (torch.log1p(-draws) / math.log1p(-share)).clamp(max=count).long() + 1
        parts.append(steps.cumsum(0) + last)
        last = int(parts[-1][-1])
    taken = torch.cat(parts)
    return taken[taken < count]


def reconstruction_loss(guess: Tensor, target: Tensor, kind: FeatureKind) -> Tensor:  # (E,), (E,)
    """Average the price of guesses: of log-odds where something is there or not, or of values.

    Example:
        >>> reconstruction_loss(torch.zeros(2), torch.ones(2), "presence")
        tensor(0.6931)
    """
    price = F.binary_cross_entropy_with_logits if kind == "presence" else F.mse_loss
    return price(guess, target, reduction="sum") / max(target.numel(), 1)


def kind_of(features: Features) -> FeatureKind:
    """Tell zeros and ones, and sparse weights of at most 1 in the mean, from values.

    The former are a presence; of counts, the loss of a presence would fall without end.

    Example:
        >>> kind_of(torch.tensor([[0.5, 2.0]]))
        'value'
    """
    if isinstance(features, SparseMatrix):
        value = features.value
        is_share = not value.numel() or (bool(value.min() >= 0) and bool(value.mean() <= 1))
        return "presence" if is_share else "value"
    return "presence" if bool(((features == 0) | (features == 1)).all()) else "value"


def _is_among(cells: Tensor, sorted_key: Tensor) -> Tensor:  # (M,), (K,) -> (M,)
    if sorted_key.numel() == 0:
        return torch.zeros_like(cells, dtype=torch.bool)
    place = torch.searchsorted(sorted_key, cells).clamp(max=sorted_key.numel() - 1)
    return sorted_key[place] == cells
