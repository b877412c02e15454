"""PyG's tensors, checked at the door."""

import torch
from torch import Tensor

from bpgnn.errors import InputError
from bpgnn.graph import Graph


def checked_features(x: Tensor, in_channels: int, dtype: torch.dtype) -> Tensor:  # (N, F)
    """Return dense features of the weights' precision; half precision is widened to it."""
    check_tensor("x", x)
    if x.layout != torch.strided:
        raise InputError("`x` must be a dense tensor, but got a sparse one. Call `x.to_dense()`.")
    if x.dim() != 2 or x.size(1) != in_channels:
        raise InputError(
            f"`x` must have shape (N, {in_channels}), `in_channels` being {in_channels}, but got "
            f"{tuple(x.shape)}."
        )
    if x.dtype in (torch.half, torch.bfloat16):
        x = x.to(dtype)
    if x.dtype != dtype:
        raise InputError(
            f"`x` must be of the type of the layer's weights, {dtype}, but is {x.dtype}. "
            "Convert one of them, say with `x.float()`."
        )
    return x


def observed_graph(
    x: Tensor,  # (N, F)
    edge_index: Tensor | None,  # (2, E)
    edge_weight: Tensor | None,  # (E,)
) -> Graph | None:
    """Read the observed graph: duplicates merged, their weights added up, self-loops left out."""
    if edge_index is None:
        if edge_weight is not None:
            raise InputError(
                "`edge_weight` came without an `edge_index`. Give both, or neither where there "
                "is no observed graph."
            )
        return None
    check_tensor("edge_index", edge_index)
    check_tensor("edge_weight", edge_weight)
    weight = None if edge_weight is None else edge_weight.to(x)
    return Graph.from_edge_index(edge_index, x.size(0), weight).without_self_loops()


def checked_size(k: int, num_nodes: int, *, clip: bool) -> int:
    """Return how many neighbours a node can draw; refuse too many, or clip them if asked."""
    if k <= num_nodes - 1:
        return k
    if clip:
        return max(num_nodes - 1, 0)
    raise InputError(
        f"`k` is {k}, but of {num_nodes} nodes each has only {max(num_nodes - 1, 0)} others. Ask "
        "for fewer neighbours, or set `clip_k=True`, which draws all others from a small batch."
    )


def checked_nodes(
    nodes: Tensor | None,  # (M,) or (N,)
    right: Tensor,  # (M,)
    log_prob: Tensor,  # (N·K,)
    edge_index: Tensor,  # (2, N·K)
) -> Tensor:  # (M,)
    """Turn a mask, numbers, or None for all into the node numbers that `right` is about."""
    check_tensor("nodes", nodes)
    _check_right(right)
    if edge_index.shape != (2, *log_prob.shape):
        raise InputError(
            f"`edge_index` and `log_prob` must come from one call of the layer, but their shapes "
            f"are {tuple(edge_index.shape)} and {tuple(log_prob.shape)}."
        )
    num_nodes = int(edge_index[1].max()) + 1 if log_prob.numel() > 0 else 1
    everyone = torch.ones(len(right), dtype=torch.bool, device=right.device)
    numbers = _numbers_of(everyone if nodes is None else nodes, num_nodes)
    if len(numbers) != len(right):
        raise InputError(
            f"`right` must have one value for each of the {len(numbers)} nodes in `nodes`, but has "
            f"{len(right)}."
        )
    return numbers


def remembered_nodes(numbers: Tensor, n_id: Tensor | None) -> Tensor:  # (M,)
    """Say by which numbers running means are kept: those of the whole graph, if known."""
    if n_id is None:
        return numbers
    whole = n_id.dim() == 1 and not n_id.is_floating_point() and n_id.dtype != torch.bool
    if (
        not whole
        or (len(numbers) > 0 and int(numbers.max()) >= len(n_id))
        or bool((n_id < 0).any())
    ):
        raise InputError(
            "`n_id` must hold the number in the whole graph of every node of the batch, from 0 "
            f"up; its shape is {tuple(n_id.shape)} and its type {n_id.dtype}."
        )
    return n_id[numbers].long()


def checked_expected(expected: Tensor, right: Tensor) -> Tensor:  # (M,), (M,) -> (M,)
    """Return running means that are kept elsewhere, one for each value of `right`."""
    check_tensor("expected", expected)
    if expected.shape != right.shape:
        raise InputError(
            f"`expected` must have one value for each of the {len(right)} in `right`, but its "
            f"shape is {tuple(expected.shape)}."
        )
    return expected


def check_tensor(name: str, value: object) -> None:
    """Refuse what is neither a tensor nor None."""
    if value is not None and not isinstance(value, Tensor):
        raise InputError(
            f"`{name}` must be a tensor, but got {type(value).__name__}. Make one with "
            "`torch.as_tensor`."
        )


def _check_right(right: Tensor) -> None:
    check_tensor("right", right)
    if right.dim() != 1:
        raise InputError(
            f"`right` must be a vector, true or 1 for each node classified right, but its shape "
            f"is {tuple(right.shape)}."
        )
    if right.dtype != torch.bool and not bool(((right == 0) | (right == 1)).all()):
        raise InputError("`right` must hold truth values, or zeros and ones, and nothing else.")


def _numbers_of(nodes: Tensor, num_nodes: int) -> Tensor:  # (M,) or (N,) -> (M,)
    if nodes.dim() != 1 or nodes.is_floating_point():
        raise InputError("`nodes` must be a vector of node numbers, or a mask of truth values.")
    if nodes.dtype == torch.bool:
        if len(nodes) != num_nodes:
            raise InputError(
                f"The drawn graph has {num_nodes} nodes, but the mask `nodes`, or `right` if there "
                f"is none, has {len(nodes)} values."
            )
        return nodes.nonzero().flatten()
    if len(torch.unique(nodes)) != len(nodes):
        raise InputError("`nodes` must name each node once.")
    if len(nodes) > 0 and (int(nodes.min()) < 0 or int(nodes.max()) >= num_nodes):
        raise InputError(
            f"`nodes` must be numbers from 0 to {num_nodes - 1}, of nodes in the drawn graph, but "
            f"they are from {int(nodes.min())} to {int(nodes.max())}. In a mini-batch give the "
            "batch's own numbers, and those of the whole graph as `n_id`."
        )
    return nodes.long()
