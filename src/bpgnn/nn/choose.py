"""Names of aggregations."""

from bpgnn.nn.aggregation import Aggregation
from bpgnn.nn.edge_conv import EdgeConv
from bpgnn.nn.gat import GAT
from bpgnn.nn.gcn import GCN

AGGREGATIONS: dict[str, type[Aggregation]] = {"gcn": GCN, "gat": GAT, "edgeconv": EdgeConv}


def make_aggregation(name: str, in_channels: int, out_channels: int) -> Aggregation:
    """Make the aggregation of that name.

    Example:
        >>> make_aggregation("gcn", 4, 2).weight.shape
        torch.Size([4, 2])
    """
    return AGGREGATIONS[name](in_channels, out_channels)  # pyright: ignore[reportCallIssue]
