"""The discrete differentiable graph module, in four spaces."""

from abc import ABC
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, final

import torch.nn.functional as F
from torch import Tensor
from typing_extensions import override

from bpgnn.method import Output
from bpgnn.networks.sampled import SampledMethod, SampledMethodSettings


@final
@dataclass(frozen=True, kw_only=True)
class DDGMSettings(SampledMethodSettings):
    """Settle a dDGM: BPGNN's network, without the observed graph in its probabilities.

    Args:
        residual: The observed graph has no part in P; it serves the embedding f alone.
        stop_on: What validation judges: the `likelihood` of the mean prediction, or as in the
            authors' code the binary cross-entropy of the `sum` of the sampled predictions.
    """

    residual: Literal["none"] = "none"  # pyright: ignore[reportIncompatibleVariableOverride]
    stop_on: Literal["likelihood", "sum"] = "likelihood"


class DDGM(SampledMethod[DDGMSettings], ABC):
    """Classify nodes over graphs sampled by the distance of latent points.

    Args:
        settings: All choices.
        problem: What the sizes of the first and last layer are taken from.
    """

    settings_type = DDGMSettings

    @override
    def validation_loss(self, output: Output, nodes: Tensor, labels: Tensor) -> float:
        if self.settings.stop_on == "likelihood":
            return super().validation_loss(output, nodes, labels)
        total = output.logits.softmax(-1).sum(0)[nodes]
        target = F.one_hot(labels, total.size(1)).to(total.dtype)
        return float(F.binary_cross_entropy_with_logits(total, target))


_DEFAULT: dict[str, Any] = {
    "input_width": 32,
    "hidden": (32, 16, 8),
    "head": (8,),
    "linear_start": "torch",
    "embedding_hidden": (),
    "k": 5,
    "weight_decay": 0.0,
    "dropout": 0.0,
    "input_dropout": 0.0,
    "embedding_dropout": 0.0,
    "max_steps": 10_000,
    "patience": 2000,
    "evaluate_every": 100,
    "latent_loss_weight": 0.0,
    "standardize": False,
    "message_weight": "none",
    "self_pairs": True,
    "graph_loss": "probability",
    "task_loss": "binary",
    "stop_on": "sum",
    "split": "complete",
}


def _presets(**space: Any) -> dict[str, dict[str, Any]]:
    """Give the presets of one space."""
    return {
        "published": {**_DEFAULT, **space},
        "paper": {**_DEFAULT, **space, "learning_rate": 0.005, "patience": 1500},
        "tuned": {"message_weight": "probability", **space, "temperature": 1.0, "latent_dim": 16},
    }


_KAZI = """@article{kazi2023differentiable,
  title   = {Differentiable Graph Module ({DGM}) for Graph Convolutional Networks},
  author  = {Kazi, Anees and Cosmo, Luca and Ahmadi, Seyed-Ahmad and Navab, Nassir and
             Bronstein, Michael M.},
  year    = {2023},
  journal = {IEEE Transactions on Pattern Analysis and Machine Intelligence},
  volume  = {45},
  pages   = {1606--1617}
}"""

_BORDE = """@inproceedings{saez2023latent,
  title     = {Latent Graph Inference using Product Manifolds},
  author    = {{S{\\'a}ez de Oc{\\'a}riz Borde}, Haitz and Kazi, Anees and Barbero, Federico and
               Li{\\`o}, Pietro},
  year      = {2023},
  booktitle = {International Conference on Learning Representations}
}"""


@final
class DDGME(DDGM):
    r"""Classify nodes over graphs sampled by Euclidean distance.

    "Differentiable Graph Module (DGM) for Graph Convolutional Networks", Kazi et al., 2023
    (https://arxiv.org/abs/2002.04999), the discrete form:

    .. math::
        p_{ij} = \exp(-t \, \|z_i - z_j\|^2), \quad z = f(X, A), \quad
        j_1, \dots, j_k \sim \text{Gumbel-top-}k(\log p_i)

    The classifier sees the sampled graph and is trained by the task loss; f and t are trained
    by the graph loss alone, :math:`\sum_i \delta_i \sum_j p_{ij}`.

    Args:
        settings: All choices.
        problem: What the sizes of the first and last layer are taken from.

    Departures:
        Sampling is exact, as in the authors' GPU code; `noise=minus` has the reversed noise
        of their dense layers. `tuned` weights messages by p, so that the task loss reaches f,
        and standardises z.
    """

    citation: ClassVar[str] = _KAZI
    presets = _presets(metric="euclidean", latent_dim=4, temperature=4.0)


@final
class DDGMH(DDGM):
    r"""Classify nodes over graphs sampled by hyperbolic distance.

    As dDGM-E, with z in the Poincaré ball:

    .. math:: d(x, y) = \text{arcosh}\left(1 + \frac{2 \|x - y\|^2}{(1 - \|x\|^2)(1 - \|y\|^2)}
        \right)

    Args:
        settings: All choices.
        problem: What the sizes of the first and last layer are taken from.

    Departures:
        Those of dDGM-E.
    """

    citation: ClassVar[str] = _KAZI
    presets = _presets(metric="hyperbolic", latent_dim=4, temperature=1.0)


@final
class DDGMEHH(DDGM):
    r"""Classify nodes over graphs sampled in a flat and two hyperbolic spaces.

    "Latent Graph Inference using Product Manifolds", Sáez de Ocáriz Borde et al., 2023
    (https://arxiv.org/abs/2211.16199): as dDGM-E, with

    .. math:: d^2 = d_E^2 + \alpha_1 d_H^2 + \alpha_2 d_H^2

    the scales α, that is the curvatures, learned.

    Args:
        settings: All choices.
        problem: What the sizes of the first and last layer are taken from.

    Departures:
        Those of dDGM-E. No code was published: four dimensions a space are our choice; points
        enter the ball as in dDGM-H, not by the exponential map; the flat part has a scale, too.
    """

    citation: ClassVar[str] = _BORDE
    presets = _presets(metric="euclidean+hyperbolic+hyperbolic", latent_dim=12, temperature=1.0)


@final
class DDGMSS(DDGM):
    r"""Classify nodes over graphs sampled on two spheres.

    As dDGM-EHH, with the product of two spheres:

    .. math:: d^2 = \alpha_1 d_S^2 + \alpha_2 d_S^2, \quad d_S(x, y) = \arccos \langle x, y \rangle

    Args:
        settings: All choices.
        problem: What the sizes of the first and last layer are taken from.

    Departures:
        Those of dDGM-EHH; points are projected onto the spheres, so that each has three
        dimensions for four coordinates.
    """

    citation: ClassVar[str] = _BORDE
    presets = _presets(metric="spherical+spherical", latent_dim=8, temperature=1.0)
