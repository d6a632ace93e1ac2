"""The splits that a recipe can name: those of ``data.split``, and those that need to know what a graph is.

====================  =====================================================================================
``random``            drawn by the seed
``stratified``        drawn by the seed, every part with the class proportions of the whole
``scaffold``          molecules of one Murcko scaffold stay together; balanced: large groups are trained on, the
                      others are drawn by the seed, and every part has every class where that is possible
``scaffold-deepchem`` the same groups in the order of DeepChem's ``ScaffoldSplitter``: largest first, no seed
====================  =====================================================================================

Copies of a molecule are in one part of any of them.
"""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np

from protgnn.data.graph_set import GraphSet
from protgnn.data.split import (
    Fractions,
    Split,
    check_fractions,
    checked_split,
    k_fold,
    missing_classes,
    random_split,
    turns,
)
from protgnn.datasets.copies import copy_groups
from protgnn.errors import DataError
from protgnn.featurizers.molecule import parse, quiet, shorten

SplitKind = Literal["random", "stratified", "scaffold", "scaffold-deepchem"]
FOLD_KINDS = ("random", "stratified", "scaffold")

_TRIES = 20  # orders of scaffolds that are drawn until every part has every class


def split(
    graphs: GraphSet, kind: SplitKind = "stratified", seed: int = 0, fractions: Fractions = (0.8, 0.1, 0.1)
) -> Split:
    """Cut into train, valid and test; copies of a molecule stay together."""
    if kind not in get_args(SplitKind):
        raise DataError(f"Expected a split among {', '.join(get_args(SplitKind))} (got {kind!r})")
    if kind == "scaffold":
        return scaffold_split(graphs, seed, fractions)
    if kind == "scaffold-deepchem":
        return deepchem_scaffold_split(graphs, fractions)
    return random_split(graphs, seed, fractions, stratified=kind == "stratified", groups=copy_groups(graphs))


def folds(graphs: GraphSet, k: int, kind: str = "stratified", seed: int = 0) -> list[Split]:
    """``k`` splits whose test sets together are the whole; copies of a molecule, and in ``scaffold`` folds molecules
    of one scaffold, stay together."""
    if kind == "scaffold":
        return scaffold_folds(graphs, k, seed)
    if kind not in FOLD_KINDS:
        raise DataError(f"Folds are drawn {', '.join(FOLD_KINDS)} (got {kind!r}): choose one of these with --split")
    return k_fold(graphs, k, seed, kind == "stratified", copy_groups(graphs))


def scaffold_folds(graphs: GraphSet, k: int, seed: int = 0) -> list[Split]:
    """``k`` folds of whole scaffolds, with about the same share of every class where scaffolds allow it."""
    from sklearn.model_selection import StratifiedGroupKFold

    groups = _scaffold_groups(graphs, (0.8, 0.1, 0.1))
    if not 3 <= k <= len(groups):
        raise DataError(f"Expected between 3 and {len(groups)} folds, one for each scaffold (got {k})")
    if graphs.y is None:
        raise DataError("Scaffold folds need labels (got none): use random ones")
    home = np.empty(len(graphs), dtype=np.int64)
    for number, members in enumerate(groups):
        home[members] = number
    folder = StratifiedGroupKFold(k, shuffle=True, random_state=seed)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of small classes, which checked_split and scores tell of
            parts = [test for _, test in folder.split(np.zeros(len(graphs)), graphs.y.numpy(), home)]
    except ValueError as error:
        raise DataError(f"Cannot draw {k} folds of scaffolds: {error}") from None
    return [checked_split(graphs, *part) for part in turns(parts)]


def scaffold(smiles: str) -> str:
    """The Murcko scaffold of a molecule as SMILES; the empty text for one without rings."""
    from rdkit.Chem.Scaffolds import MurckoScaffold

    with quiet():
        mol = parse(smiles)
        if mol is None:
            raise DataError(f"RDKit cannot read the SMILES {shorten(smiles)}: a scaffold split needs molecules")
        return str(MurckoScaffold.MurckoScaffoldSmiles(mol=mol))  # type: ignore[no-untyped-call]


def scaffold_split(graphs: GraphSet, seed: int = 0, fractions: Fractions = (0.8, 0.1, 0.1)) -> Split:
    """Keep molecules of one Murcko scaffold together, balanced.

    Groups larger than half a held-out set go first, largest in front, and so into training; the others follow in an
    order drawn by the seed, which breaks ties too. Each goes to the first part that it fits in, or else to the one with
    most room. Orders are drawn until every part has every class, at most 20 times.
    """
    groups, rng = _scaffold_groups(graphs, fractions), np.random.default_rng(seed)
    sizes = np.array(fractions) * len(graphs)
    held_out = min(sizes[1:]) / 2
    refused: DataError | None = None
    found: Split | None = None
    for _ in range(_TRIES):
        drawn = [groups[number] for number in rng.permutation(len(groups))]
        large = sorted((group for group in drawn if len(group) > held_out), key=len, reverse=True)
        small = [group for group in drawn if len(group) <= held_out]
        try:
            candidate = checked_split(graphs, *_filled([*large, *small], sizes))
        except DataError as error:
            refused = error
            continue
        found = found or candidate
        if not missing_classes(graphs, candidate):
            return candidate
    if found is None:
        raise refused or DataError("This scaffold split cannot be drawn: use a random or stratified split")
    return found


def _filled(groups: Sequence[list[int]], sizes: np.ndarray) -> list[np.ndarray]:
    """Graph numbers of each part: groups in order, each in the first part with room for it."""
    parts: list[list[int]] = [[] for _ in sizes]
    for group in groups:
        room = [size - len(part) for size, part in zip(sizes, parts, strict=True)]
        fits = next((number for number, left in enumerate(room) if len(group) <= left + 0.5), None)
        parts[int(np.argmax(room)) if fits is None else fits] += group
    return [np.array(part, dtype=np.int64) for part in parts]


def deepchem_scaffold_split(graphs: GraphSet, fractions: Fractions = (0.8, 0.1, 0.1)) -> Split:
    """Keep molecules of one Murcko scaffold together, largest groups first, as DeepChem does; nothing is random.

    Of groups of one size the one that begins later in the file comes first, which is DeepChem's order.
    """
    groups = _scaffold_groups(graphs, fractions)
    train_limit = fractions[0] * len(graphs)
    valid_limit = (fractions[0] + fractions[1]) * len(graphs)
    train: list[int] = []
    valid: list[int] = []
    test: list[int] = []
    for group in sorted(groups, key=lambda members: (len(members), members[0]), reverse=True):
        if len(train) + len(group) <= train_limit:
            train += group
        elif len(train) + len(valid) + len(group) <= valid_limit:
            valid += group
        else:
            test += group
    return checked_split(graphs, *(np.array(part, dtype=np.int64) for part in (train, valid, test)))


def _scaffold_groups(graphs: GraphSet, fractions: Fractions) -> list[list[int]]:
    """Graph numbers by scaffold, in the order in which scaffolds first occur."""
    check_fractions(graphs, fractions)
    if graphs.schema.featurizer != "molecule" or graphs.names is None:
        raise DataError("A scaffold split needs molecules read from SMILES: use a random or stratified split")
    groups: dict[str, list[int]] = defaultdict(list)
    for number, name in enumerate(graphs.names):
        groups[scaffold(name)].append(number)
    return list(groups.values())
