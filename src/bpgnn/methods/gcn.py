"""The graph convolutional network."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, final

from typing_extensions import override

from bpgnn.networks.layered import PAPER, LayeredMethod, LayeredSettings
from bpgnn.nn.stack import Stack


@final
@dataclass(frozen=True, kw_only=True)
class GCNSettings(LayeredSettings):
    """Settle a GCN.

    Args:
        decay: Which layers weight decay acts on: `all`, or the `first` alone.
    """

    decay: Literal["all", "first"] = "all"


@final
class GCN(LayeredMethod[GCNSettings]):
    r"""Classify nodes by convolutions over the observed graph.

    "Semi-Supervised Classification with Graph Convolutional Networks", Kipf and Welling, 2017
    (https://arxiv.org/abs/1609.02907):

    .. math::
        Z = \text{softmax}(\hat A \, \text{ReLU}(\hat A X W^{(0)}) \, W^{(1)}), \quad
        \hat A = \tilde D^{-1/2} (A + I) \tilde D^{-1/2}

    Args:
        settings: All choices.
        problem: What the sizes of the first and last layer are taken from.

    Departures:
        Every layer has a bias, as in PyG. In `published` training stops when the validation
        loss has not fallen for ten epochs; the authors compare it with the mean of the last
        ten. `tuned` has wider layers, decay on all of them, and no fixed end.
    """

    citation: ClassVar[str] = """@inproceedings{kipf2017semi,
  title     = {Semi-Supervised Classification with Graph Convolutional Networks},
  author    = {Kipf, Thomas N. and Welling, Max},
  year      = {2017},
  booktitle = {International Conference on Learning Representations}
}"""

    settings_type = GCNSettings
    presets: ClassVar = {
        "published": {
            "hidden": (16,),
            "max_steps": 200,
            "patience": 10,
            "evaluate_every": 1,
            "test_weights": "last",
            "decay": "first",
            "split": "public",
        },
        "paper": PAPER,
        "tuned": {},
    }
    graph_use = "needed"

    @override
    @classmethod
    def make_stack(cls, settings: GCNSettings, widths: list[int]) -> Stack:
        return cls.plain_stack("gcn", settings, widths)

    @override
    def parameter_groups(self) -> list[dict[str, Any]]:
        if self.settings.decay == "all":
            return super().parameter_groups()
        first, *others = self.stack.layers
        rest = [parameter for layer in others for parameter in layer.parameters()]
        return [
            {"params": list(first.parameters()), "weight_decay": self.settings.weight_decay},
            {"params": rest, "weight_decay": 0.0},
        ]
