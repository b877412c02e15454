"""How good predictions are."""

from dataclasses import dataclass
from typing import final

import torch
from torch import Tensor

from bpgnn.method import Method, Output, Problem


@final
@dataclass(frozen=True)
class Scores:
    """Hold the figures of one set of nodes; all but the loss are shares from 0 to 1."""

    loss: float
    accuracy: float
    macro_f1: float
    balanced_accuracy: float


@torch.no_grad()
def predict(
    method: Method, problem: Problem, *, generator: torch.Generator, num_samples: int | None = None
) -> Output:
    """Run a method in evaluation mode, over as many sampled graphs as its settings say."""
    method.eval()
    samples = num_samples or method.settings.num_samples
    return method(problem, generator=generator, num_samples=samples)


def score(probabilities: Tensor, labels: Tensor, mask: Tensor) -> Scores:  # (N, C), (N,), (N,)
    """Compare class probabilities with the labels of the nodes in a mask.

    Example:
        >>> sure = torch.tensor([[0.9, 0.1], [0.6, 0.4]])
        >>> score(sure, torch.tensor([0, 1]), torch.tensor([True, True])).accuracy
        0.5
    """
    known = mask & (labels >= 0)
    probabilities, labels = probabilities[known], labels[known]
    guess = probabilities.argmax(1)
    chosen = probabilities.gather(1, labels.unsqueeze(1)).squeeze(1)
    num_classes = probabilities.size(1)
    right = torch.bincount(labels[guess == labels], minlength=num_classes).double()
    actual = torch.bincount(labels, minlength=num_classes).double()
    guessed = torch.bincount(guess, minlength=num_classes).double()
    present = actual > 0
    recall = right[present] / actual[present]
    # A class that is neither there nor guessed has no part in the mean, as in scikit-learn.
    met = (actual + guessed) > 0
    f1 = 2 * right[met] / (actual + guessed)[met]
    return Scores(
        loss=float(-chosen.clamp(min=1e-12).log().mean()),
        accuracy=float((guess == labels).double().mean()),
        macro_f1=float(f1.mean()),
        balanced_accuracy=float(recall.mean()),
    )
