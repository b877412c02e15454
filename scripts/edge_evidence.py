"""Measure how well each kind of evidence tells true edges from added ones.

    python scripts/edge_evidence.py

Three random edges are added for every four of a data set. A kind's area under the ROC curve is the
chance that a true edge has more of it than an added one. All four together are weighed by a
logistic regression that learns from edges between training nodes which join one class; the area is
that of the edges of validation nodes. One line a data set is written to results/evidence.jsonl.
"""

import json
from pathlib import Path

import numpy as np
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bpgnn.methods.bpgnn import BPGNN
from bpgnn.nn.evidence import edge_evidence
from bpgnn.training.compare import edge_keys, pair_keys
from bpgnn.training.plan import Plan
from bpgnn.training.problem import make_problem
from bpgnn.training.run import load_for

ROOT = Path(__file__).parent.parent
KINDS = {"features": [0], "witnesses": [1, 2], "triangles": [3], "all": [0, 1, 2, 3]}


def areas(name: str) -> dict[str, object]:
    """Measure one data set."""
    plan = Plan(seed=0, add_edges=0.75)
    data = load_for(plan, name, None)
    graph, labels, split = data.graph, data.labels, data.chosen_split()
    features = make_problem(data, BPGNN.preset("tuned", name)).features
    found = edge_evidence(graph, features).double().numpy()
    ends = (graph.targets, graph.sources)
    true = torch.isin(edge_keys(graph), pair_keys(data.true_graph)).numpy()
    known = (split.train[ends[0]] & split.train[ends[1]]).numpy()
    asked = (split.validation[ends[0]] | split.validation[ends[1]]).numpy()
    same = (labels[ends[0]] == labels[ends[1]]).numpy()
    line: dict[str, object] = {"dataset": name, "add_edges": plan.add_edges, "seed": plan.seed}
    for kind, columns in KINDS.items():
        model = make_pipeline(StandardScaler(), LogisticRegression())
        model.fit(found[known][:, columns], same[known])
        score = model.decision_function(found[asked][:, columns])
        line[kind] = round(float(roc_auc_score(true[asked], np.asarray(score))), 3)
    return line


def main() -> None:
    """Measure Cora and CiteSeer."""
    lines = [areas(name) for name in ("cora", "citeseer")]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (ROOT / "results" / "evidence.jsonl").write_text(text)
    print(text, end="")


if __name__ == "__main__":
    main()
