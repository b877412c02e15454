"""The one place where names become methods."""

from typing import Any

from bpgnn.method import Method
from bpgnn.methods.bpgnn import BPGNN
from bpgnn.methods.idgl import IDGL
from bpgnn.methods.idgl_anch import IDGLAnch

METHODS: dict[str, type[Method[Any]]] = {
    "bpgnn": BPGNN,
    "idgl": IDGL,
    "idgl-anch": IDGLAnch,
}
