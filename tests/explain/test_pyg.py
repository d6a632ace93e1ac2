"""PyG's explainers, metrics and drawings apply to our models, and masks say what the prototypes saw."""

import subprocess
import sys
from dataclasses import replace

import pytest
import torch
from torch_geometric.data import Batch, Data
from torch_geometric.explain import Explainer, GNNExplainer
from torch_geometric.explain.algorithm.utils import clear_masks, set_masks
from torch_geometric.explain.metric import fidelity, groundtruth_metrics, unfaithfulness
from torch_geometric.nn import GCN

from protgnn.data.graph_set import GraphSet
from protgnn.data.schema import Schema
from protgnn.data.subgraph import cut
from protgnn.data.validate import check
from protgnn.datasets.builtin.ba_2motifs import ba_2motifs
from protgnn.errors import DataError, ProtGNNError
from protgnn.explain import ProtGNNExplainer, PyGModule
from protgnn.explain.explanation import explain
from protgnn.explain.pyg_explainer import _evidence
from protgnn.search.tree import SearchSettings, search
from protgnn.training.build import build
from protgnn.training.evaluate import predict_logits
from protgnn.training.recipe import make_recipe
from protgnn.training.train import SplitData, train

QUICK = {"hidden": 16, "epochs": 4, "anchored_epochs": 2, "prototypes": 2, "search_iterations": 3, "refine_steps": 20}
FEW = SearchSettings(iterations=3)
CLASSES = {"mode": "multiclass_classification", "task_level": "graph", "return_type": "raw"}
ENCODERS = ["gcn", "gin", "gat", "pyg:GraphSAGE"]


def explainer(model, algorithm=None, **changes):
    settings = {"explanation_type": "model", "node_mask_type": "object", "edge_mask_type": "object", **changes}
    return Explainer(model, algorithm or ProtGNNExplainer(FEW), **{"model_config": CLASSES, **settings})


def inputs(data):
    """The arguments of a call, from one graph or a batch of them."""
    return {"x": data.x, "edge_index": data.edge_index, "batch": data.get("batch"), "edge_attr": data.edge_attr}


@pytest.fixture(scope="module")
def model(molecules):
    trained = train(SplitData(molecules.train, molecules.valid), make_recipe(**QUICK))
    return PyGModule(trained.model, molecules.graphs.schema).eval()


@pytest.fixture(scope="module")
def largest(molecules):
    """The ten largest molecules: they have parts."""
    return molecules.graphs[molecules.graphs.node_counts.argsort(descending=True)[:10]]


@pytest.fixture(scope="module")
def graphs(largest):
    return largest.to_pyg()


@pytest.fixture(scope="module", params=ENCODERS)
def any_encoder(request, molecules):
    recipe = make_recipe(encoder=request.param, hidden=16, prototypes=2)
    return PyGModule(build(recipe, molecules.graphs.schema), molecules.graphs.schema).eval()


