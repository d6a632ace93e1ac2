"""What a graph is made of: amounts and trees over them, against plain versions."""

import pytest
import torch

from protgnn.data.batch import Batch
from protgnn.featurizers.amount_names import amount_names
from protgnn.featurizers.molecule import from_smiles
from protgnn.model.composition import TREES, Composition, Trees, amounts

MOLECULES = ["CCO", "c1ccccc1", "CC(=O)Nc1ccc(O)cc1", "C"]


@pytest.fixture(scope="module")
def graphs():
    return from_smiles(MOLECULES)


@pytest.fixture
def composition(graphs) -> Composition:
    made = Composition(graphs.num_features, 3)
    generator = torch.Generator().manual_seed(0)
    asked = torch.randint(made.num_amounts, (40, 3), generator=generator)
    bound = amounts(graphs.batch())[torch.randint(len(graphs), (40, 3), generator=generator), asked]  # some are equal
    shapes = ((40, 2, 3), (40, 4, 3), (3,))
    made.load_trees(Trees(asked, bound, *(torch.randn(shape, generator=generator) for shape in shapes)))
    return made


def plainly(composition: Composition, amount: list[float]) -> tuple[dict[int, list[float]], list[float]]:
    """What each amount adds to every class, and the sum with the base, question by question."""
    classes = composition.base.shape[0]
    each, total = {}, composition.base.tolist()
    for tree in range(TREES):
        (first, *second), (bound, *bounds) = composition.amount[tree].tolist(), composition.bound[tree].tolist()
        high = amount[first] >= bound
        higher = amount[second[high]] >= bounds[high]
        for asked, value in (
            (first, composition.side[tree, int(high)]),
            (second[high], composition.leaf[tree, 2 * high + higher]),
        ):
            own = each.setdefault(asked, [0.0] * classes)
            for label in range(classes):
                own[label] += float(value[label])
                total[label] += float(value[label])
    return each, total


def test_amounts_are_the_size_the_totals_and_the_means(graphs):
    found = amounts(graphs.batch())
    for number in range(len(graphs)):
        x = graphs[number].x
        wanted = torch.cat([torch.tensor([float(len(x))]), x.sum(0), x.mean(0)])
        torch.testing.assert_close(found[number], wanted, rtol=0, atol=1e-4)
    names = [name.text for name in amount_names(graphs.schema)]
    assert len(names) == found.shape[1] and names[0] == "heavy atoms"
    assert found[0, names.index("atoms with 1 neighbour")] == 2 and found[2, names.index("sp3 atoms")] == 1
    assert found[1, names.index("aromatic atoms")] == 6 and found[1, names.index("share of aromatic atoms")] == 1


def test_amounts_of_molecules_are_told_in_the_units_of_chemists(graphs):
    from rdkit.Chem import MolFromSmiles, rdMolDescriptors

    mol = MolFromSmiles(MOLECULES[2])
    log_p, refractivity = (sum(shares) for shares in zip(*rdMolDescriptors._CalcCrippenContribs(mol), strict=True))
    wanted = {"polar surface area (TPSA)": rdMolDescriptors.CalcTPSA(mol), "heavy-atom part of Crippen logP": log_p}
    wanted |= {
        "heavy-atom part of Crippen refractivity": refractivity,
        "heavy-atom part of Labute surface area": sum(rdMolDescriptors._CalcLabuteASAContribs(mol)[0]),
    }
    for name, amount in zip(amount_names(graphs.schema), amounts(graphs.batch())[2].tolist(), strict=True):
        if name.text in wanted:
            assert amount * name.unit == pytest.approx(wanted.pop(name.text), abs=0.05)
    assert not wanted


def test_each_amount_adds_what_the_answers_to_its_questions_add(graphs, composition):
    found, total, amount = composition.each(graphs.batch()), composition(graphs.batch()), amounts(graphs.batch())
    for graph in range(len(graphs)):
        each, summed = plainly(composition, amount[graph].tolist())
        wanted = torch.zeros(composition.num_amounts, 3)
        for asked, values in each.items():
            wanted[asked] = torch.tensor(values)
        torch.testing.assert_close(found[graph], wanted, rtol=0, atol=1e-5)
        torch.testing.assert_close(total[graph], torch.tensor(summed), rtol=0, atol=1e-5)


def test_trees_are_taken_in_place_of_those_before(graphs, composition):
    few = Trees(
        torch.zeros(1, 3, dtype=torch.int64),
        torch.zeros(1, 3),
        torch.ones(1, 2, 3),
        torch.zeros(1, 4, 3),
        torch.ones(3),
    )
    composition.load_trees(few)
    assert composition(graphs.batch()).tolist() == [[2.0] * 3] * len(graphs) and composition.is_fitted
    composition.reset()
    assert not composition.is_fitted and not composition(graphs.batch()).any()


def test_edges_and_company_do_not_matter(graphs, composition):
    together = composition(graphs.batch())
    for number in range(len(graphs)):
        torch.testing.assert_close(composition(graphs[number].batch())[0], together[number])
    batch = graphs.batch()
    apart = Batch(batch.x, batch.edge_index[:, :0], batch.batch, batch.num_graphs, batch.edge_attr[:0])
    assert torch.equal(composition(apart), together)


def test_dividing_divides_what_is_added(graphs, composition):
    before = composition(graphs.batch())
    composition.divide(2.5)
    torch.testing.assert_close(composition(graphs.batch()), before / 2.5)


def test_without_a_node_a_graph_is_what_is_left_of_it(graphs, composition):
    batch = graphs.batch()
    found = composition.without_each_node(batch)
    for node in range(len(batch.x)):
        present = torch.arange(len(batch.x)) != node
        wanted = composition(batch, present)[batch.batch[node]]
        torch.testing.assert_close(found[node], wanted, rtol=0, atol=1e-5)
