"""How often each node has been classified right of late."""

from typing import Any, final

import torch
from torch import Tensor, nn

from bpgnn.losses.graph_reward import running_mean


@final
class RunningCorrectness(nn.Module):
    """Keep E[a_i], a running mean for every node that was ever observed.

    Every node starts at one half. The buffer grows with the largest number observed, so that no
    one has to say beforehand how many nodes there are; a saved state brings its own length.

    Example:
        >>> correctness = RunningCorrectness()
        >>> correctness.observe(torch.tensor([2]), torch.tensor([1.0]))
        >>> correctness.of(torch.tensor([0, 2]))
        tensor([0.5000, 0.5250])
    """

    expected_right: Tensor

    def __init__(self) -> None:
        """Begin without nodes."""
        super().__init__()
        self.register_buffer("expected_right", torch.empty(0))

    @torch.no_grad()
    def of(self, nodes: Tensor) -> Tensor:  # (M,) -> (M,)
        """Return the running means of some nodes."""
        known = nodes < len(self.expected_right)
        means = self.expected_right.new_full((len(nodes),), 0.5)
        means[known] = self.expected_right[nodes[known]]
        return means

    @torch.no_grad()
    def observe(self, nodes: Tensor, right: Tensor) -> None:  # (M,), (M,)
        """Move the running means of some nodes towards what has just been seen, 0 or 1."""
        moved = running_mean(self.of(nodes), right.to(self.expected_right))
        missing = int(nodes.max()) + 1 - len(self.expected_right) if len(nodes) > 0 else 0
        if missing > 0:
            more = self.expected_right.new_full((missing,), 0.5)
            self.expected_right = torch.cat([self.expected_right, more])
        self.expected_right[nodes] = moved

    def _load_from_state_dict(
        self, state_dict: dict[str, Any], prefix: str, *rest: Any, **named: Any
    ) -> None:
        """Take a saved buffer of any length."""
        saved = state_dict.get(f"{prefix}expected_right")
        if isinstance(saved, Tensor) and saved.dim() == 1:
            self.expected_right = self.expected_right.new_empty(len(saved))
        super()._load_from_state_dict(state_dict, prefix, *rest, **named)
