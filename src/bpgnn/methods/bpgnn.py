"""The Boolean Product Graph Neural Network."""

from dataclasses import dataclass
from typing import Any, ClassVar, final

from typing_extensions import override

from bpgnn.networks.sampled import SampledMethod, SampledMethodSettings


@final
@dataclass(frozen=True, kw_only=True)
class BPGNNSettings(SampledMethodSettings):
    """Settle a BPGNN: how it is trained, how it infers graphs, and its networks.

    Args:
        graph_learning_rate: Adam's step size for all that the graph is inferred by.
    """

    graph_learning_rate: float = 0.01

    def __post_init__(self) -> None:
        """Refuse a step size that is none."""
        super().__post_init__()
        self.refuse_unless("above 0", lambda rate: rate > 0, "graph_learning_rate")


_THREE_NARROW_LAYERS = {
    "hidden": (32, 16, 8),
    "head": (8,),
    "k": 5,
    "latent_dim": 4,
    "embedding_hidden": (),
    "learning_rate": 0.005,
    "graph_learning_rate": 0.005,
    "weight_decay": 0.0,
    "dropout": 0.0,
    "input_dropout": 0.0,
    "embedding_dropout": 0.0,
    "max_steps": 10_000,
    "patience": 1500,
    "evaluate_every": 100,
    "latent_loss_weight": 0.0,
    "standardize": False,
    "temperature": 4.0,
    "message_weight": "none",
    "witness": "equal",
    "self_loops": False,
}

_PRESETS: dict[str, dict] = {
    "paper": {**_THREE_NARROW_LAYERS, "boolean_layers": 2, "graph_loss": "reward"},
    "authors": {
        **_THREE_NARROW_LAYERS,
        "input_width": 32,
        "linear_start": "torch",
        "self_pairs": True,
        "symmetric": True,
        "noise": "minus",
        "floor": True,
        "graph_loss": "noisy",
        "task_loss": "binary",
        "test_weights": "last",
        "sampler": "dense",
    },
    "tuned": {
        "hidden": (64,),
        "scores": "messages",
        "own_states": True,
        "observed_messages": True,
        "observed_gate": True,
        "weight_decay": 2e-4,
    },
}

_BY_DATASET: dict[tuple[str, str], dict] = {
    ("paper", "pubmed"): {"boolean_layers": 1},
    ("paper", "photo"): {"boolean_layers": 1},
}


@final
class BPGNN(SampledMethod[BPGNNSettings]):
    r"""Classify nodes over graphs inferred by the Boolean product.

    "Boolean Product Graph Neural Networks", Wang, Liu and Xiang, 2024. For layers l < L:

    .. math::
        V^{(l+1)} &= f([U^{(l)} | V^{(l)}], A^{(l)}) \\
        P^{(l+1)}_{ij} &= \exp(-\gamma(V_i, V_j)^2 / \phi) \\
        A^{(l+1)} &\sim \text{Gumbel-top-}k(A \diamond P^{(l+1)}) \\
        U^{(l+1)} &= \text{GNN}(A^{(l+1)}, U^{(l)})

    and the prediction is an MLP of the last U. Later layers reuse the last graph.

    Args:
        settings: All choices.
        problem: What the sizes of the first and last layer are taken from.

    Departures:
        Each is a setting, and the preset `paper` keeps to the paper's text. Our defaults: a
        node is among its own witnesses; it is never its own sampled neighbour; messages are
        weighted by P~; V is standardised; the graph loss takes the sampled neighbours; the
        weights of the best validation loss are tested. The preset `authors` follows the
        authors' code, with its reversed noise and binary loss.
    """

    citation: ClassVar[str] = """@article{wang2024boolean,
  title   = {Boolean Product Graph Neural Networks},
  author  = {Wang, Ziyan and Liu, Bin and Xiang, Ling},
  year    = {2024},
  journal = {arXiv preprint arXiv:2409.14001}
}"""

    settings_type = BPGNNSettings
    presets = _PRESETS
    by_dataset = _BY_DATASET

    @override
    def parameter_groups(self) -> list[dict[str, Any]]:
        inferring = self.network.inferring
        rates = (self.settings.graph_learning_rate, self.settings.learning_rate)
        return [
            {**group, "params": members, "lr": rate}
            for group in super().parameter_groups()
            for rate, graph in zip(rates, (True, False), strict=True)
            if (members := [p for p in group["params"] if (id(p) in inferring) == graph])
        ]
