"""The one place where names become methods."""

from typing import Any

from bpgnn.method import Method
from bpgnn.methods.bpgnn import BPGNN
from bpgnn.methods.ddgm import DDGME, DDGMEHH, DDGMH, DDGMSS
from bpgnn.methods.gat import GAT
from bpgnn.methods.gcn import GCN
from bpgnn.methods.grcn import GRCN
from bpgnn.methods.idgl import IDGL
from bpgnn.methods.idgl_anch import IDGLAnch
from bpgnn.methods.knn_gcn import KNNGCN
from bpgnn.methods.lds import LDS
from bpgnn.methods.mlp import MLP
from bpgnn.methods.slaps import SLAPS

METHODS: dict[str, type[Method[Any]]] = {
    "mlp": MLP,
    "gcn": GCN,
    "gat": GAT,
    "knn-gcn": KNNGCN,
    "slaps": SLAPS,
    "lds": LDS,
    "idgl": IDGL,
    "idgl-anch": IDGLAnch,
    "ddgm-e": DDGME,
    "ddgm-h": DDGMH,
    "ddgm-ehh": DDGMEHH,
    "ddgm-ss": DDGMSS,
    "bpgnn": BPGNN,
    "grcn": GRCN,
}
