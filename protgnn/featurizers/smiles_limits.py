"""What is refused of a SMILES before RDKit sees it: RDKit takes minutes for some texts, and cannot be stopped."""

from __future__ import annotations

import re
from itertools import accumulate

from protgnn.io.limits import limits, over_limit

_ATOM = re.compile(r"\[[^\]]*\]|Cl|Br|[A-Za-z*]")
_IN_BRACKETS = re.compile(r"\[[^\]]*\]")
_RING_END = re.compile(r"%\([0-9]*\)|%[0-9]{2}|[0-9]")
_DEPTH = {"(": 1, ")": -1}


def smiles_fault(smiles: str) -> str | None:
    """Say which limit of ``io.limits`` a SMILES is over, and how to raise it; nothing where it is within all."""
    length, most = len(smiles), limits()
    if length <= min(most.smiles_chars, most.atoms, most.nesting, most.rings):
        return None
    fault = over_limit("smiles_chars", length)
    if fault is not None:
        return fault
    if length > most.atoms:
        fault = over_limit("atoms", sum(1 for _ in _ATOM.finditer(smiles)))
    if fault is None and smiles.count("(") > most.nesting:
        fault = over_limit("nesting", max(accumulate(_DEPTH.get(letter, 0) for letter in smiles)))
    if fault is None:
        ends = sum(1 for _ in _RING_END.finditer(_IN_BRACKETS.sub("", smiles)))
        fault = over_limit("rings", ends // 2)
    return fault
