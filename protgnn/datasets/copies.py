"""Molecules that occur more than once, however they are written."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import torch

from protgnn.data.graph_set import GraphSet
from protgnn.data.split import Split
from protgnn.featurizers.molecule import parse, quiet

_COUNTED = ("element=", "degree=", "hydrogens=")
"""Columns whose sums over a molecule are whole numbers, and the same for every copy of it."""


def copy_groups(graphs: GraphSet) -> np.ndarray | None:
    """A number ``[G]`` that molecules of one canonical SMILES share; none where no molecule occurs twice."""
    if graphs.schema.featurizer != "molecule" or graphs.names is None:
        return None
    found = np.arange(len(graphs))
    first: dict[str, int] = {}
    with quiet():
        for number in _candidates(graphs):
            smiles = canonical_smiles(graphs.names[number])
            found[number] = first.setdefault(smiles, number)
    return found if len(np.unique(found)) < len(found) else None


def canonical_smiles(smiles: str) -> str:
    """The one way in which RDKit writes a molecule; a text that is no SMILES stays as it is."""
    from rdkit.Chem import MolToSmiles

    mol = parse(smiles)
    return smiles if mol is None else str(MolToSmiles(mol))


def torn_copies(graphs: GraphSet, split: Split) -> int:
    """How many molecules have copies in different parts of a split."""
    groups = copy_groups(graphs)
    if groups is None:
        return 0
    part = np.full(len(graphs), -1)
    for number, members in enumerate((split.train, split.valid, split.test)):
        part[members.numpy()] = number
    known = part >= 0
    pairs = np.unique(np.stack([groups[known], part[known]]), axis=1)
    return int((np.unique(pairs[0], return_counts=True)[1] > 1).sum())


def _candidates(graphs: GraphSet) -> list[int]:
    """Molecules with as many atoms, bonds and atoms of each kind as another one: writing SMILES takes longer."""
    counted = [number for number, name in enumerate(graphs.schema.node_features) if name.startswith(_COUNTED)]
    owner = torch.arange(len(graphs)).repeat_interleave(graphs.node_counts)
    sums = torch.zeros(len(graphs), len(counted)).index_add(0, owner, graphs.x[:, counted].to(torch.float32))
    key = torch.cat([graphs.edge_counts[:, None], sums.round().to(torch.int64)], dim=1).numpy()
    alike: dict[bytes, list[int]] = defaultdict(list)
    for number, row in enumerate(key):
        alike[row.tobytes()].append(number)
    return sorted(number for members in alike.values() if len(members) > 1 for number in members)
