"""What a graph is made of: amounts and step functions, against plain versions."""

import numpy as np
import pytest
import torch

from protgnn.data.batch import Batch
from protgnn.featurizers.amount_names import amount_names
from protgnn.featurizers.molecule import from_smiles
from protgnn.model.composition import BINS, Composition, amounts

MOLECULES = ["CCO", "c1ccccc1", "CC(=O)Nc1ccc(O)cc1", "C"]


@pytest.fixture(scope="module")
def graphs():
    return from_smiles(MOLECULES)


@pytest.fixture
def composition(graphs) -> Composition:
    made = Composition(graphs.num_features, 3)
    generator = torch.Generator().manual_seed(0)
    made.thresholds.copy_(torch.rand(made.thresholds.shape, generator=generator).mul(4).sort(1).values)
    made.steps.copy_(torch.randn(made.steps.shape, generator=generator))
    return made


def test_amounts_are_the_size_the_totals_and_the_means(graphs):
    found = amounts(graphs.batch())
    for number in range(len(graphs)):
        x = graphs[number].x
        wanted = torch.cat([torch.tensor([float(len(x))]), x.sum(0), x.mean(0)])
        torch.testing.assert_close(found[number], wanted, rtol=0, atol=1e-4)
    names = [name.text for name in amount_names(graphs.schema)]
    assert len(names) == found.shape[1] and names[0] == "atoms"
    assert found[1, names.index("aromatic atoms")] == 6 and found[1, names.index("share of aromatic")] == 1


def test_amounts_of_molecules_are_told_in_the_units_of_chemists(graphs):
    from rdkit.Chem import MolFromSmiles, rdMolDescriptors

    mol = MolFromSmiles(MOLECULES[2])
    log_p, refractivity = (sum(shares) for shares in zip(*rdMolDescriptors._CalcCrippenContribs(mol), strict=True))
    wanted = {"polar area": rdMolDescriptors.CalcTPSA(mol), "logP without H": log_p}
    wanted |= {
        "refractivity without H": refractivity,
        "surface without H": sum(rdMolDescriptors._CalcLabuteASAContribs(mol)[0]),
    }
    for name, amount in zip(amount_names(graphs.schema), amounts(graphs.batch())[2].tolist(), strict=True):
        if name.text in wanted:
            assert amount * name.unit == pytest.approx(wanted.pop(name.text), abs=0.05)
    assert not wanted


def test_each_amount_adds_the_step_that_it_has_reached(graphs, composition):
    found, amount = composition.each(graphs.batch()), amounts(graphs.batch())
    for graph in range(len(graphs)):
        for column in range(amount.shape[1]):
            reached = sum(float(amount[graph, column]) >= float(bound) for bound in composition.thresholds[column])
            assert torch.equal(found[graph, column], composition.steps[column, reached])
    torch.testing.assert_close(composition(graphs.batch()), found.sum(1))


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
    assert composition.steps.shape[1] == BINS and np.isfinite(composition.steps.numpy()).all()
