"""The one place where names become methods."""

from typing import Any

from bpgnn.errors import InputError, nearest
from bpgnn.method import Method, MethodSettings
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
from bpgnn.methods.tuned import tuned_for

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


def settings_of(method: str, preset: str, dataset: str) -> MethodSettings:
    """Look up the settings of a method for a data set.

    Args:
        method: A name among the methods.
        preset: A name among its presets; `tuned` has what a search has found for the data set.
        dataset: The data set's name.

    Example:
        >>> settings_of("gcn", "published", "cora").hidden
        (16,)
    """
    if method not in METHODS:
        raise InputError(f"There is no method {method!r}.{nearest(method, METHODS)}")
    found = METHODS[method].preset(preset, dataset)
    return found.changed(tuned_for(method, dataset)) if preset == "tuned" else found
