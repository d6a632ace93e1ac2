"""The splits that a recipe can name: those of ``data.split``, and those that need to know what a graph is."""

from __future__ import annotations

from collections import defaultdict
from typing import Literal, get_args

import numpy as np

from protgnn.data.graph_set import GraphSet
from protgnn.data.split import Fractions, Split, check_fractions, checked_split, random_split
from protgnn.errors import DataError
from protgnn.featurizers.molecule import parse, quiet

SplitKind = Literal["random", "stratified", "scaffold"]


def split(
    graphs: GraphSet, kind: SplitKind = "stratified", seed: int = 0, fractions: Fractions = (0.8, 0.1, 0.1)
) -> Split:
    """Cut into train, valid and test; a scaffold split does not depend on the seed."""
    if kind not in get_args(SplitKind):
        raise DataError(f"Expected a split among {', '.join(get_args(SplitKind))} (got {kind!r})")
    if kind == "scaffold":
        return scaffold_split(graphs, fractions)
    return random_split(graphs, seed, fractions, stratified=kind == "stratified")


def scaffold(smiles: str) -> str:
    """The Murcko scaffold of a molecule as SMILES; the empty text for one without rings."""
    from rdkit.Chem.Scaffolds import MurckoScaffold

    with quiet():
        mol = parse(smiles)
        if mol is None:
            raise DataError(f"RDKit cannot read the SMILES {smiles!r}: a scaffold split needs molecules")
        return str(MurckoScaffold.MurckoScaffoldSmiles(mol=mol))  # type: ignore[no-untyped-call]


def scaffold_split(graphs: GraphSet, fractions: Fractions = (0.8, 0.1, 0.1)) -> Split:
    """Keep molecules of one Murcko scaffold together, largest groups first; nothing is random."""
    check_fractions(graphs, fractions)
    if graphs.schema.featurizer != "molecule" or graphs.names is None:
        raise DataError("A scaffold split needs molecules read from SMILES: use a random or stratified split")
    groups: dict[str, list[int]] = defaultdict(list)
    for number, name in enumerate(graphs.names):
        groups[scaffold(name)].append(number)
    train_limit = fractions[0] * len(graphs)
    valid_limit = (fractions[0] + fractions[1]) * len(graphs)
    train: list[int] = []
    valid: list[int] = []
    test: list[int] = []
    for group in sorted(groups.values(), key=lambda members: (-len(members), members[0])):
        if len(train) + len(group) <= train_limit:
            train += group
        elif len(train) + len(valid) + len(group) <= valid_limit:
            valid += group
        else:
            test += group
    return checked_split(graphs, np.array(train), np.array(valid), np.array(test))
