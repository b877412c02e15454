"""Latent points, graphs and temperatures that samplers are measured on."""

import json
import math
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from bpgnn.data.synthetic import block_model
from bpgnn.graph import Graph
from bpgnn.infer.geometry import Euclidean
from bpgnn.randomness import generator_for, numpy_generator_for

REAL = {2_708: "cora", 7_650: "photo", 19_717: "pubmed"}
"""Sizes that are those of a data set; every other size is synthetic."""

WARM_UP = (300, 15_000)
"""Sizes that between them use all compiled code: the pass over all points, and the tree."""

TEMPERATURES = ("sharp", "middle", "flat")

_STEPS = 60
_CLASSES = 20
_SPREAD = 0.3  # of a class, where the centres of classes lie on the unit sphere
_ENTRIES = 20_000_000  # distances to set a temperature by: 200 rows of 100 000


class Inputs(NamedTuple):
    """Hold what a sampler draws from, at every temperature."""

    points: Tensor  # (N, D)
    graph: Graph
    sharpness: dict[str, float]
    """1/φ for each temperature."""
    effective: dict[str, float]
    """The effective number of neighbours that it gives."""


def load_inputs(num_nodes: int, dim: int, cache: Path) -> Inputs:
    """Read inputs from the cache, or make them and keep them there."""
    path = cache / f"{REAL.get(num_nodes, 'synthetic')}-{num_nodes}-{dim}.npz"
    if not path.exists():
        cache.mkdir(parents=True, exist_ok=True)
        made = make_inputs(num_nodes, dim)
        temperatures = json.dumps([made.sharpness, made.effective])
        unfinished = path.with_suffix(".part.npz")
        np.savez(
            unfinished, points=made.points, edges=made.graph.edge_index, temperatures=temperatures
        )
        unfinished.replace(path)
    with np.load(path) as stored:
        points, edges = torch.from_numpy(stored["points"]), torch.from_numpy(stored["edges"])
        return Inputs(points, Graph(edges, num_nodes), *json.loads(str(stored["temperatures"])))


def any_inputs(num_nodes: int) -> Inputs:
    """Make inputs of some size for which no temperature was looked for, to warm up with."""
    return Inputs(*clustered(num_nodes, 4), dict.fromkeys(TEMPERATURES, 1.0), {})


def make_inputs(num_nodes: int, dim: int) -> Inputs:
    """Make points and graph of one size, and set the temperatures."""
    name = REAL.get(num_nodes)
    points, graph = clustered(num_nodes, dim) if name is None else trained(name, dim)
    squares = _sampled_squares(points)
    wanted = dict(zip(TEMPERATURES, (2.0, 50.0, num_nodes / 2), strict=True))
    sharpness = {name: sharpness_for(squares, number) for name, number in wanted.items()}
    effective = {name: effective_neighbours(squares, s) for name, s in sharpness.items()}
    return Inputs(points, graph, sharpness, effective)


def trained(name: str, dim: int) -> tuple[Tensor, Graph]:
    """Take a data set's graph, and the latent points of a BPGNN trained on it for a while."""
    # These load scikit-learn, which takes longer than most cells.
    from bpgnn.training.fit import Plan, fit
    from bpgnn.training.run import load_for

    changes = {
        "latent_dim": dim,
        "max_steps": _STEPS,
        "evaluate_every": _STEPS,
        "num_samples": 1,
    }
    plan = Plan(changes=changes)
    data = load_for(plan, name, None)
    if data.graph is None:
        raise ValueError(f"{name} has no graph to sample from.")
    fitted = fit(data, plan)
    fitted.method.eval()
    with torch.no_grad():
        output = fitted.method(fitted.problem, generator=generator_for(0))
    return output.detail[0][0].inference.kernel.latent.contiguous(), data.graph


def clustered(num_nodes: int, dim: int) -> tuple[Tensor, Graph]:
    """Draw Gaussian points around a few centres, and edges of which most stay within one."""
    data = block_model(
        num_nodes,
        num_classes=_CLASSES,
        mean_degree=10,
        num_features=dim,
        wrong_edges=0.2,
        feature_noise=_SPREAD,
    )
    if data.graph is None or not isinstance(data.features, Tensor):
        raise ValueError("The block model gave no graph or no dense features.")
    return Euclidean().standardized(data.features), data.graph


def sharpness_for(squares: Tensor, wanted: float) -> float:
    """Find the 1/φ at which rows have so many effective neighbours, by bisection of its log."""
    low, high = -15.0, 15.0
    for _ in range(25):
        middle = (low + high) / 2
        if effective_neighbours(squares, math.exp(middle)) > wanted:
            low = middle
        else:
            high = middle
    return math.exp((low + high) / 2)


def effective_neighbours(squares: Tensor, sharpness: float) -> float:  # (R, N)
    """Compute (Σ P)² / Σ P² of whole rows of P, a node's own entry included; the median."""
    rows = (squares * -sharpness).exp_()
    return float((rows.sum(1).square() / rows.square_().sum(1)).median())


def _sampled_squares(points: Tensor) -> Tensor:  # (R, N)
    """Compute the squared distances from some of the points to all."""
    num_nodes = len(points)
    count = max(1, min(200, num_nodes, _ENTRIES // num_nodes))
    rows = numpy_generator_for(0).choice(num_nodes, count, replace=False)
    exact = torch.cdist(points[rows], points, compute_mode="donot_use_mm_for_euclid_dist")
    return exact.square_()
