"""Molecules as one would draw them: without salts, solvents and charges that can be taken off.

RDKit's standardiser does it: groups are written in one way, metals cut off, the largest organic fragment is kept, and
charges are neutralised by moving hydrogens. What has no carbon stays as it is: of table salt, acid would be left.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from protgnn.featurizers.molecule import parse

if TYPE_CHECKING:
    from rdkit.Chem import Mol


def has_carbon(mol: Mol) -> bool:
    """Whether there is an organic fragment that can be kept."""
    return any(atom.GetAtomicNum() == 6 for atom in mol.GetAtoms())


def standardised_smiles(mol: Mol) -> str | None:
    """The canonical SMILES of a molecule's standard form; nothing where it has no carbon or RDKit cannot make one."""
    from rdkit.Chem import MolToSmiles
    from rdkit.Chem.MolStandardize import rdMolStandardize

    if not has_carbon(mol):
        return None
    chooser, uncharger = _tools()
    try:
        clean = rdMolStandardize.Cleanup(mol)
        found = str(MolToSmiles(uncharger.uncharge(chooser.choose(clean))))
    except (RuntimeError, ValueError):
        return None
    return found if parse(found) is not None else None


@cache
def _tools() -> tuple[Any, Any]:
    from rdkit.Chem.MolStandardize import rdMolStandardize

    return rdMolStandardize.LargestFragmentChooser(preferOrganic=True), rdMolStandardize.Uncharger()
