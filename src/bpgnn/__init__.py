"""Latent graph inference: labels for all nodes, a better graph, and the reason for every edge.

Public names load on first use, so that `import bpgnn` is light.
"""

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

_HOME = {
    "load": "bpgnn.data.catalog",
    "make_dataset": "bpgnn.data.dataset",
    "block_model": "bpgnn.data.synthetic",
    "from_pyg": "bpgnn.data.pyg",
    "to_pyg": "bpgnn.data.pyg",
    "split": "bpgnn.data.split",
    "add_edges": "bpgnn.data.perturb",
    "drop_edges": "bpgnn.data.perturb",
    "Dataset": "bpgnn.data.dataset",
    "Split": "bpgnn.data.dataset",
    "Graph": "bpgnn.graph",
    "boolean_product": "bpgnn.infer.triangles",
    "triangles": "bpgnn.infer.triangles",
    "Triangles": "bpgnn.infer.triangles",
    "EdgeProbabilities": "bpgnn.infer.probabilities",
    "KernelProbabilities": "bpgnn.infer.probabilities",
    "make_metric": "bpgnn.infer.spaces",
    "BooleanProduct": "bpgnn.infer.boolean",
    "METHODS": "bpgnn.methods.registry",
    "fit": "bpgnn.training.fit",
    "Fit": "bpgnn.training.fit",
    "Plan": "bpgnn.training.plan",
    "TensorBoardLog": "bpgnn.training.logs.tensorboard",
    "MLflowLog": "bpgnn.training.logs.mlflow",
    "BPGNNClassifier": "bpgnn.estimator.classifier",
    "LatentGraphClassifier": "bpgnn.estimator.classifier",
    "NodeKFold": "bpgnn.model_selection.folds",
    "cross_validate_nodes": "bpgnn.model_selection.cross_validate",
    "NodeGridSearch": "bpgnn.model_selection.search",
    "BooleanProductGraph": "bpgnn.layers.boolean_product_graph",
    "BPGNNError": "bpgnn.errors",
    "InputError": "bpgnn.errors",
    "DataUnavailableError": "bpgnn.errors",
    "RunFolderError": "bpgnn.errors",
    "NotEnoughMemoryError": "bpgnn.errors",
    "RepairWarning": "bpgnn.errors",
}

__all__ = list(_HOME)  # pyright: ignore[reportUnsupportedDunderAll]

if TYPE_CHECKING:  # The same names once more, for type checkers; a test compares the two.
    from bpgnn.data.catalog import load as load
    from bpgnn.data.dataset import Dataset as Dataset
    from bpgnn.data.dataset import Split as Split
    from bpgnn.data.dataset import make_dataset as make_dataset
    from bpgnn.data.perturb import add_edges as add_edges
    from bpgnn.data.perturb import drop_edges as drop_edges
    from bpgnn.data.pyg import from_pyg as from_pyg
    from bpgnn.data.pyg import to_pyg as to_pyg
    from bpgnn.data.split import split as split
    from bpgnn.data.synthetic import block_model as block_model
    from bpgnn.errors import BPGNNError as BPGNNError
    from bpgnn.errors import DataUnavailableError as DataUnavailableError
    from bpgnn.errors import InputError as InputError
    from bpgnn.errors import NotEnoughMemoryError as NotEnoughMemoryError
    from bpgnn.errors import RepairWarning as RepairWarning
    from bpgnn.errors import RunFolderError as RunFolderError
    from bpgnn.estimator.classifier import BPGNNClassifier as BPGNNClassifier
    from bpgnn.estimator.classifier import LatentGraphClassifier as LatentGraphClassifier
    from bpgnn.graph import Graph as Graph
    from bpgnn.infer.boolean import BooleanProduct as BooleanProduct
    from bpgnn.infer.probabilities import EdgeProbabilities as EdgeProbabilities
    from bpgnn.infer.probabilities import KernelProbabilities as KernelProbabilities
    from bpgnn.infer.spaces import make_metric as make_metric
    from bpgnn.infer.triangles import Triangles as Triangles
    from bpgnn.infer.triangles import boolean_product as boolean_product
    from bpgnn.infer.triangles import triangles as triangles
    from bpgnn.layers.boolean_product_graph import BooleanProductGraph as BooleanProductGraph
    from bpgnn.methods.registry import METHODS as METHODS
    from bpgnn.model_selection.cross_validate import cross_validate_nodes as cross_validate_nodes
    from bpgnn.model_selection.folds import NodeKFold as NodeKFold
    from bpgnn.model_selection.search import NodeGridSearch as NodeGridSearch
    from bpgnn.training.fit import Fit as Fit
    from bpgnn.training.fit import fit as fit
    from bpgnn.training.logs.mlflow import MLflowLog as MLflowLog
    from bpgnn.training.logs.tensorboard import TensorBoardLog as TensorBoardLog
    from bpgnn.training.plan import Plan as Plan


def __getattr__(name: str) -> object:
    """Load a public name from its module on first use."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