def test_a_wrapped_model_predicts_what_the_model_does(any_encoder, largest, graphs):
    with torch.no_grad():
        logits = any_encoder(**inputs(Batch.from_data_list(graphs)))
        alone = any_encoder(graphs[2].x, graphs[2].edge_index, edge_attr=graphs[2].edge_attr)
    expected = predict_logits(any_encoder.model, largest)
    torch.testing.assert_close(logits, expected, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(alone, expected[2:3], atol=1e-5, rtol=1e-5)


def test_untidy_edges_are_repaired_as_everywhere(any_encoder, graphs):
    tidy = Batch.from_data_list(graphs[:3])
    source, target = tidy.edge_index
    once = (source < target).nonzero().squeeze(1)
    picked = torch.cat([once.flip(0), once[:4]])  # one direction only, out of order, four of them twice
    loop = torch.tensor([[1], [1]])
    edge_index = torch.cat([loop, tidy.edge_index[:, picked]], dim=1)
    edge_attr = torch.cat([tidy.edge_attr[:1], tidy.edge_attr[picked]])
    with torch.no_grad():
        untidy = any_encoder(tidy.x, edge_index, tidy.batch, edge_attr)
        expected = any_encoder(**inputs(tidy))
    torch.testing.assert_close(untidy, expected, atol=1e-5, rtol=1e-5)
    half = torch.rand(len(once), generator=torch.Generator().manual_seed(0)).round()
    mirror = {(int(a), int(b)): float(value) for (a, b), value in zip(tidy.edge_index.t()[once], half, strict=True)}
    full = torch.tensor([mirror[min(a, b), max(a, b)] for a, b in tidy.edge_index.t().tolist()])
    sparse = torch.cat([torch.ones(1), half.flip(0), half[:4]])
    asking = explainer(any_encoder)
    torch.testing.assert_close(
        asking.get_masked_prediction(tidy.x, edge_index, edge_mask=sparse, batch=tidy.batch, edge_attr=edge_attr),
        asking.get_masked_prediction(
            tidy.x, tidy.edge_index, edge_mask=full, batch=tidy.batch, edge_attr=tidy.edge_attr
        ),
        atol=1e-5,
        rtol=1e-5,
    )


def test_hiding_edges_is_cutting_them_out(any_encoder, largest, graphs):
    for number, data in enumerate(graphs[:3]):
        node = torch.arange(len(data.x)) < 6
        edge = node[data.edge_index[0]] & node[data.edge_index[1]]
        touched = torch.zeros_like(node).index_fill(0, data.edge_index[:, edge].flatten(), True)
        shown = explainer(any_encoder).get_masked_prediction(
            data.x, data.edge_index, edge_mask=edge.float(), edge_attr=data.edge_attr
        )
        alone = cut(largest, torch.tensor([number]), touched)
        torch.testing.assert_close(shown, predict_logits(any_encoder.model, alone), atol=1e-5, rtol=1e-5)


def test_a_graph_without_any_edge_left_keeps_its_nodes(any_encoder, graphs):
    data = graphs[0]
    nothing = explainer(any_encoder).get_masked_prediction(
        data.x, data.edge_index, edge_mask=torch.zeros(data.num_edges), edge_attr=data.edge_attr
    )
    bare = any_encoder(data.x, data.edge_index[:, :0], edge_attr=data.edge_attr[:0])
    torch.testing.assert_close(nothing, bare, atol=1e-5, rtol=1e-5)


def test_masks_are_contributions_inside_evidence(model, largest, graphs):
    for number in range(4):
        data, own = graphs[number], largest[number]
        found = explainer(model)(data.x, data.edge_index, edge_attr=data.edge_attr)
        why = explain(model.model, own)[0]
        node, edge = torch.zeros(data.num_nodes), torch.zeros(data.num_edges)
        speaking = [row for row in why.rows if row.label == why.predicted and row.contribution(why.predicted) > 0]
        assert speaking
        wanted = torch.tensor([[row in speaking for row in why.rows]])
        [near] = search(own, [0], model.model.head.vectors, model.model.embed, FEW, wanted)
        for row in speaking:
            inside = set(near.nodes(row.prototype))
            node[list(inside)] += row.contribution(why.predicted)
            for at, (source, target) in enumerate(data.edge_index.t().tolist()):
                edge[at] += row.contribution(why.predicted) * (source in inside and target in inside)
        assert found.node_mask.shape == (data.num_nodes, 1) and found.edge_mask.shape == (data.num_edges,)
        torch.testing.assert_close(found.node_mask.squeeze(1), node / node.max())
        torch.testing.assert_close(found.edge_mask, edge / edge.max())


def test_evidence_of_the_model_itself_goes_before_any_search(model, largest):
    own = largest[0]
    why = explain(model.model, own)[0]
    told = replace(why, rows=tuple(replace(row, evidence=(0, 1 + row.prototype)) for row in why.rows))
    counts = torch.ones(1, len(why.rows), dtype=torch.bool)
    inside = _evidence(model.model, own, [told], counts, FEW)
    for row in told.rows:
        assert inside[:, row.prototype].nonzero().squeeze(1).tolist() == list(row.evidence)


def test_only_the_graphs_that_are_asked_for_have_masks(model, graphs):
    together = Batch.from_data_list(graphs[:4])
    everything = explainer(model)(**inputs(together))
    some = explainer(model)(**inputs(together), index=torch.tensor([1, 3]))
    chosen = (together.batch == 1) | (together.batch == 3)
    assert not some.node_mask[~chosen].any()
    torch.testing.assert_close(some.node_mask[chosen], everything.node_mask[chosen])
    one = explainer(model)(**inputs(together), index=2)
    assert one.node_mask[together.batch == 2].max() == 1 and not one.node_mask[together.batch != 2].any()


def test_the_explained_class_can_be_given():
    """A chain of three colours, and one prototype per class: ten nodes of one colour."""
    colours, size = 3, 12
    nodes = torch.arange(colours * size)
    forward = torch.stack([nodes[:-1], nodes[1:]])
    chain = GraphSet(
        torch.eye(colours).repeat_interleave(size, dim=0),
        torch.cat([forward, forward.flip(0)], dim=1),
        torch.tensor([0, len(nodes)]),
        torch.tensor([0, 2 * forward.shape[1]]),
        schema=Schema("graph", ("red", "green", "blue"), ("r", "g", "b")),
    )
    chain, _ = check(chain, training=False)
    built = build(make_recipe(encoder="gcn", hidden=8, layers=1, prototypes=1, readout="mean"), chain.schema).eval()
    parts = [nodes[size * label : size * label + 10] for label in range(colours)]
    with torch.no_grad():
        for label, part in enumerate(parts):
            alone = cut(chain, torch.tensor([0]), torch.isin(nodes, part))
            built.head.vectors[label] = built.embed(alone.batch())[0]
    asking = explainer(PyGModule(built, chain.schema).eval(), explanation_type="phenomenon")
    for label, part in enumerate(parts):
        found = asking(chain.x, chain.edge_index, target=torch.tensor([label]))
        assert torch.equal(found.node_mask.squeeze(1).nonzero().squeeze(1), part)
    assert all(0 <= value <= 1 for value in fidelity(asking, found))


def test_metrics_and_drawing_of_pyg_work(model, graphs, tmp_path):
    asking = explainer(model)
    for data in graphs[:3]:
        found = asking(data.x, data.edge_index, edge_attr=data.edge_attr)
        for shown in (found, found.threshold("hard", 0.5), found.threshold("topk_hard", 5)):
            assert all(0 <= value <= 1 for value in fidelity(asking, shown))
            assert 0 <= unfaithfulness(asking, shown) <= 1
    found.visualize_graph(str(tmp_path / "graph.png"), backend="networkx")
    assert (tmp_path / "graph.png").stat().st_size > 1000
    assert found.get_explanation_subgraph().num_nodes <= found.num_nodes


@pytest.mark.parametrize("encoder", ["gcn", "pyg:GraphSAGE"])
def test_a_hard_mask_that_keeps_one_direction_of_an_edge_keeps_the_edge(molecules, graphs, encoder):
    recipe = make_recipe(encoder=encoder, hidden=16, prototypes=2, plus=True)
    wrapped = PyGModule(build(recipe, molecules.graphs.schema), molecules.graphs.schema).eval()
    for data in graphs[:5]:
        one_way = (data.edge_index[0] < data.edge_index[1]) & (torch.arange(data.num_edges) % 3 > 0)
        kept = {tuple(edge) for edge in data.edge_index[:, one_way].t().tolist()}
        both = torch.tensor([(a, b) in kept or (b, a) in kept for a, b in data.edge_index.t().tolist()])
        logits = []
        for mask in (one_way, both):
            set_masks(wrapped, mask.float(), data.edge_index, apply_sigmoid=False)
            with torch.no_grad():
                logits.append(wrapped(data.x, data.edge_index, edge_attr=data.edge_attr))
        clear_masks(wrapped)
        assert torch.equal(*logits)


def test_explanations_can_be_compared_with_known_motifs():
    graphs = ba_2motifs(40)
    trained = train(SplitData(graphs, graphs), make_recipe(**QUICK))
    asking = explainer(PyGModule(trained.model, graphs.schema))
    for data in graphs[:2].to_pyg():
        found = asking(data.x, data.edge_index)
        accuracy, auroc = groundtruth_metrics(found.node_mask, data.node_mask.float(), ["accuracy", "auroc"])
        assert 0 <= accuracy <= 1 and 0 <= auroc <= 1


def test_masks_can_be_asked_for_one_at_a_time(model, graphs):
    data = graphs[0]
    nodes = explainer(model, edge_mask_type=None)(data.x, data.edge_index, edge_attr=data.edge_attr)
    edges = explainer(model, node_mask_type=None)(data.x, data.edge_index, edge_attr=data.edge_attr)
    assert nodes.available_explanations == ["node_mask"] and edges.available_explanations == ["edge_mask"]


def test_other_explainers_of_pyg_work_on_our_models(model, graphs):
    data = graphs[0]
    asking = explainer(model, GNNExplainer(epochs=3), node_mask_type="attributes")
    found = asking(data.x, data.edge_index, edge_attr=data.edge_attr)
    assert found.edge_mask.std() > 0  # every edge has a gradient of its own
    torch.testing.assert_close(found.prediction, model(**inputs(data)))  # and no mask is left behind


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model_config": {"mode": "regression", "task_level": "graph"}}, "got 'regression'"),
        (
            {"model_config": {"mode": "binary_classification", "task_level": "graph", "return_type": "raw"}},
            "multiclass_classification.*two classes",
        ),
        ({"model_config": {**CLASSES, "return_type": "probs"}}, "logits.*got 'probs'"),
        ({"node_mask_type": "attributes"}, "got 'attributes'"),
    ],
)
def test_settings_that_mean_nothing_here_are_refused_by_name(model, changes, message):
    with pytest.raises(ValueError, match=message):
        explainer(model, **changes)


