"""Motif molecules are balanced, unique, repeatable, and their true atoms match the pattern."""

import numpy as np
import pytest
import torch
from rdkit import Chem

from protgnn.errors import DataError
from protgnn.graphs.motifs import TASKS, motif_molecules
from tests.graphs.random_graphs import assert_same


@pytest.mark.parametrize("task", ["sulfonamide", "carboxylic-acid"])
def test_labels_and_true_atoms_follow_the_pattern(task: str) -> None:
    graphs = motif_molecules(task)
    query = Chem.MolFromSmarts(TASKS[task])
    sizes = graphs.y.bincount().tolist()
    assert sizes[0] == sizes[1] > 200
    for number in range(0, len(graphs), 50):
        graph = graphs[number]
        mol = Chem.MolFromSmiles(graph.names[0])
        atoms = {atom for match in mol.GetSubstructMatches(query) for atom in match}
        assert set(graph.node_truth.nonzero().flatten().tolist()) == atoms
        assert bool(atoms) == bool(graph.y)


def test_no_molecule_comes_twice() -> None:
    names = motif_molecules("nitro").names
    canonical = {Chem.MolToSmiles(Chem.MolFromSmiles(name)) for name in names}
    assert len(canonical) == len(names)


def test_every_motif_has_enough_molecules_to_learn_from() -> None:
    from protgnn.graphs.molecules import parse, pattern, quiet
    from protgnn.graphs.motifs import _smiles

    with quiet():
        mols = [mol for mol in map(parse, _smiles()) if mol is not None]
    for task, smarts in TASKS.items():
        query = pattern(smarts)
        assert sum(mol.HasSubstructMatch(query) for mol in mols) > 100, task


def test_the_seed_decides_which_molecules_are_left_out() -> None:
    state = np.random.get_state()[1].copy()
    first = motif_molecules("nitrile", seed=1)
    assert_same(motif_molecules("nitrile", seed=1), first)
    assert motif_molecules("nitrile", seed=2).names != first.names
    assert np.array_equal(np.random.get_state()[1], state)
    assert torch.equal(first.y.bincount(), torch.tensor([len(first) // 2] * 2))


def test_an_unknown_motif_lists_the_known_ones() -> None:
    with pytest.raises(DataError, match="amide, carboxylic-acid"):
        motif_molecules("gold")
