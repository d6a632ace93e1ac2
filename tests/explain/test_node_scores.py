"""How much each node and edge counts in a ProtGNN+ with mined prototypes, against a plain version of the same sums."""

import pytest
import torch

from protgnn.data.subgraph import cut
from protgnn.data.units import members
from protgnn.explain.explanation import explain
from protgnn.explain.node_scores import edges_of_parts, place_share
from protgnn.featurizers.graph_units import units_of
from protgnn.featurizers.molecule import from_smiles, parse
from protgnn.model.composition import Composition, Trees, amounts
from protgnn.model.mined import ProtGNNMined
from protgnn.training.build import build
from protgnn.training.mined_algorithm import place_prototypes
from protgnn.training.recipe import make_recipe

MOLECULES = ["CC(=O)Nc1ccc(O)cc1", "c1ccc2ccccc2c1", "CC(C)(C)OC(=O)N", "Clc1ccccc1Cl", "O", "CCCCO"]
SOURCES = [
    {"graph": 1, "nodes": [0, 1, 2, 3, 8, 9], "label": 1, "counts": True},  # a ring of naphthalene
    {"graph": 3, "nodes": [0], "label": 0, "counts": True},  # a chlorine
    {"graph": 0, "nodes": [1, 2, 3], "label": 1, "counts": False},  # an amide
]


@pytest.fixture(scope="module")
def graphs():
    return from_smiles(MOLECULES, torch.tensor([0, 1] * 3), ("no", "yes"))


@pytest.fixture(params=[False, True], ids=["parts", "parts and composition"])
def model(request, graphs) -> ProtGNNMined:
    torch.manual_seed(0)
    made = build(make_recipe(plus=True, evidence="mined", hidden=8), graphs.schema)
    assert isinstance(made, ProtGNNMined) and made.composition is not None
    place_prototypes(made, graphs, SOURCES)
    with torch.no_grad():
        made.head.last.weight.copy_(torch.tensor([[0.0, 0.5, 0.0], [0.7, 0.0, 0.4]]))
    if request.param:
        generator = torch.Generator().manual_seed(0)
        asked = torch.randint(made.composition.num_amounts, (60, 3), generator=generator)
        bound = amounts(graphs.batch())[torch.randint(len(graphs), (60, 3), generator=generator), asked]
        values = (torch.randn(shape, generator=generator) for shape in ((60, 2, 2), (60, 4, 2), (2,)))
        made.composition.load_trees(Trees(asked, bound, *values))
    return made.eval()


def added(composition: Composition | None, graph) -> list[float]:
    if composition is None or not composition.is_fitted:
        return [0.0, 0.0]
    return composition(graph.batch())[0].tolist()


def plain_shares(model: ProtGNNMined, graph, smiles: str) -> tuple[int, list[float], list[float]]:
    """The predicted class, and what every node of one graph has as one of several and as the only one."""
    found, units = model.evidence(graph.batch()), units_of(graph, parse(smiles))
    winner = int(model(graph.batch()).argmax())
    weight = model.head.last.weight[winner].tolist()
    gain = [max(0.0, weight[k] * float(found.value[0, k])) for k in range(3)]
    whole, nodes = added(model.composition, graph), []
    for node in range(len(graph.x)):
        keeps = torch.arange(len(graph.x)) != node
        if not keeps.any():
            rest = whole if not model.composition.is_fitted else without_atoms(model.composition, graph)
        else:
            rest = added(model.composition, cut(graph, torch.tensor([0]), keeps))
        other = 1 - winner
        nodes.append(max(0.0, (whole[winner] - rest[winner]) - (whole[other] - rest[other])))
    total = max(sum(gain) + sum(nodes), 1e-12)
    several, lone = [0.0] * len(nodes), [value / total for value in nodes]
    for (_, column), places in found.nodes().items():
        similar = [similarity_of(found, place, column) for place in places]
        for place, near in zip(places, similar, strict=True):
            inside = [unit for unit in units.all_units() if set(members(unit)) <= set(place)]
            for unit in inside:
                for node in members(unit):
                    share = gain[column] / total * near / max(similar[0], 1e-12) / len(inside) / unit.bit_count()
                    (lone if len(place) == 1 else several)[node] += share
    return winner, several, lone


def without_atoms(composition: Composition, graph) -> list[float]:
    """What is added to a molecule none of whose atoms are present."""
    return composition(graph.batch(), torch.zeros(len(graph.x), dtype=torch.bool))[0].tolist()


def similarity_of(found, place: tuple[int, ...], column: int) -> float:
    row = found.parts.masks.index(sum(1 << node for node in place))
    return float(found.similar[row, column])


def test_nodes_have_what_prototypes_and_the_composition_lose_without_them(model, graphs):
    batch = graphs.batch()
    with torch.no_grad():
        node, edge, predicted = place_share(model, batch)
        for number, smiles in enumerate(MOLECULES):
            own, first = slice(*graphs.node_ptr[number : number + 2].tolist()), int(graphs.node_ptr[number])
            winner, several, lone = plain_shares(model, graphs[number], smiles)
            assert int(predicted[number]) == winner
            expected = torch.tensor(several) + torch.tensor(lone)
            torch.testing.assert_close(node[own], expected, rtol=0, atol=1e-5)
            edges = batch.batch[batch.edge_index[0]] == number
            ends = batch.edge_index[:, edges] - first
            expected = edges_of_parts(torch.tensor(several), torch.tensor(lone), ends)
            torch.testing.assert_close(edge[edges], expected, rtol=0, atol=1e-5)


def test_masks_for_pyg_are_these_scores(model, graphs):
    """Also of edges: an atom by itself has none inside it, and its bonds must not all score zero."""
    from torch_geometric.explain import Explainer

    from protgnn.explain import ProtGNNExplainer, PyGModule

    asking = Explainer(
        PyGModule(model, graphs.schema).eval(),
        ProtGNNExplainer(),
        explanation_type="model",
        node_mask_type="object",
        edge_mask_type="object",
        model_config={"mode": "multiclass_classification", "task_level": "graph", "return_type": "raw"},
    )
    with torch.no_grad():
        for number in (0, 3, 5):
            graph = graphs[number]
            node, edge, _ = place_share(model, graph.batch())
            found = asking(graph.x, graph.edge_index, edge_attr=graph.edge_attr)
            torch.testing.assert_close(found.node_mask.squeeze(1), node / node.max().clamp(min=1e-12))
            torch.testing.assert_close(found.edge_mask, edge / edge.max().clamp(min=1e-12))


def test_masks_of_a_reasoning_score_the_bonds_of_a_lone_atom(model, graphs):
    if model.composition is not None and model.composition.is_fitted:
        model.composition.reset()
    why = explain(model, graphs)[3]  # dichlorobenzene: two chlorines, each a part by itself
    for score, (source, target) in zip(why.edge_mask(0).tolist(), graphs[3].edge_index.t().tolist(), strict=True):
        assert (score > 0) == bool({0, 7} & {source, target})
    assert why.node_mask(0).squeeze(1).nonzero().squeeze(1).tolist() == [0, 7]
