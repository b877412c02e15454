"""The graph attention network."""

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import ClassVar, final

import torch.nn.functional as F
from typing_extensions import override

from bpgnn.method import Sizes
from bpgnn.networks.layered import PAPER, LayeredMethod, LayeredSettings
from bpgnn.nn import gat
from bpgnn.nn.stack import Stack


@final
@dataclass(frozen=True, kw_only=True)
class GATSettings(LayeredSettings):
    """Settle a GAT.

    Args:
        heads: Heads of each hidden layer, which share its width.
        output_heads: Heads of the last layer, which are averaged.
        attention_dropout: Share of the attention dropped in training.
        message_dropout: Share of the messages' entries dropped in training.
    """

    hidden: tuple[int, ...] = (64,)
    dropout: float = 0.6
    input_dropout: float = 0.6
    heads: int = 8
    output_heads: int = 1
    attention_dropout: float = 0.6
    message_dropout: float = 0.0

    def __post_init__(self) -> None:
        """Refuse numbers out of range."""
        super().__post_init__()
        self.refuse_unless_counts("heads", "output_heads")
        self.refuse_unless_rates("attention_dropout", "message_dropout")
        self.refuse_unless(
            f"widths that {self.heads} heads can share",
            lambda widths: all(width % self.heads == 0 for width in widths),
            "hidden",
        )


@final
class GAT(LayeredMethod[GATSettings]):
    r"""Classify nodes by attention over the observed graph.

    "Graph Attention Networks", Veličković et al., 2018 (https://arxiv.org/abs/1710.10903):

    .. math::
        \alpha_{ij} = \text{softmax}_{j \in N_i \cup \{i\}}
            \text{LeakyReLU}(a^\top [W h_i \,\|\, W h_j]), \quad
        h'_i = \sigma\Big(\sum_j \alpha_{ij} W h_j\Big)

    with heads side by side, ELU between the layers, and the last layer's heads averaged.

    Args:
        settings: All choices.
        problem: What the sizes of the first and last layer are taken from.

    Departures:
        Dropout strikes an input entry for all heads of a layer at once; in the authors' code
        each head draws its own. Their scores have a bias each; the paper's, and ours, none.
    """

    citation: ClassVar[str] = """@inproceedings{velickovic2018graph,
  title     = {Graph Attention Networks},
  author    = {Veli{\\v{c}}kovi{\\'c}, Petar and Cucurull, Guillem and Casanova, Arantxa and
               Romero, Adriana and Li{\\`o}, Pietro and Bengio, Yoshua},
  year      = {2018},
  booktitle = {International Conference on Learning Representations}
}"""

    settings_type = GATSettings
    presets: ClassVar = {
        "published": {
            "learning_rate": 0.005,
            "max_steps": 100_000,
            "patience": 100,
            "evaluate_every": 1,
            "select_by": "both",
            "message_dropout": 0.6,
            "split": "public",
        },
        "paper": {**PAPER, "heads": 1, "attention_dropout": 0.0},
        "tuned": {},
    }
    by_dataset: ClassVar = {
        ("published", "pubmed"): {
            "learning_rate": 0.01,
            "weight_decay": 1e-3,
            "output_heads": 8,
        },
    }
    graph_use = "needed"

    @override
    @classmethod
    def memory(cls, settings: GATSettings, sizes: Sizes) -> int:
        # Messages are written down, one a head and edge, and kept for the gradient.
        widths = sum(settings.hidden) + settings.output_heads * sizes.num_classes
        widths += settings.heads + settings.output_heads
        return super().memory(settings, sizes) + 24 * widths * sizes.num_edges

    @override
    @classmethod
    def make_stack(cls, settings: GATSettings, widths: list[int]) -> Stack:
        layer = partial(
            gat.GAT,
            attention_dropout=settings.attention_dropout,
            message_dropout=settings.message_dropout,
        )
        *between, last = pairwise(widths)
        layers = [layer(*pair, heads=settings.heads) for pair in between]
        layers.append(layer(*last, heads=settings.output_heads, average=True))
        return Stack(
            layers, settings.dropout, input_dropout=settings.input_dropout, activation=F.elu
        )
