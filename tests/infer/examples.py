"""Small cases with every kind of edge probabilities, and their definition in plain loops."""

import math

import torch

from bpgnn.graph import Graph
from bpgnn.infer.boolean import BooleanProduct
from bpgnn.infer.geometry import Euclidean
from bpgnn.infer.probabilities import KernelProbabilities, Symmetrised
from bpgnn.infer.residual import GraphSum
from bpgnn.infer.spaces import Hyperbolic
from bpgnn.infer.witness import equal_votes, gated_votes, mixed_votes, witness_graph

EDGES = {
    "path": [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)],
    "star": [(0, j) for j in range(1, 6)],
    "isolated": [(0, 1), (1, 2)],
}
SHARPNESS = {"flat": 1e-3, "middle": 1.0, "sharp": 40.0}
KINDS = (
    "kernel",
    "product",
    "no self",
    "weighted",
    "directed",
    "gated",
    "mixed",
    "symmetric",
    "sum",
    "curved",
)


def observed_graph(shape, num_nodes=6, *, directed=False, weighted=False):
    pairs = torch.tensor(EDGES[shape]).t()
    edges = pairs if directed else torch.cat([pairs, pairs.flip(0)], dim=1)
    weight = 0.5 + torch.arange(edges.size(1), dtype=torch.float) if weighted else None
    return Graph.from_edge_index(edges, num_nodes, weight)


def latent_points(num_nodes=6, dim=2, seed=0, dtype=torch.double):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(num_nodes, dim, generator=generator, dtype=dtype)


def make(kind, shape="path", sharpness="middle", latent=None):
    """Build edge probabilities and the matrix that plain loops give for them."""
    latent = latent_points() if latent is None else latent
    metric = Hyperbolic() if kind == "curved" else Euclidean()
    latent = metric.embed(latent)
    kernel = KernelProbabilities(
        latent, torch.tensor(SHARPNESS[sharpness], dtype=latent.dtype), metric
    )
    graph = observed_graph(shape, directed=kind == "directed", weighted=kind == "weighted")
    p = plain_kernel(latent, SHARPNESS[sharpness], curved=kind == "curved")
    if kind == "kernel":
        return kernel, p
    if kind == "sum":
        scale = torch.tensor(0.3, dtype=latent.dtype)
        a = torch.from_numpy(graph.to_scipy().toarray()).double()
        return GraphSum(graph, scale.log(), kernel), (
            a + 0.3 * torch.tensor(p, dtype=torch.double)
        ).tolist()
    witnesses = witness_graph(graph, self_loops=kind != "no self")
    if kind == "gated":
        votes = gated_votes(witnesses, kernel, kernel.sharpness)
    elif kind == "mixed":
        votes = mixed_votes(witnesses, torch.linspace(0.1, 0.9, 6, dtype=latent.dtype))
    else:
        votes = equal_votes(witnesses)
    product = BooleanProduct(witnesses, votes, kernel)
    matrix = plain_product(kind, graph, p)
    if kind == "symmetric":
        both = [[(matrix[i][j] + matrix[j][i]) / 2 for j in range(6)] for i in range(6)]
        return Symmetrised(product), both
    return product, matrix


def plain_kernel(latent, sharpness, *, curved=False):
    rows, distance = latent.tolist(), plain_hyperbolic_distance if curved else math.dist
    return [[math.exp(-sharpness * distance(a, b) ** 2) for b in rows] for a in rows]


def plain_hyperbolic_distance(a, b):
    edge = (1 - math.hypot(*a) ** 2) * (1 - math.hypot(*b) ** 2)
    return math.acosh(1 + 2 * math.dist(a, b) ** 2 / edge)


def plain_product(kind, graph, p):
    """Compute the product of eq. PBMM entry by entry."""
    n = graph.num_nodes
    a = graph.to_scipy().toarray().tolist()
    out = []
    for i in range(n):
        own = [k for k in range(n) if a[i][k] > 0]
        weight = {k: a[i][k] for k in own}
        if kind != "no self":
            weight[i] = sum(weight.values()) / len(own) if own else 1.0
        if kind == "gated":
            weight = {k: w * p[i][k] for k, w in weight.items()}
        total = sum(weight.values())
        row = [
            sum(w * p[k][j] for k, w in weight.items()) / total if total else 1e-24
            for j in range(n)
        ]
        if kind == "mixed":
            share = 0.1 + 0.8 * i / (n - 1)
            row = [share * p[i][j] + (1 - share) * row[j] for j in range(n)]
        out.append(row)
    return out
