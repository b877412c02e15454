"""A perceptron on the features alone."""

from typing import ClassVar, final

from typing_extensions import override

from bpgnn.networks.layered import PAPER, LayeredMethod, LayeredSettings
from bpgnn.nn.stack import Stack


@final
class MLP(LayeredMethod[LayeredSettings]):
    r"""Classify nodes by their features alone.

    .. math:: \hat y = \text{softmax}(\text{ReLU}(X W_0 + b_0) W_1 + b_1)

    What any method gains by a graph is what it has above this one.

    Args:
        settings: All choices.
        problem: What the sizes of the first and last layer are taken from.

    Departures:
        None; `published` has the settings under which the papers of this field report it, a
        hidden layer of 32 and dropout of one half.
    """

    citation: ClassVar[str] = """@article{rumelhart1986learning,
  title   = {Learning Representations by Back-Propagating Errors},
  author  = {Rumelhart, David E. and Hinton, Geoffrey E. and Williams, Ronald J.},
  year    = {1986},
  journal = {Nature},
  volume  = {323},
  pages   = {533--536}
}"""

    settings_type = LayeredSettings
    presets: ClassVar = {
        "published": {
            "hidden": (32,),
            "max_steps": 200,
            "patience": 200,
            "evaluate_every": 1,
            "select_by": "accuracy",
            "split": "public",
        },
        "paper": PAPER,
        "tuned": {},
    }
    graph_use = "ignored"

    @override
    @classmethod
    def make_stack(cls, settings: LayeredSettings, widths: list[int]) -> Stack:
        return cls.plain_stack("mlp", settings, widths)
