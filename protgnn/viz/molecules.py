"""Molecules with RDKit: bond orders, charges and hydrogens as a chemist draws them, in one ink.

Atoms are not coloured by element: colour is kept for evidence, which would drown among red oxygens.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import numpy as np

from protgnn.viz.nearest import nearest_nodes
from protgnn.viz.picture import Picture, Spot

if TYPE_CHECKING:
    from rdkit.Chem import Mol

_BOND_LENGTH = 30.0
_MOST_ATOMS = 250  # of a larger molecule only the surroundings of what matters can be seen, and soon enough
_NUMBER = re.compile(r"-?\d+\.\d+")


def draw_molecule(mol: Mol, only: Collection[int] | None = None, focus: Collection[int] = ()) -> Picture:
    """A molecule; with ``only`` some atoms matter, and the rest is there but pale.

    Of a molecule that is too large to be seen, the atoms nearest to ``only`` and ``focus`` are shown, and the picture
    says so. Their numbers in the picture are those of the whole molecule.
    """
    pairs = [(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()) for bond in mol.GetBonds()]
    total = mol.GetNumAtoms()
    chosen: list[int] = nearest_nodes(total, np.array(pairs), [*(only or ()), *focus], _MOST_ATOMS).tolist()
    if len(chosen) == total:
        return _drawn(mol, only)
    place = {atom: number for number, atom in enumerate(chosen)}
    matters = None if only is None else [place[atom] for atom in only if atom in place]
    part = _drawn(_cut_out(mol, chosen), matters)
    return replace(
        part,
        spots={chosen[number]: spot for number, spot in part.spots.items()},
        links={(chosen[start], chosen[end]): path for (start, end), path in part.links.items()},
        note=f"{len(chosen)} of {total} atoms are shown",
    )


def _cut_out(mol: Mol, atoms: list[int]) -> Mol:
    """Some atoms of a molecule in their order, with the hydrogens that they have in it."""
    from rdkit import Chem

    kept = set(atoms)
    part = Chem.RWMol(mol)
    part.BeginBatchEdit()
    for atom in part.GetAtoms():
        if atom.GetIdx() not in kept:
            part.RemoveAtom(atom.GetIdx())
        elif any(other.GetIdx() not in kept for other in atom.GetNeighbors()):
            hydrogens = atom.GetTotalNumHs()
            atom.SetNoImplicit(True)
            atom.SetNumExplicitHs(hydrogens)
    part.CommitBatchEdit()
    cut = part.GetMol()
    cut.UpdatePropertyCache(strict=False)
    return cut


def _drawn(mol: Mol, only: Collection[int] | None) -> Picture:
    from rdkit import Chem
    from rdkit.Chem import rdDepictor
    from rdkit.Chem.Draw import rdMolDraw2D

    kekulised = _kekulised(Chem.Mol(mol))
    rdDepictor.Compute2DCoords(kekulised, canonOrient=True)
    rdDepictor.StraightenDepiction(kekulised)
    drawer = rdMolDraw2D.MolDraw2DSVG(-1, -1)
    options: Any = drawer.drawOptions()
    options.useBWAtomPalette()
    options.clearBackground = False
    options.bondLineWidth = 1.6
    options.scalingFactor = _BOND_LENGTH
    options.fixedFontSize = 15
    options.padding = 0.0
    options.additionalAtomLabelPadding = 0.06
    options.prepareMolsBeforeDrawing = False
    options.includeRadicals = False  # in a part that was cut out they are cut bonds
    drawer.DrawMolecule(kekulised)
    spots = {}
    for number in range(kekulised.GetNumAtoms()):
        point = drawer.GetDrawCoords(number)
        spots[number] = Spot(point.x, point.y, 20.0, 20.0)
    drawer.FinishDrawing()
    root = ElementTree.fromstring(drawer.GetDrawingText())
    body = "".join(_element(part, None if only is None else set(only)) for part in root)
    margin = 12.0
    width, height = (float(value) for value in root.attrib["viewBox"].split()[2:])
    # Room for marks, which reach beyond the drawing at its border.
    left = min([0.0, *(spot.x - 10 for spot in spots.values())]) - margin / 2
    top = min([0.0, *(spot.y - 10 for spot in spots.values())]) - margin / 2
    right = max([width, *(spot.x + 10 for spot in spots.values())]) + margin / 2
    bottom = max([height, *(spot.y + 10 for spot in spots.values())]) + margin / 2
    moved = {number: Spot(spot.x - left, spot.y - top, spot.width, spot.height) for number, spot in spots.items()}
    links = {}
    for bond in mol.GetBonds():
        start, end = sorted((bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()))
        one, other = moved[start], moved[end]
        links[start, end] = f"M{one.x:.1f} {one.y:.1f}L{other.x:.1f} {other.y:.1f}"
    body = f'<g transform="translate({-left:.1f} {-top:.1f})" stroke-linecap="round">{body}</g>'
    return Picture(right - left, bottom - top, body, moved, links, marks_cuts=True)


def _kekulised(mol: Mol) -> Mol:
    """Double bonds in rings where they have a Kekulé form, and dashed aromatic bonds in a ring that was cut."""
    from rdkit import Chem
    from rdkit.Chem.Draw import rdMolDraw2D

    from protgnn.featurizers.molecule import quiet

    with quiet():
        try:
            return rdMolDraw2D.PrepareMolForDrawing(mol, kekulize=True, addChiralHs=False)
        except (ValueError, RuntimeError):
            pass
        try:
            return rdMolDraw2D.PrepareMolForDrawing(mol, kekulize=False, addChiralHs=False)
        except (ValueError, RuntimeError):
            return Chem.Mol(mol)


def _element(part: ElementTree.Element, kept: set[int] | None) -> str:
    """One stroke or letter of RDKit's, in fewer characters and in the ink of the theme."""
    tag = part.tag.rpartition("}")[2]
    if tag not in ("path", "ellipse", "polygon", "rect"):
        return ""
    style = dict(rule.split(":", 1) for rule in part.attrib.get("style", "").split(";") if ":" in rule)
    filled = part.attrib.get("fill") or style.get("fill", "none")
    atoms = {int(name[5:]) for name in part.attrib.get("class", "").split() if name.startswith("atom-")}
    if not atoms:  # where strokes meet RDKit fills the corner; ours are round
        return ""
    ink = "{ink}" if kept is None or atoms <= kept else "{faint}"
    paint = f'fill="{ink}"' if filled != "none" else 'fill="none"'
    if style.get("stroke", "none") != "none":
        dashes = style.get("stroke-dasharray", "none")
        paint += f' stroke="{ink}" stroke-width="{style.get("stroke-width", "1.6").removesuffix("px")}"'
        paint += "" if dashes == "none" else f' stroke-dasharray="{dashes}"'
    shape = " ".join(
        f'{name}="{_NUMBER.sub(_rounded, value)}"'
        for name, value in part.attrib.items()
        if name in ("d", "cx", "cy", "rx", "ry", "points", "x", "y", "width", "height")
    )
    return f"<{tag} {shape.replace(' L ', 'L').replace('M ', 'M').replace(' Q ', 'Q')} {paint}/>"


def _rounded(match: re.Match[str]) -> str:
    return f"{float(match.group()):.1f}".removesuffix(".0")
