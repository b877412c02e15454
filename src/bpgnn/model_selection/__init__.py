"""Cross-validation for nodes: labels are hidden, and no row is ever cut out."""

from bpgnn.model_selection.cross_validate import cross_validate_nodes as cross_validate_nodes
from bpgnn.model_selection.folds import NodeKFold as NodeKFold
from bpgnn.model_selection.hide import hide_labels as hide_labels
from bpgnn.model_selection.search import NodeGridSearch as NodeGridSearch
