"""PyG's own encoders in the place of ours."""

import numpy as np
import pytest
import torch
from torch import nn
from torch_geometric.nn.models import GAT, PNA, GraphSAGE

import protgnn
from protgnn.errors import ProtGNNError
from protgnn.graphs.packed import GraphSet
from protgnn.graphs.subgraphs import cut
from protgnn.model.foreign import ForeignEncoder, pyg_encoder
from protgnn.model.neighbours import Presence

QUICK = {"epochs": 3, "hidden": 8, "head": "plain"}
PROTOTYPES = {**QUICK, "head": "prototypes", "prototypes": 1, "anchored_epochs": 1, "search_iterations": 2}


def sage(graphs: GraphSet) -> nn.Module:
    return GraphSAGE(graphs.num_features, 8, 2)


def pna(graphs: GraphSet, **more: object) -> nn.Module:
    degree = torch.bincount(torch.bincount(graphs.batch().edge_index[1]))
    return PNA(graphs.num_features, 8, 2, aggregators=["mean", "max"], scalers=["identity"], deg=degree, **more)


def with_bonds(graphs: GraphSet) -> nn.Module:
    return pna(graphs, edge_dim=graphs.num_edge_features)


@pytest.mark.parametrize("make", [sage, pna, with_bonds])
@pytest.mark.parametrize("settings", [QUICK, PROTOTYPES], ids=["plain", "prototypes"])
def test_a_pyg_module_trains_and_comes_back_from_a_run(molecules, tmp_path, make, settings):
    module = make(molecules.graphs)
    before = {key: value.clone() for key, value in module.state_dict().items()}
    model = protgnn.ProtGNNClassifier(encoder=module, settings=settings)
    model.fit(molecules.train, validation=molecules.valid)
    assert all(torch.equal(value, before[key]) for key, value in module.state_dict().items()), (
        "the user's module changed"
    )
    trained = model.model_.encoder.module.state_dict()
    assert any(not torch.equal(value, before[key]) for key, value in trained.items())
    model.save(tmp_path)
    again = protgnn.ProtGNNClassifier.from_run(tmp_path, encoder=make(molecules.graphs))
    np.testing.assert_array_equal(again.predict_logits(molecules.test), model.predict_logits(molecules.test))


def test_a_pyg_model_by_name_trains_and_comes_back_without_being_given_again(molecules, tmp_path):
    model = protgnn.ProtGNNClassifier(encoder="pyg:GraphSAGE", settings=QUICK).fit(molecules.train)
    assert type(model.model_.encoder.module) is GraphSAGE
    model.save(tmp_path)
    again = protgnn.ProtGNNClassifier.from_run(tmp_path)
    np.testing.assert_array_equal(again.predict_logits(molecules.test), model.predict_logits(molecules.test))


def test_bonds_reach_a_module_that_was_made_for_them_and_no_other(molecules):
    width = molecules.graphs.num_edge_features
    assert width > 0
    assert ForeignEncoder(with_bonds(molecules.graphs), edge_features=width).edge_features == width
    assert ForeignEncoder(pna(molecules.graphs), edge_features=width).edge_features == 0
    assert ForeignEncoder(sage(molecules.graphs), edge_features=width).edge_features == 0
    made = GAT(molecules.graphs.num_features, 8, 2, edge_dim=width)
    assert ForeignEncoder(made, edge_features=width).edge_features == width


def test_a_run_with_an_own_module_asks_for_it(molecules, tmp_path, protgnn_command):
    protgnn.ProtGNNClassifier(encoder=sage(molecules.graphs), settings=QUICK).fit(molecules.train).save(tmp_path)
    with pytest.raises(ProtGNNError, match=r"from_run\(path, encoder=…\)"):
        protgnn.ProtGNNClassifier.from_run(tmp_path)
    ended = protgnn_command("predict", tmp_path, "CCO")
    assert ended.status == 1 and "encoder of your own" in ended.err


def test_another_module_than_the_trained_one_is_refused(molecules, tmp_path):
    protgnn.ProtGNNClassifier(encoder=sage(molecules.graphs), settings=QUICK).fit(molecules.train).save(tmp_path)
    with pytest.raises(ProtGNNError, match="does not fit its recipe"):
        protgnn.ProtGNNClassifier.from_run(tmp_path, encoder=GraphSAGE(molecules.graphs.num_features, 16, 2))


def test_a_module_without_a_known_width_is_refused():
    with pytest.raises(ValueError, match="Expected Linear to have `out_channels`"):
        ForeignEncoder(nn.Linear(3, 3))


@pytest.mark.parametrize("name", ["GraphSAGE", "GCN", "GIN", "GAT"])
def test_a_single_node_trains(name):
    graph = GraphSet(
        torch.randn(1, 3), torch.zeros(2, 0, dtype=torch.int64), torch.tensor([0, 1]), torch.tensor([0, 0])
    )
    encoder = pyg_encoder(name, 3, 8, 2, 0.0, 0).train()
    assert encoder(graph.batch()).isfinite().all()


def test_an_unknown_pyg_model_is_refused_with_those_there_are():
    with pytest.raises(ValueError, match=r"GraphSAGE.*\(got 'Sage'\)"):
        pyg_encoder("Sage", 3, 8, 2, 0.0, 0)


def test_absent_parts_are_cut_out_for_a_foreign_encoder_and_never_masked(molecules):
    graphs = molecules.test
    encoder = ForeignEncoder(sage(graphs)).eval()
    node = torch.arange(len(graphs.x)) % 3 > 0
    with pytest.raises(ValueError, match="cut out for a foreign encoder"):
        encoder(graphs.batch(), Presence(node.float()))
    assert len(encoder(cut(graphs, torch.arange(len(graphs)), node).batch())) == int(node.sum())
