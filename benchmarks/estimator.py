"""How accurate is the classifier with its defaults, beside what people take otherwise?

    python benchmarks/estimator.py              measure what is missing, print the table
    python benchmarks/estimator.py digits       only this
    python benchmarks/estimator.py --table      print what is there

`digits`: scikit-learn's digits with 20 labels a class and no graph, ten draws of the labels, on
the nodes without a label; the other side is `LabelSpreading` over 7 nearest neighbours on pixels
from 0 to 1. `cora`: Cora with 50 % random edges added, split `complete`, five seeds, on the test
nodes; the other side is PyG's GCN of two layers of 64, dropout 0.5, weight decay 5e-4, 200 epochs,
of which the one of the best validation accuracy is tested. Each seed is one JSON line, so that a
stopped run goes on where it was.
"""

import argparse
import statistics
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from parts.measure import circumstances
from parts.store import append_line, print_table, read_lines
from sklearn.datasets import load_digits
from sklearn.semi_supervised import LabelSpreading
from torch import Tensor, nn
from torch_geometric.nn import GCNConv

import bpgnn
from bpgnn.data.dataset import Dataset, Split
from bpgnn.data.prepare import prepare_features
from bpgnn.data.sparse import rows_to_scipy
from bpgnn.graph import Graph
from bpgnn.randomness import seeded_globally

STORE = Path(__file__).parent.parent / "results" / "estimator.jsonl"


def digits(seed: int) -> tuple[float, float]:
    """Compare on digits; return our accuracy and the other's."""
    features, truth = load_digits(return_X_y=True)
    draw = np.random.default_rng(100 + seed)
    known = np.zeros(len(truth), bool)
    for label in range(10):
        known[draw.permutation(np.flatnonzero(truth == label))[:20]] = True
    labels = np.where(known, truth, -1)
    ours = bpgnn.BPGNNClassifier(random_state=seed).fit(features, labels)
    theirs = LabelSpreading(kernel="knn", n_neighbors=7).fit(features / 16, labels)
    return _share(ours.transduction_ == truth, ~known), _share(
        theirs.transduction_ == truth, ~known
    )


def cora(seed: int) -> tuple[float, float]:
    """Compare on noisy Cora; return our accuracy and the other's."""
    data = bpgnn.load("cora")
    parts, truth = data.chosen_split(), data.labels.numpy()
    graph = bpgnn.add_edges(data.graph or Graph.empty(data.num_nodes), 0.5, seed=seed)
    labels = np.where(parts.train.numpy(), truth, -1)
    ours = bpgnn.BPGNNClassifier(random_state=seed)
    ours.fit(rows_to_scipy(data.features), labels, graph=graph.to_scipy())
    with seeded_globally(seed):  # PyG draws its weights and dropout there.
        theirs = _gcn(data, graph, parts)
    return _share(ours.transduction_ == truth, parts.test.numpy()), theirs


CASES: dict[str, tuple[Callable[[int], tuple[float, float]], int, str]] = {
    "digits": (digits, 10, "LabelSpreading"),
    "cora": (cora, 5, "GCN of PyG"),
}
"""What is compared, over how many seeds, and with whom."""


class _GCN(nn.Module):
    """Put two of PyG's layers on top of each other."""

    def __init__(self, num_features: int, num_classes: int) -> None:
        super().__init__()
        self.first, self.last = GCNConv(num_features, 64), GCNConv(64, num_classes)

    def forward(self, features: Tensor, edges: Tensor) -> Tensor:
        states = F.relu(self.first(F.dropout(features, 0.5, self.training), edges))
        return self.last(F.dropout(states, 0.5, self.training), edges)


def _gcn(data: Dataset, graph: Graph, parts: Split) -> float:
    features = prepare_features(data.features, data.feature_kind).to_dense()
    model = _GCN(data.num_features, data.num_classes)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    best, tested = -1.0, 0.0
    for _ in range(200):
        model.train()
        optimizer.zero_grad()
        scores = model(features, graph.edge_index)
        F.cross_entropy(scores[parts.train], data.labels[parts.train]).backward()
        optimizer.step()
        model.eval()
        with torch.no_grad():
            right = (model(features, graph.edge_index).argmax(1) == data.labels).numpy()
        validated = _share(right, parts.validation.numpy())
        if validated > best:
            best, tested = validated, _share(right, parts.test.numpy())
    return tested


def _share(right: np.ndarray, among: np.ndarray) -> float:
    return float(right[among].mean())


def measure(name: str, seed: int) -> None:
    """Measure one seed and write its line."""
    begun = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours, theirs = CASES[name][0](seed)
    line = {"case": name, "seed": seed, "bpgnn": ours, "other": theirs}
    spent = round(time.process_time() - begun, 1)
    append_line(STORE, {**line, "cpu_seconds": spent, **circumstances()})


def table() -> None:
    """Print means over seeds, in percent."""
    lines = read_lines(STORE)
    rows = []
    for name, (_, _, other) in CASES.items():
        found = [line for line in lines if line["case"] == name]
        if found:
            sides = ([100 * line[side] for line in found] for side in ("bpgnn", "other"))
            means = [statistics.mean(side) for side in sides]
            rows.append([name, *(f"{mean:.2f}" for mean in means), other, str(len(found))])
    print_table(["case", "BPGNNClassifier()", "the other", "which is", "seeds"], rows)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", help=f"of {', '.join(CASES)}; all if left out")
    parser.add_argument("--table", action="store_true", help="print what is there and stop")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    known = {(line["case"], line["seed"]) for line in read_lines(STORE)}
    for name in () if arguments.table else arguments.cases or CASES:
        for seed in range(CASES[name][1]):
            if (name, seed) not in known:
                measure(name, seed)
    table()


if __name__ == "__main__":
    main()
