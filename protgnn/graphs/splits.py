"""Which graphs train, validate and test: random, stratified, by scaffold, or k folds; all by seed."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import torch
from torch import Tensor

from protgnn.errors import DataError
from protgnn.graphs.packed import GraphSet

SplitKind = Literal["random", "stratified", "scaffold"]


@dataclass(frozen=True, eq=False)
class Split:
    """Graph numbers of each part, int64, ascending."""

    train: Tensor
    valid: Tensor
    test: Tensor


def split(
    graphs: GraphSet,
    kind: SplitKind = "stratified",
    seed: int = 0,
    fractions: tuple[float, float, float] = (0.8, 0.1, 0.1),
) -> Split:
    """Cut into train, valid and test.

    ``stratified`` keeps the class proportions; ``scaffold`` keeps molecules of one Murcko scaffold together, largest
    groups first, and so does not depend on the seed.
    """
    if kind not in get_args(SplitKind):
        raise DataError(f"Expected a split among {', '.join(get_args(SplitKind))} (got {kind!r})")
    if min(fractions) <= 0 or abs(sum(fractions) - 1) > 1e-6:
        raise DataError(f"Expected three positive fractions that add up to 1 (got {fractions})")
    if len(graphs) < 3:
        raise DataError(f"Expected at least 3 graphs to split (got {len(graphs)})")
    if kind == "scaffold":
        parts = _by_scaffold(graphs, fractions)
    else:
        everyone = np.arange(len(graphs))
        classes = _labels(graphs) if kind == "stratified" else None
        rest, test = hold_out(everyone, classes, fractions[2] * len(graphs), seed)
        train, valid = hold_out(rest, None if classes is None else classes[rest], fractions[1] * len(graphs), seed)
        parts = _split(train, valid, test)
    _check(graphs, parts)
    return parts


def k_fold(graphs: GraphSet, k: int, seed: int = 0, stratified: bool = True) -> list[Split]:
    """``k`` splits whose test parts together are the whole; each validates on the fold after its test fold."""
    from sklearn.model_selection import KFold, StratifiedKFold

    if not 3 <= k <= len(graphs):
        raise DataError(f"Expected between 3 and {len(graphs)} folds, one each to test and validate on (got {k})")
    folder = (StratifiedKFold if stratified else KFold)(k, shuffle=True, random_state=seed)
    classes = _labels(graphs) if stratified else None
    if classes is not None:
        sizes = np.bincount(classes)
        smallest = int(sizes[sizes > 0].min())
        if smallest < k:
            raise DataError(f"Expected at most {smallest} folds, the graphs of the smallest class (got {k})")
    folds = [test for _, test in folder.split(np.zeros(len(graphs)), classes)]
    found = []
    for number, test in enumerate(folds):
        after = (number + 1) % k
        train = np.concatenate([fold for other, fold in enumerate(folds) if other not in (number, after)])
        found.append(_split(train, folds[after], test))
        _check(graphs, found[-1])
    return found


def hold_out(members: np.ndarray, classes: np.ndarray | None, size: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Take about ``size`` of the members away: (the rest, the taken), in proportion to ``classes`` if given."""
    from sklearn.model_selection import train_test_split

    # Scikit-learn asks for at least one per class on either side.
    least = 1 if classes is None else len(np.unique(classes))
    taken = max(round(size), least)
    try:
        rest, away = train_test_split(members, test_size=taken, random_state=seed, stratify=classes)
    except ValueError as error:
        raise DataError(
            f"{len(members)} graphs are too few to hold {taken} of them out: {error}. "
            "Add graphs, or remove or merge the smallest class"
        ) from None
    return rest, away


def scaffold(smiles: str) -> str:
    """The Murcko scaffold of a molecule as SMILES; the empty text for one without rings."""
    from rdkit.Chem.Scaffolds import MurckoScaffold

    from protgnn.graphs.molecules import parse, quiet

    with quiet():
        mol = parse(smiles)
        if mol is None:
            raise DataError(f"RDKit cannot read the SMILES {smiles!r}: a scaffold split needs molecules")
        return str(MurckoScaffold.MurckoScaffoldSmiles(mol=mol))  # type: ignore[no-untyped-call]


def _by_scaffold(graphs: GraphSet, fractions: tuple[float, float, float]) -> Split:
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
    return _split(np.array(train, dtype=np.int64), np.array(valid, dtype=np.int64), np.array(test, dtype=np.int64))


def _labels(graphs: GraphSet) -> np.ndarray:
    if graphs.y is None:
        raise DataError("A stratified split needs labels (got none): use a random split")
    return graphs.y.numpy()


def _split(train: np.ndarray, valid: np.ndarray, test: np.ndarray) -> Split:
    return Split(*(torch.from_numpy(np.sort(part).astype(np.int64)) for part in (train, valid, test)))


def _check(graphs: GraphSet, parts: Split) -> None:
    for name in ("train", "valid", "test"):
        if not len(getattr(parts, name)):
            raise DataError(f"This split leaves no graph to {name}: use another kind of split, or add graphs")
    if graphs.y is None:
        return
    lost = set(graphs.y.tolist()) - set(graphs.y[parts.train].tolist())
    if lost:
        number = min(lost)
        names = graphs.schema.class_names
        raise DataError(
            f"This split leaves no graph of class {names[number] if names else number} to train on: "
            "use a stratified split or another seed"
        )
