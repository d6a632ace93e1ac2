"""Which parts are worth a closer look: those that tell classes apart, and those that tell what the others do not."""

import numpy as np
from rdkit import Chem
from scipy.sparse import csr_array

from protgnn.data.parts import all_parts, part_set
from protgnn.data.units import members
from protgnn.datasets.builtin.smarts_motifs import motif_molecules
from protgnn.featurizers.molecule import parse
from protgnn.featurizers.part_rule import PartRule
from protgnn.training.mining_shortlist import FIRST, shortlist, telling


def test_the_first_columns_are_those_that_agree_best_with_the_classes():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 300)
    values = rng.poisson(1.0 + 0.3 * (y[:, None] == rng.integers(0, 3, 80)), (300, 80)).astype(float)
    cost = rng.random(80) * 0.1
    found = telling(csr_array(values), y, cost)
    for label in range(3):
        residual = (y == label) - (y == label).mean()
        z = [(values[:, k] - values[:, k].mean()) @ residual / (values[:, k].std() * residual.std()) for k in range(80)]
        best = np.argsort(-(np.array(z) / np.sqrt(300) - cost))[:FIRST]
        assert set(best.tolist()) <= set(found)


def test_what_a_common_part_leaves_wrong_is_found_behind_all_its_variants():
    rng = np.random.default_rng(1)
    common, rare = rng.random(2000) < 0.4, rng.random(2000) < 0.02
    y = (common | rare).astype(int)
    variants = common[:, None] & (rng.random((2000, 300)) < 0.5)
    noise = rng.random((2000, 300)) < 0.1
    values = np.concatenate([variants, noise, rare[:, None]], 1).astype(float)
    alone = np.corrcoef(values.T, y)[-1, :-1]
    assert (alone[:300] > alone[600]).sum() > 2 * FIRST  # by itself the rare part would come after its betters
    assert 600 in telling(csr_array(values), y, np.zeros(601))


def test_candidates_recur_and_hold_the_motif():
    graphs = motif_molecules("nitro", seed=0)[:300]
    assert graphs.y is not None
    batch, rule = graphs.batch(), PartRule.of(graphs.schema)
    parts = part_set(batch, [all_parts(own, 6, 200) for own in rule.units(batch)], rule.kinds(batch), 3)
    chosen = shortlist(parts, graphs.y.numpy())
    assert (np.diff(chosen) > 0).all()
    nitro = "[N+](=O)[O-]"
    shown = set()
    for place in parts.first[chosen].tolist():
        mol, atoms = parse(graphs.names[parts.graph[place]]), list(members(parts.masks[place]))
        shown.add(Chem.MolFragmentToSmiles(mol, atoms, isomericSmiles=False))
    assert Chem.MolFragmentToSmiles(parse(f"C{nitro}"), [1, 2, 3]) in shown
