"""Small cases with every kind of edge probabilities, and their definition in plain loops."""

import math

import torch

from bpgnn.graph import Graph
from bpgnn.infer.boolean import LOG_TINY, BooleanProduct
from bpgnn.infer.probabilities import KernelProbabilities, Symmetrised
from bpgnn.infer.residual import GraphSum
from bpgnn.infer.spaces import METRICS, make_metric
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

METRIC_NAMES = (*METRICS, "euclidean+hyperbolic", "hyperbolic+spherical")
FORMS = ("product", "symmetric", "floored", "sum", "kernel")
VOTES = ("equal", "gated", "mixed")


def observed_graph(shape, num_nodes=6, *, directed=False, weighted=False):
    return graph_of(EDGES[shape], num_nodes, directed=directed, weighted=weighted)


def graph_of(pairs, num_nodes, *, directed=False, weighted=False):
    pairs = torch.tensor(pairs).t()
    edges = pairs if directed else torch.cat([pairs, pairs.flip(0)], dim=1)
    weight = 0.5 + torch.arange(edges.size(1), dtype=torch.float) if weighted else None
    return Graph.from_edge_index(edges, num_nodes, weight)


def latent_points(num_nodes=6, dim=2, seed=0, dtype=torch.double):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(num_nodes, dim, generator=generator, dtype=dtype)


def make(kind, shape="path", sharpness="middle", latent=None):
    """Build edge probabilities and the matrix that plain loops give for them."""
    latent = latent_points() if latent is None else latent
    graph = observed_graph(shape, directed=kind == "directed", weighted=kind == "weighted")
    curved = kind == "curved"
    kernel = kernel_of(latent, SHARPNESS[sharpness], "hyperbolic" if curved else "euclidean")
    probabilities = edge_probabilities(
        kernel,
        graph,
        form=kind if kind in FORMS else "product",
        votes=kind if kind in VOTES else "equal",
        self_loops=kind != "no self",
    )
    p = plain_kernel(kernel.latent, SHARPNESS[sharpness], curved=curved)
    if kind == "kernel":
        return probabilities, p
    if kind == "sum":
        a = torch.from_numpy(graph.to_scipy().toarray()).double()
        return probabilities, (a + 0.3 * torch.tensor(p, dtype=torch.double)).tolist()
    matrix = plain_product(kind, graph, p)
    if kind == "symmetric":
        matrix = [[(matrix[i][j] + matrix[j][i]) / 2 for j in range(6)] for i in range(6)]
    return probabilities, matrix


def kernel_of(latent, sharpness, metric="euclidean"):
    """Build P over points that are put on a space."""
    metric = make_metric(metric, latent.size(1)).to(latent.dtype)
    sharpness = torch.tensor(sharpness, dtype=latent.dtype)
    return KernelProbabilities(metric.embed(latent), sharpness, metric)


def edge_probabilities(kernel, graph, *, form, votes="equal", self_loops=True):
    """Join P with a graph in one of the ways that a layer can."""
    if form == "kernel":
        return kernel
    if form == "sum":
        return GraphSum(graph, torch.tensor(0.3, dtype=kernel.latent.dtype).log(), kernel)
    witnesses = witness_graph(graph, self_loops=self_loops)
    if votes == "gated":
        weights = gated_votes(witnesses, kernel, kernel.sharpness)
    elif votes == "mixed":
        share = torch.linspace(0.1, 0.9, graph.num_nodes, dtype=kernel.latent.dtype)
        weights = mixed_votes(witnesses, share)
    else:
        weights = equal_votes(witnesses)
    floor = LOG_TINY - witnesses.in_degree.clamp(min=1).double().log()
    product = BooleanProduct(witnesses, weights, kernel, floor if form == "floored" else None)
    return Symmetrised(product) if form == "symmetric" else product


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
