import os
from pathlib import Path

import pytest
import torch

from bpgnn.experiments import timing as module
from bpgnn.experiments.execute import execute
from bpgnn.experiments.timing import WAYS, Timing, part_of_pubmed, product_on, task_for

HERE = Path(os.environ.get("BPGNN_DATA", "nowhere"))
pytestmark = pytest.mark.skipif(
    not any(HERE.rglob("*pubmed*")), reason="PubMed is not in BPGNN_DATA"
)


def test_a_part_has_the_edges_among_its_nodes():
    graph, features = part_of_pubmed(3_000)
    assert (graph.num_nodes, features.shape) == (3_000, (3_000, 500))
    whole, _ = part_of_pubmed(19_717)
    share = graph.num_edges / whole.num_edges
    assert share == pytest.approx((3_000 / 19_717) ** 2, rel=0.3)


def test_both_products_are_the_same():
    dense, sparse = (task_for(Timing(way, 300))() for way in ("matmul", "sparse"))
    torch.testing.assert_close(dense, sparse)


def test_samplers_draw_from_the_same_product():
    graph, features = part_of_pubmed(300)
    product = product_on(graph, features)
    assert product.num_nodes == 300
    for way in ("blocked", "lazy"):
        assert task_for(Timing(way, 300))().neighbours.shape == (1, 300, 5)


@pytest.mark.parametrize("way", WAYS)
def test_a_timing_becomes_a_line_of_the_store(way, monkeypatch):
    monkeypatch.setattr(module, "_SECONDS", 0.0)
    line = execute(Timing(way, 200))
    assert line["command"] == f"bpgnn reproduce speed # {way}, 200 nodes"
    assert (line["way"], line["num_nodes"], line["threads"]) == (way, 200, 1)
    assert line["cpu_seconds"] >= 0
