"""Cases in which every two levels of all factors meet, and a few larger ones."""

import random
from dataclasses import asdict, dataclass
from itertools import combinations, product

import torch

from tests.infer.examples import (
    FORMS,
    METRIC_NAMES,
    SHARPNESS,
    VOTES,
    edge_probabilities,
    graph_of,
    kernel_of,
    latent_points,
)
from tests.infer.sample.exactness import NEVER

ALL_BUT_ONE = -1


@dataclass(frozen=True)
class Case:
    """Name one level of every factor; None where a factor has no part in the form."""

    shape: str
    sharpness: str
    metric: str
    form: str
    k: int
    self_pairs: bool = False
    votes: str | None = "equal"
    edges: str | None = "plain"
    self_loops: bool | None = True

    def __str__(self):
        return " ".join(f"{name}={level}" for name, level in asdict(self).items())

    def build(self):
        """Build P~ and say how many neighbours to draw."""
        pairs, latent = SHAPES[self.shape]()
        kernel = kernel_of(latent, SHARPNESS[self.sharpness], self.metric)
        graph = graph_of(
            pairs,
            len(latent),
            directed=self.edges == "directed",
            weighted=self.edges == "weighted",
        )
        probabilities = edge_probabilities(
            kernel, graph, form=self.form, votes=self.votes, self_loops=self.self_loops
        )
        return probabilities, len(latent) - 1 if self.k == ALL_BUT_ONE else self.k

    def log_weights(self):  # (N, N)
        """Compute what each row is drawn in proportion to, by the definition."""
        log_dense = self.build()[0].log_dense().detach().double()
        if not self.self_pairs:
            log_dense.fill_diagonal_(NEVER)
        return log_dense.numpy()


def path():
    return [(i, i + 1) for i in range(5)], 0.5 * latent_points(6, 4)


def star():
    return [(0, j) for j in range(1, 8)], 0.5 * latent_points(8, 4)


def two_far_clusters():
    latent = 0.3 * latent_points(8, 4)
    latent[:4, 0] -= 3
    latent[4:, 0] += 3
    cliques = [*combinations(range(4), 2), *combinations(range(4, 8), 2)]
    return [*cliques, (3, 4)], latent


def duplicate_points():
    return [(i, (i + 1) % 7) for i in range(7)], torch.zeros(7, 4, dtype=torch.double)


def isolated_nodes():
    return [(0, 1), (1, 2), (0, 2), (3, 4)], 0.5 * latent_points(7, 4)


def one_dense_part():
    latent = latent_points(12, 4)
    latent[:9] *= 0.05
    return [*combinations(range(5), 2), *((i, i + 1) for i in range(5, 11))], latent


def cloud(num_nodes):
    """Scatter clumps of points, so that a tree has cells near and far; one node is a hub."""
    latent = 0.25 * latent_points(num_nodes, 4)
    latent += latent_points(6, 4, seed=1)[torch.arange(num_nodes) % 6]
    ring = [(i, (i + 1) % num_nodes) for i in range(num_nodes)]
    far = [(i, (7 * i + 3) % num_nodes) for i in range(0, num_nodes, 2)]
    return [*ring, *far, *((0, j) for j in range(2, num_nodes // 2))], latent


SHAPES = {
    "path": path,
    "star": star,
    "two far clusters": two_far_clusters,
    "duplicate points": duplicate_points,
    "isolated nodes": isolated_nodes,
    "one dense part": one_dense_part,
    "cloud of 60": lambda: cloud(60),
    "cloud of 100": lambda: cloud(100),
    "cloud of 200": lambda: cloud(200),
}
FACTORS = {
    "shape": [shape for shape in SHAPES if "cloud" not in shape],
    "sharpness": SHARPNESS,
    "metric": METRIC_NAMES,
    "form": FORMS,
    "k": (2, 3, ALL_BUT_ONE),
    "self_pairs": (False, True),
    "votes": VOTES,
    "edges": ("plain", "weighted", "directed"),
    "self_loops": (True, False),
}


def tidied(levels):
    """Make a case of chosen levels, without those that have no part in its form."""
    levels = dict(levels)
    if levels["form"] in ("sum", "kernel"):
        levels |= {"votes": None, "self_loops": None}
    if levels["form"] == "kernel":
        levels["edges"] = None
    if levels["votes"] == "mixed":
        levels["self_loops"] = True  # a node without itself has no share of its own
    return Case(**levels)


def pairs_in(case):
    """List the pairs of levels that meet in a case."""
    levels = [item for item in asdict(case).items() if item[1] is not None]
    return set(combinations(levels, 2))


def pairs_wanted():
    """List the pairs of levels that can meet in any case at all."""
    plainest = {name: next(iter(levels)) for name, levels in FACTORS.items()}
    wanted = set()
    for (one, first), (two, second) in combinations(FACTORS.items(), 2):
        for pair in product(first, second):
            both = tuple(zip((one, two), pair, strict=True))
            if both in pairs_in(tidied(plainest | dict(both))):
                wanted.add(both)
    return wanted


def covering_cases(tries=60):
    """Choose few cases, each the best of some random ones that hold a pair still missing."""
    chance = random.Random(0)
    missing, cases = pairs_wanted(), []
    while missing:
        pair = dict(min(missing, key=repr))
        options = [
            tidied({name: chance.choice(list(levels)) for name, levels in FACTORS.items()} | pair)
            for _ in range(tries)
        ]
        best = max(options, key=lambda case: len(pairs_in(case) & missing))
        missing -= pairs_in(best)
        cases.append(best)
    return cases


SMALL = covering_cases()
LARGE = [
    Case(shape, sharpness, METRIC_NAMES[turn % len(METRIC_NAMES)], form, k=2 + turn % 4)
    for turn, (shape, sharpness, form) in enumerate(
        [
            ("cloud of 60", "middle", "symmetric"),
            ("cloud of 60", "middle", "product"),
            ("cloud of 60", "sharp", "kernel"),
            ("cloud of 60", "sharp", "sum"),
            ("cloud of 100", "flat", "symmetric"),
            ("cloud of 100", "flat", "product"),
            ("cloud of 200", "sharp", "product"),
            ("cloud of 100", "middle", "product"),
        ]
    )
]
