"""Which graphs train, validate and test: random, stratified, or k folds; all by seed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from protgnn.data.graph_set import GraphSet
from protgnn.errors import DataError


@dataclass(frozen=True, eq=False)
class Split:
    """Graph numbers of each part, int64, ascending."""

    train: Tensor
    valid: Tensor
    test: Tensor


Fractions = tuple[float, float, float]


def random_split(
    graphs: GraphSet, seed: int = 0, fractions: Fractions = (0.8, 0.1, 0.1), stratified: bool = False
) -> Split:
    """Draw train, valid and test parts at random; ``stratified`` keeps the class proportions."""
    check_fractions(graphs, fractions)
    everyone = np.arange(len(graphs))
    classes = _labels(graphs) if stratified else None
    rest, test = hold_out(everyone, classes, fractions[2] * len(graphs), seed)
    train, valid = hold_out(rest, None if classes is None else classes[rest], fractions[1] * len(graphs), seed)
    return checked_split(graphs, train, valid, test)


def check_fractions(graphs: GraphSet, fractions: Fractions) -> None:
    """Refuse fractions that do not add up, and sets too small to have three parts."""
    if min(fractions) <= 0 or abs(sum(fractions) - 1) > 1e-6:
        raise DataError(f"Expected three positive fractions that add up to 1 (got {fractions})")
    if len(graphs) < 3:
        raise DataError(f"Expected at least 3 graphs to split (got {len(graphs)})")


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
        found.append(checked_split(graphs, train, folds[after], test))
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


def _labels(graphs: GraphSet) -> np.ndarray:
    if graphs.y is None:
        raise DataError("A stratified split needs labels (got none): use a random split")
    return graphs.y.numpy()


def checked_split(graphs: GraphSet, train: np.ndarray, valid: np.ndarray, test: np.ndarray) -> Split:
    """The split of these numbers; refused where a part is empty or a class is missing from the training part."""
    parts = Split(*(torch.from_numpy(np.sort(part).astype(np.int64)) for part in (train, valid, test)))
    _check(graphs, parts)
    return parts


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
