"""What the page shows of a trained model."""

import numpy as np
import torch
from torch import Tensor

from bpgnn.data.files.columns import Columns
from bpgnn.explain.contributions import contributions
from bpgnn.explain.export import classes_of, entropy, names_of
from bpgnn.explain.pairs import ADDED, OBSERVED, Pairs, pairs_of
from bpgnn.explore.scene import BeforeAfter, Scene
from bpgnn.graph import Graph
from bpgnn.infer.probabilities import EdgeProbabilities
from bpgnn.training.compare import homophily
from bpgnn.training.evaluate import score
from bpgnn.training.fit import Fit

# Features of a node that are named, and letters of each.
_FEATURES, _LETTERS = 6, 40
# Added pairs that the page takes: every sample adds thousands, most of them unlikely.
MOST_ADDED = 100_000


@torch.no_grad()
def scene_of(fitted: Fit, title: str, columns: Columns | None = None) -> Scene:
    """Gather all that the page shows of a training.

    All observed pairs are on it, and of those that were added the likeliest 100 000.

    Args:
        fitted: What the training gave.
        title: What the page is called.
        columns: What the columns of features were, where they have names.

    Returns:
        The scene.
    """
    data = fitted.dataset
    pairs = _likeliest(pairs_of(fitted))
    found = fitted.method.edge_probabilities(fitted.output)
    nodes, witnesses = pairs.nodes, _nobody(pairs.nodes.size(1))
    if "product" in found:
        nodes, witnesses = _witnessed(found["product"], pairs.nodes)
    best = fitted.probabilities.max(1)
    return Scene(
        title=title,
        node_names=np.array(names_of(data), dtype=object),
        places=_places(fitted),
        class_names=np.array(classes_of(data), dtype=object),
        labels=data.labels.numpy(),
        predictions=best.indices.numpy(),
        confidence=best.values.double().clamp(0, 1).numpy(),
        entropy=entropy(fitted.probabilities).numpy(),
        part=_parts(fitted),
        features=_features(fitted, columns),
        pairs=nodes.numpy(),
        kind=np.where(pairs.kind == OBSERVED, "kept", pairs.kind),
        weight=pairs.probability.clamp(0, 1).numpy(),
        frequency=pairs.frequency.numpy(),
        witness_pointer=witnesses[0],
        witness_nodes=witnesses[1],
        witness_shares=witnesses[2],
        witness_similarity=witnesses[3],
        figures=_figures(fitted),
    )


def _likeliest(pairs: Pairs) -> Pairs:
    added = torch.from_numpy(pairs.kind == ADDED)
    if int(added.sum()) <= MOST_ADDED:
        return pairs
    rank = pairs.probability.masked_fill(~added, torch.inf)
    count = int((~added).sum()) + MOST_ADDED
    kept = rank.topk(count).indices.sort().values
    return Pairs(
        pairs.nodes[:, kept],
        pairs.kind[kept.numpy()],
        pairs.probability[kept],
        pairs.frequency[kept],
    )


def _witnessed(
    probabilities: EdgeProbabilities, pairs: Tensor
) -> tuple[Tensor, tuple[np.ndarray, ...]]:
    """Turn each pair so that its likelier row comes first; list who speaks for it."""
    pairs = pairs.to(probabilities.device)
    forth, back = (probabilities.entries(ends) for ends in (pairs.flip(0), pairs))
    turned = torch.where(forth >= back, pairs, pairs.flip(0))
    votes = contributions(probabilities, turned.flip(0))
    # In the symmetric product witnesses of the other end speak as well; the page shows those of
    # the first.
    ours = votes.sides == 0
    counts = torch.bincount(votes.entry[ours], minlength=pairs.size(1))
    pointer = torch.cat([counts.new_zeros(1), counts.cumsum(0)])
    parts = (pointer, votes.nodes[ours], votes.share[ours], votes.likeness[ours])
    return turned.cpu(), tuple(part.cpu().numpy() for part in parts)


def _nobody(count: int) -> tuple[np.ndarray, ...]:
    return (np.zeros(count + 1, np.int64), np.zeros(0, np.int64), np.zeros(0), np.zeros(0))


def _places(fitted: Fit) -> np.ndarray:  # (N, 2)
    """Lay nodes out by the two widest directions of their latent points, or predictions."""
    found = fitted.method.edge_probabilities(fitted.output)
    points = fitted.probabilities.clamp(min=1e-6).log()
    if "latent" in found:
        points = getattr(found["latent"], "latent", points)
    points = points.detach().cpu().double()
    if points.size(1) < 2:
        points = torch.cat([points, torch.zeros_like(points)], dim=1)
    centred = points - points.mean(0)
    directions = torch.linalg.eigh(centred.T @ centred).eigenvectors[:, -2:].flip(1)
    return (centred @ directions).numpy()


def _parts(fitted: Fit) -> np.ndarray:  # (N,)
    split = fitted.dataset.chosen_split()
    part = np.full(fitted.dataset.num_nodes, "", dtype=object)
    for name in ("train", "validation", "test"):
        part[getattr(split, name).numpy()] = name
    return part


def _features(fitted: Fit, columns: Columns | None) -> np.ndarray:  # (N,)
    """Name what stands out in each node: its largest features, once they are on one scale."""
    data = fitted.dataset
    texts = np.full(data.num_nodes, "", dtype=object)
    if columns is None:
        return texts
    prepared = fitted.problem.features
    if not isinstance(prepared, Tensor):
        return texts
    raw = data.features  # dense, as what was made of it is
    count = min(_FEATURES, raw.size(1))
    largest = prepared.abs().topk(count, dim=1).indices.cpu().tolist()
    names = columns.feature_names
    for node, chosen in enumerate(largest):
        words = [f"{names[place][:_LETTERS]} {raw[node, place]:.4g}" for place in chosen]
        texts[node] = ", ".join(words)
    return texts


def _figures(fitted: Fit) -> tuple[BeforeAfter, ...]:
    data, latent = fitted.dataset, fitted.latent_graph
    observed = data.graph or Graph.empty(data.num_nodes)
    alike = BeforeAfter(
        "Edges between nodes of one label",
        homophily(observed, data.labels),
        None if latent is None else homophily(latent, data.labels),
    )
    test = data.chosen_split().test
    if not bool(test.any()):
        return (alike,)
    votes = [None if graph is None else _vote(fitted, graph) for graph in (observed, latent)]
    right = score(fitted.probabilities, data.labels, test).accuracy
    return (
        alike,
        BeforeAfter("Test nodes that a vote of labelled neighbours gets right", *votes),
        BeforeAfter("Test nodes that the model gets right", None, right),
    )


def _vote(fitted: Fit, graph: Graph) -> float:
    """Let each node have the class that most of its neighbours in training have, by weight."""
    data = fitted.dataset
    shown = data.labels.masked_fill(~data.chosen_split().train, -1)[graph.sources]
    known = shown >= 0
    total = torch.zeros(data.num_nodes, data.num_classes, dtype=torch.double)
    places = (graph.targets[known], shown[known])
    total.index_put_(places, graph.weights[known].double(), accumulate=True)
    test = data.chosen_split().test & (data.labels >= 0)
    # Nobody to ask: no answer, and so not a right one.
    right = (total.argmax(1) == data.labels) & (total.sum(1) > 0)
    return float(right[test].double().mean())
