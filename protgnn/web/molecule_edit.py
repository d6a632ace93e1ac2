"""Taking an atom out of a molecule, for those who edit without an editor."""

from __future__ import annotations

from protgnn.errors import DataError
from protgnn.featurizers.molecule import parse, quiet, shorten


def without_atom(smiles: str, atom: int) -> str:
    """The SMILES of a molecule without one of its atoms; the largest piece where it falls apart.

    Atoms that lose a bond get hydrogens for it, and rings that are opened are no longer aromatic.

    Raises:
        DataError: The SMILES cannot be read, there is no such atom, or nothing is left.
    """
    from rdkit import Chem

    with quiet():
        mol = parse(smiles.strip())
        if mol is None:
            raise DataError(f"RDKit cannot read the SMILES {shorten(smiles)}")
        if not 0 <= atom < mol.GetNumAtoms():
            raise DataError(f"The molecule has {mol.GetNumAtoms()} atoms (atom {atom} was asked for)")
        if mol.GetNumAtoms() == 1:
            raise DataError("This is the last atom: nothing would be left")
        edited = Chem.RWMol(mol)
        Chem.Kekulize(edited, clearAromaticFlags=True)
        for neighbour in list(edited.GetAtomWithIdx(atom).GetNeighbors()):
            bond = edited.GetBondBetweenAtoms(atom, neighbour.GetIdx())
            if neighbour.GetNoImplicit():
                freed = int(bond.GetBondTypeAsDouble())
                neighbour.SetNumExplicitHs(neighbour.GetNumExplicitHs() + freed)
        edited.RemoveAtom(atom)
        try:
            Chem.SanitizeMol(edited)
            pieces = Chem.GetMolFrags(edited, asMols=True)
        except (ValueError, RuntimeError):
            raise DataError("Without this atom the molecule has no valid form: take another one out first") from None
        largest = max(pieces, key=lambda piece: piece.GetNumAtoms())
        text: str = Chem.MolToSmiles(largest)
    return text
