"""Draw docs/what-comes-out.png: what BPGNN does with Cora when random edges were added.

    python scripts/readme_figure.py

Needs `pip install bpgnn[report]`. Left: one run (its command is in the title's note). Right: the
runs in results/runs.jsonl.
"""

import json
import statistics
from pathlib import Path

import matplotlib as mpl
import numpy as np
import torch
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

from bpgnn.graph import Graph
from bpgnn.training.fit import Plan, fit
from bpgnn.training.run import load_for

ROOT = Path(__file__).parent.parent
BLUE, ORANGE = "#0072B2", "#D55E00"  # told apart by the colour-blind, and in grey


def latent_weights(latent: Graph, pairs: torch.Tensor) -> np.ndarray:
    """Look up the mean weight of both directions of each pair; 0 where never drawn."""
    matrix = latent.to_scipy()
    low, high = pairs.numpy()
    return np.asarray((matrix[low, high] + matrix[high, low]) / 2).ravel()


def pair_keys(graph: Graph) -> torch.Tensor:
    """Number the undirected pairs of a graph."""
    low, high = graph.undirected_pairs()
    return low * graph.num_nodes + high


def draw_weights(axes: Axes) -> None:
    """Show how the latent graph weighs true and added edges."""
    plan = Plan(seed=0, add_edges=0.75)
    clean, noisy = load_for(Plan(), "cora", None), load_for(plan, "cora", None)
    latent = fit(noisy, plan).latent_graph
    pairs = noisy.graph.undirected_pairs()
    true = torch.isin(pair_keys(noisy.graph), pair_keys(clean.graph))
    weights = latent_weights(latent, pairs)
    bins = np.linspace(0, np.quantile(weights, 0.99), 30)
    for name, mask, colour, hatch in (
        ("in Cora", true.numpy(), BLUE, ""),
        ("added at random", ~true.numpy(), ORANGE, "///"),
    ):
        share = np.ones(mask.sum()) / mask.sum()
        axes.hist(
            np.clip(weights[mask], 0, bins[-1]),
            bins,
            weights=share,
            alpha=0.6,
            color=colour,
            hatch=hatch,
            label=f"{name} ({mask.sum():,} pairs)",
        )
    axes.set(
        xlabel="weight in the latent graph",
        ylabel="share of pairs",
        title="The latent graph lets wrong edges fade",
    )
    axes.legend(frameon=False)


def draw_accuracy(axes: Axes) -> None:
    """Show test accuracy with and without Boolean layers, clean and noisy."""
    lines = (ROOT / "results" / "runs.jsonl").read_text().splitlines()
    records = [json.loads(line) for line in lines]
    tuned = [r for r in records if r["dataset"] == "cora" and r["preset"] == "tuned"]
    for place, (boolean, colour, hatch) in enumerate(((False, ORANGE, "///"), (True, BLUE, ""))):
        means, errors = [], []
        for noise in (0.0, 0.75):
            seen = [
                100 * r["test_accuracy"]
                for r in tuned
                if r["add_edges"] == noise
                and bool(r["settings"]["boolean_layers"]) == boolean
                and r["settings"]["residual"] == "boolean"
            ]
            means.append(statistics.mean(seen))
            errors.append(statistics.stdev(seen))
        name = "BPGNN" if boolean else "same GCN on the observed graph"
        spots = np.arange(2) + (place - 0.5) * 0.36
        bars = axes.bar(
            spots,
            means,
            0.34,
            yerr=errors,
            capsize=3,
            color=colour,
            hatch=hatch,
            alpha=0.8,
            label=name,
        )
        axes.bar_label(bars, fmt="%.1f", padding=3)
    axes.set(
        xticks=[0, 1],
        xticklabels=["Cora", "Cora + 75 % random edges"],
        ylim=(60, 100),
        ylabel="test accuracy, %",
        title="Mean and standard deviation over seeds",
    )
    axes.legend(frameon=False, loc="upper right")


def main() -> None:
    """Draw both halves."""
    torch.set_num_threads(1)
    mpl.rcParams.update({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False})
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
    draw_weights(left)
    draw_accuracy(right)
    figure.savefig(ROOT / "docs" / "what-comes-out.png", dpi=130)


if __name__ == "__main__":
    main()
