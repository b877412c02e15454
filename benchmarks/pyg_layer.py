"""What does the PyG layer do for PyG's models, and which edge weight teaches it more?

python benchmarks/pyg_layer.py [--steps 100] [--seeds 3]
"""

import argparse
from collections.abc import Callable
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.nn import GCNConv, GINConv, GraphConv, SAGEConv
from torch_geometric.typing import OptPairTensor

import bpgnn


class WeightedGIN(GINConv):
    """Multiply each message by its edge's weight."""

    # PyG reads here what `propagate` is given.
    propagate_type: ClassVar = {"x": OptPairTensor, "edge_weight": Tensor}

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor) -> Tensor:
        """Add up weighted neighbours."""
        out = self.propagate(edge_index, x=(x, x), edge_weight=edge_weight)
        return self.nn(out + (1 + self.eps) * x)

    def message(self, x_j: Tensor, edge_weight: Tensor) -> Tensor:
        """Weigh a message."""
        return edge_weight.view(-1, 1) * x_j


def gin(wide: int, narrow: int) -> WeightedGIN:
    """Make a GIN layer."""
    return WeightedGIN(nn.Sequential(nn.Linear(wide, 32), nn.ReLU(), nn.Linear(32, narrow)))


def weighted_sage(wide: int, narrow: int) -> GraphConv:
    """Make a SAGE layer that takes weights: the mean of weighted messages, and the node."""
    return GraphConv(wide, narrow, aggr="mean")


# Each model's layers, whether they take weights, the layer's edge weight, or None for the
# observed graph alone, and what the graph loss counts for.
CASES: dict[str, tuple[Callable, bool, str | None, float]] = {
    "GCNConv, observed": (GCNConv, True, None, 0.0),
    "GCNConv, votes": (GCNConv, True, "votes", 0.0),
    "GCNConv, probability": (GCNConv, True, "probability", 0.0),
    "GraphConv, observed": (GraphConv, True, None, 0.0),
    "GraphConv, votes": (GraphConv, True, "votes", 0.0),
    "GraphConv, probability": (GraphConv, True, "probability", 0.0),
    "GIN, observed": (gin, True, None, 0.0),
    "GIN, votes": (gin, True, "votes", 0.0),
    "GIN, probability": (gin, True, "probability", 0.0),
    "SAGEConv, observed": (SAGEConv, False, None, 0.0),
    "SAGE by GraphConv, votes": (weighted_sage, True, "votes", 0.0),
    "SAGE by GraphConv, probability": (weighted_sage, True, "probability", 0.0),
    "SAGEConv, graph loss": (SAGEConv, False, "votes", 1.0),
    "SAGEConv, untrained graph": (SAGEConv, False, "votes", 0.0),
}


def train(case: str, steps: int, seed: int) -> tuple[float, float]:
    """Train once; return the test accuracy and the mean length of the layer's gradient."""
    make, weighted, weighting, reward = CASES[case]
    data = bpgnn.to_pyg(bpgnn.block_model(400, wrong_edges=0.4, seed=seed))
    torch.manual_seed(seed)  # noqa: TID251  PyG's layers draw from it
    infer = bpgnn.BooleanProductGraph(16, message_weight=weighting or "votes")
    convs = nn.ModuleList([make(16, 32), make(32, 4)])
    parameters = [*infer.parameters(), *convs.parameters()]
    optimizer = torch.optim.Adam(parameters, lr=0.01, weight_decay=5e-4)

    def scores() -> tuple[Tensor, Tensor, Tensor]:
        edge_index, log_prob = data.edge_index, torch.zeros(0)
        edge_weight = torch.ones(edge_index.size(1))
        if weighting is not None:
            edge_index, edge_weight, log_prob = infer(data.x, data.edge_index)
        rest = (edge_index, edge_weight) if weighted else (edge_index,)
        hidden = F.dropout(F.relu(convs[0](data.x, *rest)), 0.5, training=infer.training)
        return convs[1](hidden, *rest), edge_index, log_prob

    lengths = []
    for _ in range(steps):
        logits, edge_index, log_prob = scores()
        loss = F.cross_entropy(logits[data.train_mask], data.y[data.train_mask])
        if reward > 0:
            right = (logits.argmax(-1) == data.y)[data.train_mask]
            loss = loss + reward * infer.graph_loss(log_prob, edge_index, right, data.train_mask)
        optimizer.zero_grad()
        loss.backward()
        squares = [p.grad.square().sum() for p in infer.parameters() if p.grad is not None]
        lengths.append(float(sum(squares)) ** 0.5)
        optimizer.step()
    infer.eval()
    with torch.no_grad():
        guess = sum(scores()[0].softmax(-1) for _ in range(10)).argmax(-1)
    right = (guess == data.y)[data.test_mask]
    return 100 * float(right.float().mean()), sum(lengths) / len(lengths)


def main() -> None:
    """Train every case and print one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seeds", type=int, default=3)
    chosen = parser.parse_args()
    print("| model, graph | test accuracy, % | gradient of the layer |\n|---|---|---|")
    for case in CASES:
        found = torch.tensor([train(case, chosen.steps, seed) for seed in range(chosen.seeds)])
        accuracy, length = found.mean(0).tolist()
        deviation = found[:, 0].std(correction=0).item()
        print(f"| {case} | {accuracy:.1f} ± {deviation:.1f} | {length:.2g} |", flush=True)


if __name__ == "__main__":
    main()
