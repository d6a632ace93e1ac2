"""PyG's own encoders in the place of ours."""

import numpy as np
import pytest
import torch
from torch import nn
from torch_geometric.nn import BatchNorm, LayerNorm, global_mean_pool
from torch_geometric.nn.models import GAT, GCN, PNA, GraphSAGE

import protgnn
from protgnn.data.graph_set import GraphSet
from protgnn.data.subgraph import cut
from protgnn.errors import ProtGNNError
from protgnn.model.message_passing import SoftMask
from protgnn.model.pyg_encoder import PyGEncoder, pyg_encoder
from protgnn.training.resolve import reach_of

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
    assert PyGEncoder(with_bonds(molecules.graphs), edge_features=width).edge_features == width
    assert PyGEncoder(pna(molecules.graphs), edge_features=width).edge_features == 0
    assert PyGEncoder(sage(molecules.graphs), edge_features=width).edge_features == 0
    made = GAT(molecules.graphs.num_features, 8, 2, edge_dim=width)
    assert PyGEncoder(made, edge_features=width).edge_features == width


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
        PyGEncoder(nn.Linear(3, 3))


@pytest.mark.parametrize("name", ["GraphSAGE", "GCN", "GIN", "GAT"])
def test_a_single_node_trains(name):
    graph = GraphSet(
        torch.randn(1, 3), torch.zeros(2, 0, dtype=torch.int64), torch.tensor([0, 1]), torch.tensor([0, 0])
    )
    encoder = pyg_encoder(name, 3, 8, 2, "batch", 0.0, 0).train()
    assert encoder(graph.batch()).isfinite().all()


def test_an_unknown_pyg_model_is_refused_with_those_there_are():
    with pytest.raises(ValueError, match=r"GraphSAGE.*\(got 'Sage'\)"):
        pyg_encoder("Sage", 3, 8, 2, "batch", 0.0, 0)


def test_absent_parts_are_cut_out_for_a_foreign_encoder_and_never_masked(molecules):
    graphs = molecules.test
    encoder = PyGEncoder(sage(graphs)).eval()
    node = torch.arange(len(graphs.x)) % 3 > 0
    with pytest.raises(ValueError, match="cut out for a foreign encoder"):
        encoder(graphs.batch(), SoftMask(node.float()))
    assert len(encoder(cut(graphs, torch.arange(len(graphs)), node).batch())) == int(node.sum())


@pytest.mark.parametrize("norm", ["layer_norm", "graph_norm", "pair_norm", "instance_norm"])
def test_norms_over_a_graph_do_not_see_what_else_is_in_the_batch(molecules, norm):
    module = GCN(molecules.graphs.num_features, 8, 3, norm=norm)
    model = protgnn.ProtGNNClassifier(encoder=module, settings=PROTOTYPES).fit(molecules.train)
    assert model.run_.scores["valid"]["prototype_error"] <= 1e-5
    # Where all nodes are alike, such a norm divides rounding errors by next to nothing.
    several = [number for number, graph in enumerate(molecules.test) if len(graph.x.unique(dim=0)) > 2]
    assert len(several) > 4
    together = model.predict_logits(molecules.test)[several]
    alone = np.concatenate([model.predict_logits(molecules.test[number]) for number in several])
    np.testing.assert_allclose(together, alone, atol=1e-4)


def test_the_norm_of_a_recipe_reaches_a_pyg_model():
    kinds = {"batch": BatchNorm, "layer": LayerNorm, "none": ()}
    for norm, kind in kinds.items():
        parts = list(pyg_encoder("GraphSAGE", 3, 8, 2, norm, 0.0, 0).modules())
        assert any(isinstance(part, kind) for part in parts) == (norm != "none")
        assert not any(isinstance(part, BatchNorm | LayerNorm) and not isinstance(part, kind) for part in parts)
    layered, x = pyg_encoder("GraphSAGE", 3, 8, 2, "layer", 0.0, 0), torch.randn(4, 8)
    norm = next(part for part in layered.modules() if isinstance(part, LayerNorm))
    torch.testing.assert_close(norm(x)[:1], norm(x[:1]))  # of each node, not of the graph


def test_a_module_that_pools_by_itself_is_refused(molecules):
    class Pooling(nn.Module):
        out_channels = 8

        def __init__(self) -> None:
            super().__init__()
            self.inner = sage(molecules.graphs)

        def forward(self, x, edge_index, batch):
            return global_mean_pool(self.inner(x, edge_index), batch)

    with pytest.raises(ProtGNNError, match=r"for each of \d+ nodes .*leave pooling to the readout"):
        protgnn.ProtGNNClassifier(encoder=Pooling(), settings=QUICK).fit(molecules.train)


def test_a_module_that_knows_its_layers_is_believed(molecules):
    deep = GraphSAGE(molecules.graphs.num_features, 8, 5)
    model = protgnn.ProtGNNClassifier(encoder=deep, settings=QUICK).fit(molecules.train)
    assert model.run_.recipe.layers == 5 and reach_of(model.run_.recipe).hops == 6
