"""What each part of the tuned model is worth."""

from bpgnn.experiments.experiment import Experiment
from bpgnn.experiments.run import Run, over_seeds
from bpgnn.methods.registry import settings_of

VARIANTS: dict[str, dict[str, object]] = {
    "as tuned": {},
    "equal votes of witnesses": {"witness": "equal"},
    "gated and mixed witnesses": {"witness": "mixed"},
    "no self among the witnesses": {"self_loops": False},
    "messages weighted by votes": {"message_weight": "votes"},
    "messages of weight one": {"message_weight": "none"},
    "eight sampled neighbours": {"k": 8},
    "thirty sampled neighbours": {"k": 30},
    "task loss kept from the graph": {"task_shapes_graph": False},
    "half of the embedding's inputs dropped, not 0.8": {"embedding_dropout": 0.5},
    "no latent loss": {"latent_loss_weight": 0.0},
    "the paper's graph loss as well": {"graph_loss": "reward"},
    "likelihood graph loss as well": {"graph_loss": "likelihood"},
    "V not standardised": {"standardize": False},
    "no observed edges beside the latent": {"observed_messages": False},
    "observed and nearest edges without a gate": {"observed_gate": False},
    "observed and nearest edges without evidence": {"edge_evidence": False},
    "no messages from the nearest": {"nearest_messages": 0, "nearest_in_embedding": False},
    "points shaped by the nearest as well": {"nearest_in_embedding": True},
    "no own states beside the messages": {"own_states": False},
    "a classifier on top": {"scores": "head", "hidden": (128, 64)},
    "a classifier on top, no own states, no observed edges": {
        "scores": "head",
        "hidden": (128, 64),
        "own_states": False,
        "observed_messages": False,
    },
    "one sampled graph at test": {"num_samples": 1},
    "no latent graph at all": {"boolean_layers": 0},
}
"""What differs from the tuned model."""

CASES = (("cora", 0.0), ("citeseer", 0.0), ("cora", 0.75))
"""Data sets, and the share of edges that is added."""


def cell(variant: str, dataset: str, share: float, seeds: range) -> list[Run]:
    """List the runs of one entry of the table.

    What the preset of that data set has anyway is no change: those are the runs `as tuned`.
    """
    tuned = settings_of("bpgnn", "tuned", dataset)
    wanted = VARIANTS[variant]
    changes = {name: value for name, value in wanted.items() if getattr(tuned, name) != value}
    return over_seeds(dataset, seeds, add_edges=share, changes=changes)


def grid(seeds: range) -> list[Run]:
    """List every variant on every graph."""
    return [run for case in CASES for one in VARIANTS for run in cell(one, *case, seeds)]


ABLATION = Experiment("ablation", "What is each part of the tuned model worth?", 5, grid)
