"""Draw docs/what-comes-out.png: what BPGNN does with Cora when random edges were added.

    python scripts/readme_figure.py

Needs `pip install bpgnn[report]`. Left: one run (its command is in the title's note). Right: the
runs in results/runs.jsonl.
"""

import statistics
from pathlib import Path

import matplotlib as mpl
import numpy as np
import torch
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

from bpgnn.experiments.run import over_seeds
from bpgnn.experiments.store import Store
from bpgnn.report.table import lines_of
from bpgnn.training.compare import merged, pair_keys
from bpgnn.training.fit import Fit, Plan, fit
from bpgnn.training.run import load_for

ROOT = Path(__file__).parent.parent
BLUE, ORANGE = "#0072B2", "#D55E00"  # told apart by the colour-blind, and in grey


def message_weights(fitted: Fit, pairs: torch.Tensor) -> np.ndarray:
    """Look up what the messages of each observed pair count for, the mean of both directions."""
    matrix = merged(fitted.method.message_graphs(fitted.output, fitted.problem)).to_scipy()
    low, high = pairs.numpy()
    return np.asarray((matrix[low, high] + matrix[high, low]) / 2).ravel()


def draw_weights(axes: Axes) -> None:
    """Show what the messages of true and of added edges count for."""
    plan = Plan(seed=0, add_edges=0.75)
    clean, noisy = load_for(Plan(), "cora", None), load_for(plan, "cora", None)
    fitted = fit(noisy, plan)
    pairs = noisy.graph.undirected_pairs()
    true = torch.isin(pair_keys(noisy.graph), pair_keys(clean.graph))
    weights = message_weights(fitted, pairs)
    weights /= np.median(weights)
    bins = np.geomspace(*np.quantile(weights, [0.005, 0.995]), 30)
    for name, mask, colour, hatch in (
        ("in Cora", true.numpy(), BLUE, ""),
        ("added at random", ~true.numpy(), ORANGE, "///"),
    ):
        print(f"{name}: {(weights[mask] > 1).mean():.2f} count for more than the median pair")
        share = np.ones(mask.sum()) / mask.sum()
        axes.hist(
            np.clip(weights[mask], bins[0], bins[-1]),
            bins,
            weights=share,
            alpha=0.6,
            color=colour,
            hatch=hatch,
            label=f"{name} ({mask.sum():,} pairs)",
        )
    axes.set(
        xscale="log",
        xlabel="what its messages count for (the median pair: 1)",
        ylabel="share of pairs",
        title="Nobody said which edges are wrong",
    )
    axes.legend(frameon=False)


def draw_accuracy(axes: Axes) -> None:
    """Show test accuracy with and without a latent graph, clean and noisy."""
    lines = Store(ROOT / "results" / "runs.jsonl").read()
    sides = (
        ("GCN", ORANGE, "///", {"method": "gcn"}),
        ("BPGNN's network, no latent graph", "0.6", "...", {"changes": {"boolean_layers": 0}}),
        ("BPGNN", BLUE, "", {}),
    )
    for place, (name, colour, hatch, own) in enumerate(sides):
        means, errors = [], []
        for noise in (0.0, 0.75):
            runs = over_seeds("cora", range(10), add_edges=noise, **own)
            seen = [100 * line["test_accuracy"] for line in lines_of(runs, lines)]
            means.append(statistics.mean(seen))
            errors.append(statistics.stdev(seen))
        spots = np.arange(2) + (place - 1) * 0.27
        bars = axes.bar(
            spots,
            means,
            0.25,
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
        ylim=(60, 95),
        ylabel="test accuracy, %",
        title="Mean and standard deviation over seeds",
    )
    axes.legend(
        frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.08), ncols=3, columnspacing=1.0
    )


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
