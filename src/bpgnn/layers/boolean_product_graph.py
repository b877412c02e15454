"""A latent graph for any PyG model."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, final

import torch
from torch import Tensor, nn
from typing_extensions import override

from bpgnn.graph import Graph
from bpgnn.infer.checked import CheckedInference
from bpgnn.infer.layer import BooleanLayer
from bpgnn.infer.messages import drawn_edges, log_message_weight
from bpgnn.infer.probabilities import EdgeProbabilities
from bpgnn.layers.correctness import RunningCorrectness
from bpgnn.layers.inputs import (
    checked_expected,
    checked_features,
    checked_nodes,
    checked_size,
    observed_graph,
    remembered_nodes,
)
from bpgnn.losses.graph_reward import graph_reward
from bpgnn.nn.stack import Stack, StackKind, make_layers
from bpgnn.randomness import generator_for


@final
@dataclass(frozen=True, kw_only=True)
class _Settings(CheckedInference):
    """Check what the layer is made with."""

    in_channels: int
    hidden_channels: tuple[int, ...]
    embedding: StackKind
    message_weight: Literal["votes", "probability"]
    dropout: float
    clip_k: bool

    def __post_init__(self) -> None:
        super().__post_init__()
        self.refuse_unless_counts("in_channels")
        self.refuse_unless_rates("dropout")
        self.refuse_unless(
            "widths of 1 or more", lambda widths: min(widths, default=1) >= 1, "hidden_channels"
        )


@final
class BooleanProductGraph(nn.Module):
    r"""Infer a latent graph from features and an observed graph, to put before a PyG model.

    .. math::
        V = f(X, A), \quad P_{ij} = \exp(-\gamma(V_i, V_j)^2 / \phi), \quad
        \tilde P = A \diamond P, \quad A' \sim \text{Gumbel-top-}k(\log \tilde P)

    "Boolean Product Graph Neural Networks", Wang, Liu and Xiang, 2024
    (https://arxiv.org/abs/2409.14001). Each node draws k distinct neighbours, never itself,
    in evaluation as in training. f, φ, the gate of the witnesses and the scales of a product of
    spaces are learned: through the edge weights by the loss of the model that takes them,
    through :meth:`graph_loss` by whether the model was right, or both.

    Args:
        in_channels: Width of the features, F.
        latent_dim: Latent dimensions D.
        k: Neighbours drawn for each node.
        hidden_channels: Widths of the hidden layers of f, from features to latent points; a
            number for one layer, `()` for none.
        metric: The space of latent points: `euclidean`, `hyperbolic`, `spherical`, or several
            of them joined by `+`, which share the dimensions.
        witness: Who votes in A ⋄ P: `equal`, `gated` or `mixed`
            (:class:`bpgnn.infer.layer.InferenceSettings` says how).
        temperature: The logarithm of 1/φ at the start, between -5 and 5.
        symmetric: Average A ⋄ P and P ⋄ A.
        embedding: The network f: `gcn`, `gat` or `edgeconv` over the observed graph, or `mlp`.
        message_weight: The edge weight: `votes`, the plain sum over witnesses, which with a
            sharp kernel is one at every observed edge; or `probability`, P~ itself.
        dropout: Share of each input of f dropped in training.
        sampler: `auto`, `dense`, `blocked` or `lazy`; they differ in cost alone.
        clip_k: Draw min(k, N - 1) neighbours where nodes are few, as in a small mini-batch,
            instead of refusing them.

    Departures:
        Those of :class:`bpgnn.methods.bpgnn.BPGNN`, whose defaults these are. X is not cut
        off: where it has a gradient, the graph's reaches it, too. Detach it if it should not.

    Example:
        >>> x = torch.randn(30, 8)
        >>> observed = torch.randint(30, (2, 90))
        >>> infer = BooleanProductGraph(8, k=5)
        >>> edge_index, edge_weight, log_prob = infer(x, observed)
        >>> edge_index.shape, edge_weight.shape, log_prob.shape
        (torch.Size([2, 150]), torch.Size([150]), torch.Size([150]))
    """

    def __init__(
        self,
        in_channels: int,
        latent_dim: int = 4,
        k: int = 10,
        hidden_channels: int | Sequence[int] = (64,),
        *,
        metric: str = "euclidean",
        witness: Literal["equal", "gated", "mixed"] = "gated",
        temperature: float = 1.0,
        symmetric: bool = False,
        embedding: StackKind = "gcn",
        message_weight: Literal["votes", "probability"] = "votes",
        dropout: float = 0.5,
        sampler: Literal["auto", "dense", "blocked", "lazy"] = "auto",
        clip_k: bool = False,
    ) -> None:
        """Make f, the temperature and the gate."""
        super().__init__()
        several = isinstance(hidden_channels, Sequence)
        hidden = tuple(hidden_channels) if several else (hidden_channels,)
        self.settings = _Settings(
            in_channels=in_channels,
            latent_dim=latent_dim,
            k=k,
            hidden_channels=hidden,
            metric=metric,
            witness=witness,
            temperature=temperature,
            symmetric=symmetric,
            embedding=embedding,
            message_weight=message_weight,
            dropout=dropout,
            sampler=sampler,
            clip_k=clip_k,
        )
        layers = make_layers(embedding, [in_channels, *hidden, latent_dim])
        self.layer = BooleanLayer(Stack(layers, dropout), self.settings)
        self.correctness = RunningCorrectness()

    @override
    def forward(
        self,
        x: Tensor,  # (N, F)
        edge_index: Tensor | None,  # (2, E)
        edge_weight: Tensor | None = None,  # (E,)
        *,
        generator: torch.Generator | None = None,
    ) -> tuple[Tensor, Tensor, Tensor]:  # (2, N·K), (N·K,), (N·K,)
        """Draw a latent graph.

        Args:
            x: Dense features, shape (N, F).
            edge_index: The observed graph as PyG has it, sources in row 0 and targets in row
                1, shape (2, E); directions are kept, duplicates merged, self-loops left out.
                None where nothing was observed: P itself is drawn from then.
            edge_weight: Positive weights of the observed edges, shape (E,), or None for ones.
            generator: Where dropout and noise come from; if None, a new one each time, seeded
                by torch's own, so that `torch.manual_seed` settles it.

        Returns:
            The drawn edges, neighbours in row 0 and nodes in row 1, node by node and first
            drawn first; their weights; and the logarithms of P~ at them. The last two are
            differentiable.
        """
        x, observed = self._checked(x, edge_index, edge_weight)
        k = checked_size(self.settings.k, x.size(0), clip=self.settings.clip_k)
        if k == 0:
            return x.new_empty(2, 0, dtype=torch.long), x.new_empty(0), x.new_empty(0)
        generator = generator or _from_torch(x.device)
        # Half precision has too few digits for distances.
        with torch.autocast(x.device.type, enabled=False):
            found = self.layer(x, *_embedded_over(x, observed), observed, generator=generator, k=k)
            edges = drawn_edges(found.sample.neighbours[0])
            log_prob = found.probabilities.log_entries(edges).to(x.dtype)
            weighting = self.settings.message_weight
            log_weight = log_message_weight(found.probabilities, edges, lambda: log_prob, weighting)
        return edges, torch.as_tensor(log_weight).exp(), log_prob

    def probabilities(
        self,
        x: Tensor,  # (N, F)
        edge_index: Tensor | None,  # (2, E)
        edge_weight: Tensor | None = None,  # (E,)
        *,
        generator: torch.Generator | None = None,
    ) -> EdgeProbabilities:
        """Give P~, from which graphs are drawn, without drawing one.

        Args:
            x: Dense features, shape (N, F).
            edge_index: The observed graph, shape (2, E), or None.
            edge_weight: Weights of the observed edges, shape (E,), or None for ones.
            generator: Where dropout comes from, in training.

        Returns:
            Rows and entries on demand; never an N by N store unless asked for.

        Example:
            >>> infer = BooleanProductGraph(3).eval()
            >>> infer.probabilities(torch.randn(6, 3), None).to_dense().shape
            torch.Size([6, 6])
        """
        x, observed = self._checked(x, edge_index, edge_weight)
        generator = generator or _from_torch(x.device)
        with torch.autocast(x.device.type, enabled=False):
            current, log_weight = _embedded_over(x, observed)
            latent = self.layer.embedding(x, current, log_weight, generator=generator)
            return self.layer.product(self.layer.kernel(latent), observed)

    def graph_loss(
        self,
        log_prob: Tensor,  # (N·K,)
        edge_index: Tensor,  # (2, N·K)
        right: Tensor,  # (M,)
        nodes: Tensor | None = None,  # (M,) or (N,)
        *,
        n_id: Tensor | None = None,  # (N,)
        expected: Tensor | None = None,  # (M,)
    ) -> Tensor:
        r"""Reward edges of nodes that are classified better than usual, the paper's graph loss.

        .. math:: \frac{1}{MK} \sum_i \sum_j (E[a_i] - a_i) \log \tilde P_{ij}

        E[a_i] is a running mean for each node, kept here; it starts at one half and, in
        training, moves by a twentieth towards `right` with every call.

        Args:
            log_prob: Third of what :meth:`forward` returned, shape (N·K,).
            edge_index: First of what it returned, shape (2, N·K).
            right: a_i, whether each labelled node is now classified right, shape (M,).
            nodes: The labelled nodes, by number in this graph, shape (M,), or as a mask,
                shape (N,); None for all.
            n_id: In a mini-batch, the number in the whole graph of each node of the batch
                (PyG's `batch.n_id`), shape (N,): what the running means are kept by.
            expected: E[a_i] of the labelled nodes, if kept elsewhere, shape (M,); the
                running means here are then neither used nor moved.

        Returns:
            The loss, a scalar; zero where no node is labelled.

        Example:
            >>> infer = BooleanProductGraph(3, k=1).eval()
            >>> drawn = torch.tensor([[1, 0], [0, 1]])
            >>> infer.graph_loss(torch.tensor([-2.0, -4.0]), drawn, torch.tensor([True, False]))
            tensor(-0.5000)
        """
        numbers = checked_nodes(nodes, right, log_prob, edge_index)
        if expected is None:
            keys = remembered_nodes(numbers, n_id)
            expected = self.correctness.of(keys)
            if self.training:
                self.correctness.observe(keys, right)
        expected = checked_expected(expected, right)
        if len(numbers) == 0 or log_prob.numel() == 0:
            return log_prob[:0].sum()
        place = torch.full((int(edge_index[1].max()) + 1,), -1, device=log_prob.device)
        place[numbers] = torch.arange(len(numbers), device=log_prob.device)
        owner = place[edge_index[1]]
        kept = owner >= 0
        surprise = expected.to(log_prob) - right.to(log_prob)
        return graph_reward(log_prob[kept].unsqueeze(1), surprise[owner[kept]])

    @override
    def extra_repr(self) -> str:
        settings = self.settings
        return f"{settings.in_channels}, latent_dim={settings.latent_dim}, k={settings.k}"

    def _checked(
        self, x: Tensor, edge_index: Tensor | None, edge_weight: Tensor | None
    ) -> tuple[Tensor, Graph | None]:
        x = checked_features(x, self.settings.in_channels, self.layer.temperature.dtype)
        return x, observed_graph(x, edge_index, edge_weight)


def _embedded_over(x: Tensor, observed: Graph | None) -> tuple[Graph, Tensor | None]:
    """Return the graph that f passes messages over, and the logarithms of its weights."""
    graph = observed or Graph.empty(x.size(0)).to(x.device)
    return graph, None if graph.edge_weight is None else graph.edge_weight.log()


def _from_torch(device: torch.device) -> torch.Generator:
    """Make a generator whose seed is torch's next random number."""
    return generator_for(int(torch.randint(2**62, ())), device=device)