def test_models_that_cannot_be_explained_are_refused(model, molecules, graphs):
    data = graphs[0]
    with pytest.raises(ValueError, match=r"Expected task_level='graph' for this model \(got 'edge'\)"):
        explainer(model, model_config={**CLASSES, "task_level": "edge"})(**inputs(data))
    with pytest.raises(ValueError, match=r"PyGModule \(got GCN\)"):
        explainer(GCN(data.num_features, 8, 2, 3))(data.x, data.edge_index)
    plain = PyGModule(build(make_recipe(hidden=8, head="plain"), molecules.graphs.schema))
    with pytest.raises(ProtGNNError, match="no prototypes"):
        explainer(plain)(data.x, data.edge_index, edge_attr=data.edge_attr)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"edge_attr": None}, "pass edge_attr"),
        ({"edge_attr": torch.zeros(2, 1)}, r"\[edges, \d+\] \(got \(2, 1\)\)"),
        ({"x": torch.zeros(99, 2)}, "node features"),
        ({"batch": torch.tensor([1, 0])}, "ascending order"),
        ({"edge_index": torch.tensor([[0], [999]])}, "got 999"),
    ],
)
def test_inputs_that_do_not_fit_are_refused(model, graphs, changes, message):
    data: Data = graphs[0]
    with pytest.raises(DataError, match=message):
        model(**{**inputs(data), **changes})


def test_importing_the_package_leaves_pyg_alone():
    program = "import sys, protgnn.explain; print('torch_geometric' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
    import protgnn.explain

    with pytest.raises(AttributeError, match="nonsense"):
        _ = protgnn.explain.nonsense
