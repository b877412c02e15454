import pytest
import torch
from torch_geometric.data import Data

from bpgnn.data.catalog import load
from bpgnn.data.dataset import make_dataset
from bpgnn.data.pyg import from_pyg, to_pyg
from bpgnn.data.synthetic import block_model
from bpgnn.errors import InputError, RepairWarning


def test_there_and_back_is_the_same_data_set():
    data = block_model(50, mean_degree=5, seed=0)
    back = from_pyg(to_pyg(data), name="again")
    assert back.name == "again"
    assert torch.equal(back.features, data.features)
    assert torch.equal(back.labels, data.labels)
    assert torch.equal(back.graph.edge_index, data.graph.edge_index)
    assert torch.equal(back.split.train, data.split.train)
    assert torch.equal(back.split.validation, data.split.validation)
    assert torch.equal(back.split.test, data.split.test)


def test_sparse_features_stay_sparse():
    cora = load("cora")
    data = to_pyg(cora)
    assert data.x.layout == torch.sparse_csr
    assert data.is_undirected()
    assert data.num_nodes == 2708
    assert from_pyg(data, feature_kind="counts").features.layout == torch.sparse_csr


@pytest.mark.parametrize("layout", [torch.sparse_coo, torch.sparse_csr, torch.sparse_csc])
@pytest.mark.parametrize("kind", [torch.float, torch.long])
def test_sparse_features_become_rows(layout, kind):
    dense = torch.tensor([[0.0, 2.0], [3.0, 0.0], [0.0, 0.0]])
    sparse = dense.to(kind).to_sparse(layout=layout)
    data = from_pyg(Data(x=sparse, y=torch.tensor([0, 1, 0])))
    assert data.features.layout == torch.sparse_csr
    assert torch.equal(data.features.to_dense(), dense)


def test_directed_weighted_edges_go_there_and_back():
    data = make_dataset(
        "own",
        torch.eye(3),
        torch.tensor([0, 1, -1]),
        torch.tensor([[0, 1], [1, 2]]),
        edge_weight=torch.tensor([0.5, 2.0]),
        directed=True,
    )
    back = from_pyg(to_pyg(data), directed=True)
    assert torch.equal(back.graph.edge_index, data.graph.edge_index)
    assert torch.equal(back.graph.edge_weight, data.graph.edge_weight)
    assert back.split is None


def test_one_way_edges_are_repaired_and_said():
    one_way = Data(x=torch.eye(2), y=torch.tensor([0, 1]), edge_index=torch.tensor([[0], [1]]))
    with pytest.warns(RepairWarning, match="1 edge had one direction only"):
        assert from_pyg(one_way).num_pairs == 1


def test_data_without_edges_have_no_graph():
    data = from_pyg(Data(x=torch.eye(2), y=torch.tensor([[0], [1]])))
    assert data.graph is None
    assert to_pyg(data).edge_index is None
    assert data.labels.tolist() == [0, 1]


def test_whole_numbers_become_floats():
    assert (
        from_pyg(Data(x=torch.ones(2, 2).long(), y=torch.tensor([0, 1]))).features.dtype
        == torch.float32
    )


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ([1, 2], "must be a torch_geometric.data.Data, but got list"),
        (Data(y=torch.tensor([0, 1])), "`data.x` must be a matrix of features"),
        (Data(x=torch.eye(2)), "`data.y` must hold a class number"),
        (Data(x=torch.eye(2), y=torch.rand(2)), "regression are not supported"),
        (Data(x=torch.eye(2), y=torch.eye(2).long()), "Several labels a node"),
        (Data(x=torch.eye(2), y=torch.tensor([0])), "one entry for each of the 2 rows"),
        (Data(x=torch.eye(2), y=torch.tensor([0, 1]), adj_t=torch.eye(2)), "in `adj_t`"),
        (
            Data(x=torch.eye(2), y=torch.tensor([0, 1]), edge_index=torch.tensor([[0], [9]])),
            "node numbers from 0 to 1",
        ),
        (
            Data(
                x=torch.eye(2),
                y=torch.tensor([0, 1]),
                train_mask=torch.ones(2, 3).bool(),
                val_mask=torch.ones(2, 3).bool(),
                test_mask=torch.ones(2, 3).bool(),
            ),
            "hold several splits. Choose one first",
        ),
        (
            Data(
                x=torch.eye(2),
                y=torch.tensor([0, 1]),
                train_mask=torch.tensor([True, True]),
                val_mask=torch.tensor([False, True]),
                test_mask=torch.tensor([True, False]),
            ),
            "overlap",
        ),
    ],
)
def test_data_that_cannot_be_used_are_refused(data, words):
    with pytest.raises(InputError, match=words):
        from_pyg(data)
