"""Motif molecules are balanced, unique, repeatable, and their true atoms match the pattern."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import torch
from rdkit import Chem

from protgnn.data.graph_set import GraphSet
from protgnn.data.stats import fingerprint
from protgnn.data.validate import check
from protgnn.datasets.builtin.smarts_motifs import COMBINED_TASKS, MOTIFS, motif_molecules, parse_task
from protgnn.datasets.new_input import known_columns
from protgnn.errors import DataError
from protgnn.featurizers.atom_properties import ATOM_PROPERTIES
from tests.data.random_graphs import assert_same


@pytest.mark.parametrize("task", ["sulfonamide", "carboxylic-acid"])
def test_labels_and_true_atoms_follow_the_pattern(task: str) -> None:
    graphs = motif_molecules(task)
    query = Chem.MolFromSmarts(MOTIFS[task])
    sizes = graphs.y.bincount().tolist()
    assert sizes[0] == sizes[1] > 200
    for number in range(0, len(graphs), 50):
        graph = graphs[number]
        mol = Chem.MolFromSmiles(graph.names[0])
        atoms = {atom for match in mol.GetSubstructMatches(query) for atom in match}
        assert set(graph.node_mask.nonzero().flatten().tolist()) == atoms
        assert bool(atoms) == bool(graph.y)


def test_no_molecule_comes_twice() -> None:
    names = motif_molecules("nitro").names
    canonical = {Chem.MolToSmiles(Chem.MolFromSmiles(name)) for name in names}
    assert len(canonical) == len(names)


def test_every_motif_has_enough_molecules_to_learn_from() -> None:
    from protgnn.datasets.builtin.tables import read_packaged
    from protgnn.featurizers.molecule import parse, pattern, quiet

    with quiet():
        mols = [mol for mol in (parse(row["smiles"]) for row in read_packaged("chembl")) if mol is not None]
    for task, smarts in MOTIFS.items():
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


def holds(graphs: GraphSet, motif: str) -> list[bool]:
    query = Chem.MolFromSmarts(MOTIFS[motif])
    return [Chem.MolFromSmiles(name).HasSubstructMatch(query) for name in graphs.names]


def marked(graphs: GraphSet, number: int) -> set[int]:
    return set(graphs[number].node_mask.nonzero().flatten().tolist())


def matches(name: str, *motifs: str) -> set[int]:
    mol = Chem.MolFromSmiles(name)
    queries = [Chem.MolFromSmarts(MOTIFS[motif]) for motif in motifs]
    return {atom for query in queries for match in mol.GetSubstructMatches(query) for atom in match}


def test_a_conjunction_asks_for_both_motifs_and_its_other_class_has_each_way_to_miss() -> None:
    graphs = motif_molecules("amide+aryl-chloride")
    first, second = holds(graphs, "amide"), holds(graphs, "aryl-chloride")
    assert graphs.y.tolist() == [int(one and other) for one, other in zip(first, second, strict=True)]
    size = len(graphs) // 2
    assert graphs.y.bincount().tolist() == [size, size]
    reasons = Counter(pair for pair in zip(first, second, strict=True) if not all(pair))
    assert set(reasons) == {(False, False), (True, False), (False, True)}
    assert max(reasons.values()) - min(reasons.values()) <= 1
    for number in range(0, len(graphs), 7):
        wanted = matches(graphs.names[number], "amide", "aryl-chloride") if graphs.y[number] else set()
        assert marked(graphs, number) == wanted
    assert graphs.schema.class_names == ("not both amide and aryl chloride", "amide and aryl chloride")


def test_a_disjunction_asks_for_either_motif() -> None:
    graphs = motif_molecules("nitro|nitrile")
    first, second = holds(graphs, "nitro"), holds(graphs, "nitrile")
    assert graphs.y.tolist() == [int(one or other) for one, other in zip(first, second, strict=True)]
    assert graphs.y.bincount().tolist() == [len(graphs) // 2] * 2
    for number in range(0, len(graphs), 7):
        assert marked(graphs, number) == matches(graphs.names[number], "nitro", "nitrile")
    assert graphs.schema.class_names == ("neither nitro nor nitrile", "nitro or nitrile")


def test_an_absent_motif_is_the_mark_of_the_second_class() -> None:
    graphs = motif_molecules("!ketone")
    assert graphs.y.tolist() == [int(not held) for held in holds(graphs, "ketone")]
    assert graphs.schema.class_names == ("ketone", "no ketone")
    owner = torch.arange(len(graphs)).repeat_interleave(graphs.node_counts)
    found = torch.bincount(owner[graphs.node_mask], minlength=len(graphs)) > 0
    assert torch.equal(found, graphs.y == 0)


def test_combined_tasks_are_repeatable_and_have_enough_molecules() -> None:
    for task in COMBINED_TASKS:
        first = motif_molecules(task, seed=3)
        assert len(first) >= 200, task
        assert_same(motif_molecules(task, seed=3), first)
    assert motif_molecules("ester+alcohol", seed=4).names != motif_molecules("ester+alcohol", seed=3).names


@pytest.mark.parametrize(
    ("task", "words"),
    [
        ("amide+gold", "Unknown motif 'gold'"),
        ("nitro|", "Unknown motif ''"),
        ("!amide+nitro", r"Unknown motif 'amide\+nitro'"),
        ("amide+amide", "names a motif twice"),
    ],
)
def test_a_task_that_says_nothing_is_refused(task: str, words: str) -> None:
    with pytest.raises(DataError, match=words):
        parse_task(task)


def test_a_task_that_hardly_any_molecule_fits_is_refused() -> None:
    with pytest.raises(DataError, match="molecules are left to one class"):
        motif_molecules("nitro+piperazine+sulfonamide")


def test_the_molecules_are_those_of_every_earlier_version() -> None:
    """Stored runs and results name this data by its fingerprint."""
    graphs = check(motif_molecules(), training=True)[0]
    before = replace(graphs.schema, node_features=graphs.schema.node_features[: -len(ATOM_PROPERTIES)])
    assert fingerprint(known_columns(graphs, before)).startswith("f5bf6b1c864e9521")
