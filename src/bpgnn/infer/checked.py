"""Settings of an inference that refuse what cannot be."""

from dataclasses import dataclass

from bpgnn.infer.layer import InferenceSettings
from bpgnn.infer.spaces import make_metric
from bpgnn.settings import Settings


@dataclass(frozen=True, kw_only=True)
class CheckedInference(Settings, InferenceSettings):
    """Settle how a latent graph is inferred, from values that people type."""

    def __post_init__(self) -> None:
        """Refuse numbers out of range, and metrics that cannot be made."""
        super().__post_init__()
        self.refuse_unless_counts("k", "latent_dim")
        make_metric(self.metric, self.latent_dim)
        self.refuse_unless(
            "between -5 and 5, the bounds it is learned in",
            lambda number: -5 <= number <= 5,
            "temperature",
        )
        self.refuse_unless("0 or more", lambda number: number >= 0, "gate")
        self.refuse_unless("between 0 and 1", lambda share: 0 < share < 1, "own_share")
