"""``motif-molecules``: real ChEMBL molecules labelled by SMARTS patterns, so that the true atoms are known.

A task is written in a small language over the names of ``MOTIFS``:

=================== ==========================================================================================
``amide``           the molecules that hold an amide, against those that do not
``amide+phenol``    those that hold both, against those that hold neither or only one
``nitro|nitrile``   those that hold either, against those that hold neither
``!ketone``         those that hold no ketone, against those that do: the second class has no motif of its own
=================== ==========================================================================================
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Literal

import numpy as np
import torch

from protgnn.data.graph_set import GraphSet
from protgnn.datasets.builtin.tables import read_packaged
from protgnn.errors import DataError
from protgnn.featurizers.molecule import from_molecules, matched_atoms, parse, pattern, quiet

if TYPE_CHECKING:
    from rdkit.Chem import Mol

DEFAULT_TASK = "amide"
MOTIFS = {
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
"""The SMARTS of every motif by its name."""

COMBINED_TASKS = ("amide+aryl-chloride", "ester+alcohol", "amide+phenol", "nitro|nitrile", "!ketone", "!alcohol")
"""Tasks of several motifs, or of one that is absent, that the catalogue lists; any other can be written."""

_FEWEST = 30  # molecules of each class


@dataclass(frozen=True)
class MotifTask:
    """A question about motifs: whether a molecule holds ``all`` or ``any`` of them, or ``none`` of one."""

    rule: Literal["all", "any", "none"]
    motifs: tuple[str, ...]

    @property
    def class_names(self) -> tuple[str, str]:
        """The names of the classes 0 and 1."""
        words = [name.replace("-", " ") for name in self.motifs]
        if self.rule == "none":
            return words[0], f"no {words[0]}"
        if len(words) == 1:
            return f"no {words[0]}", words[0]
        if self.rule == "all":
            return f"not {'both' if len(words) == 2 else 'all of'} {' and '.join(words)}", " and ".join(words)
        return f"neither {' nor '.join(words)}", " or ".join(words)

    @property
    def motif_class(self) -> int:
        """The class whose molecules hold the motifs that decide."""
        return 0 if self.rule == "none" else 1

    def label(self, present: np.ndarray) -> np.ndarray:
        """Classes ``[M]`` of molecules by which motifs they hold, ``[M, motifs]``."""
        found = present.all(axis=1) if self.rule == "all" else present.any(axis=1)
        return np.asarray(found != (self.rule == "none"), dtype=np.int64)


def parse_task(text: str) -> MotifTask:
    """The task that a text such as ``amide+phenol`` says; raises ``DataError`` for an unknown motif or form."""
    rule: Literal["all", "any", "none"] = "all"
    if text.startswith("!"):
        rule, names = "none", [text[1:]]
    elif "|" in text:
        rule, names = "any", text.split("|")
    else:
        names = text.split("+")
    for name in names:
        if name not in MOTIFS:
            raise DataError(f"Unknown motif {name!r}: choose one of {', '.join(MOTIFS)}, or combine some: a+b, a|b, !a")
    if len(set(names)) < len(names):
        raise DataError(f"The task {text!r} names a motif twice: name each once")
    return MotifTask(rule, tuple(names))


def motif_molecules(task: str = DEFAULT_TASK, seed: int = 0) -> GraphSet:
    """Molecules of a task, as many of one class as of the other; no molecule comes twice.

    The larger class is thinned out by ``seed``. A class that molecules come into for different reasons (neither
    motif, only the first, only the second) has as equal a share of each as there are molecules.
    ``node_mask`` marks the atoms of all matches in the class that holds the motifs, and nothing in the other: what
    decides there is that something is missing.
    """
    wanted = parse_task(task)
    smiles = _molecules()
    present = np.stack([_holds(name) for name in wanted.motifs], axis=1)
    labels = wanted.label(present)
    size = int(np.bincount(labels, minlength=2).min())
    if size < _FEWEST:
        raise DataError(
            f"Only {size} molecules are left to one class of {task!r}, and {_FEWEST} are needed: ask others"
        )
    generator = np.random.default_rng(seed)
    chosen = [_evenly(present, np.flatnonzero(labels == label), size, generator) for label in (0, 1)]
    numbers = np.sort(np.concatenate(chosen))
    names = [smiles[number] for number in numbers]
    with quiet():
        mols = [mol for mol in map(parse, names) if mol is not None]
    y = labels[numbers]
    graphs = from_molecules(mols, names, torch.from_numpy(y), wanted.class_names)
    queries = [pattern(MOTIFS[name]) for name in wanted.motifs]
    marked = [
        _true_atoms(mol, queries if label == wanted.motif_class else []) for mol, label in zip(mols, y, strict=True)
    ]
    return replace(graphs, node_mask=torch.from_numpy(np.concatenate(marked)))


def _evenly(present: np.ndarray, members: np.ndarray, size: int, generator: np.random.Generator) -> np.ndarray:
    """``size`` of the members, from each combination of motifs as many as from any other, or all that it has."""
    codes = present[members] @ (1 << np.arange(present.shape[1]))
    groups = [members[codes == code] for code in np.unique(codes)]
    chosen: list[np.ndarray] = []
    for number, group in enumerate(sorted(groups, key=len)):
        share = (size - sum(len(part) for part in chosen)) // (len(groups) - number)
        chosen.append(generator.choice(group, min(share, len(group)), replace=False))
    return np.concatenate(chosen)


def _true_atoms(mol: Mol, queries: list[Mol]) -> np.ndarray:
    """A bool per atom: whether it is part of any match of any query."""
    found = np.zeros(mol.GetNumAtoms(), dtype=bool)
    for query in queries:
        found |= matched_atoms(mol, query)
    return found


@cache
def _molecules() -> tuple[str, ...]:
    """All molecules as canonical SMILES, each once, in the order of the table."""
    from rdkit import Chem

    with quiet():
        mols = (parse(row["smiles"]) for row in read_packaged("chembl"))
        return tuple(dict.fromkeys(Chem.MolToSmiles(mol) for mol in mols if mol is not None))


@cache
def _holds(motif: str) -> np.ndarray:
    """Whether each of the molecules holds a motif, ``[M]``."""
    query = pattern(MOTIFS[motif])
    with quiet():
        mols = map(parse, _molecules())
        return np.array([mol is not None and mol.HasSubstructMatch(query) for mol in mols])
