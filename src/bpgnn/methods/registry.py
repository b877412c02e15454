"""The one place where names become methods."""

from bpgnn.method import Method
from bpgnn.methods.bpgnn import BPGNN

METHODS: dict[str, type[Method]] = {
    "bpgnn": BPGNN,
}
