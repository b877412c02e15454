"""The systems and data sets of the paper's comparison, and in which order to run them."""

DATASETS = ("cora", "citeseer", "pubmed", "photo")

SYSTEMS = (
    *("bpgnn", "gcn", "gat", "ddgm-e", "ddgm-h", "knn-gcn", "mlp"),
    *("ddgm-ehh", "ddgm-ss", "idgl-anch", "idgl", "slaps", "lds"),
)
"""The most telling first."""

TRACKS = ("tuned", "paper")
"""The settings that we recommend, and those of the paper's comparison."""
