"""The one place where names become methods."""

from typing import Any

from bpgnn.method import Method
from bpgnn.methods.bpgnn import BPGNN
from bpgnn.methods.knn_gcn import KNNGCN
from bpgnn.methods.slaps import SLAPS

METHODS: dict[str, type[Method[Any]]] = {
    "bpgnn": BPGNN,
    "knn-gcn": KNNGCN,
    "slaps": SLAPS,
}
