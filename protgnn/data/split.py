"""Which graphs train, validate and test: random, stratified, or k folds; all by seed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
    graphs: GraphSet,
    seed: int = 0,
    fractions: Fractions = (0.8, 0.1, 0.1),
    stratified: bool = False,
    groups: np.ndarray | None = None,
) -> Split:
    """Draw train, valid and test sets at random; ``stratified`` keeps the class proportions.

    Graphs of one number in ``groups [G]`` end up in one part, see :func:`keep_together`.
    """
    check_fractions(graphs, fractions)
    everyone = np.arange(len(graphs))
    classes = _labels(graphs) if stratified else None
    try:
        return checked_split(graphs, *keep_together(_drawn(everyone, classes, fractions, seed), groups))
    except DataError:
        if groups is None:
            raise
    # So many are copies that moving them emptied a part: draw one of each group, and let the others follow.
    first = np.unique(groups, return_index=True)[1]
    parts = _drawn(np.sort(first), classes, fractions, seed)
    return checked_split(graphs, *(np.flatnonzero(np.isin(groups, groups[part])) for part in parts))


def set_aside(
    classes: np.ndarray, fraction: float, seed: int, groups: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Numbers to train on and, in proportion to the ``classes [G]``, about a ``fraction`` of all to validate on.

    Graphs of one number in ``groups [G]`` end up on one side, see :func:`keep_together`.

    Raises:
        DataError: There are too few graphs, or too few different ones.
    """
    drawn = hold_out(np.arange(len(classes)), classes, fraction * len(classes), seed)
    kept, held = keep_together(drawn, groups)
    if groups is not None and (not len(held) or len(np.unique(classes[kept])) < len(np.unique(classes))):
        first = np.sort(np.unique(groups, return_index=True)[1])  # as in random_split
        drawn = hold_out(first, classes[first], fraction * len(first), seed)
        kept, held = (np.flatnonzero(np.isin(groups, groups[part])) for part in drawn)
    return kept, held


def _drawn(members: np.ndarray, classes: np.ndarray | None, fractions: Fractions, seed: int) -> tuple[np.ndarray, ...]:
    """Members drawn to train, validate and test, in proportion to ``classes [G]`` if given."""
    size = len(members)
    rest, test = hold_out(members, None if classes is None else classes[members], fractions[2] * size, seed)
    train, valid = hold_out(rest, None if classes is None else classes[rest], fractions[1] * size, seed)
    return train, valid, test


def check_fractions(graphs: GraphSet, fractions: Fractions) -> None:
    """Refuse fractions that do not add up, and sets too small to have three parts."""
    if min(fractions) <= 0 or abs(sum(fractions) - 1) > 1e-6:
        raise DataError(f"Expected three positive fractions that add up to 1 (got {fractions})")
    if len(graphs) < 3:
        raise DataError(f"Expected at least 3 graphs to split (got {len(graphs)})")


def k_fold(
    graphs: GraphSet, k: int, seed: int = 0, stratified: bool = True, groups: np.ndarray | None = None
) -> list[Split]:
    """``k`` splits whose test sets together are the whole; each validates on the fold after its test fold.

    Graphs of one number in ``groups [G]`` end up in one fold, see :func:`keep_together`.
    """
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
    folds = keep_together([test for _, test in folder.split(np.zeros(len(graphs)), classes)], groups)
    return [checked_split(graphs, *parts) for parts in turns(folds)]


def turns(folds: Sequence[np.ndarray]) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Numbers to train, validate and test on: each fold is tested on in turn, and the one after it validated on."""
    for number, test in enumerate(folds):
        after = (number + 1) % len(folds)
        train = np.concatenate([fold for other, fold in enumerate(folds) if other not in (number, after)])
        yield train, folds[after], test


def keep_together(parts: Sequence[np.ndarray], groups: np.ndarray | None) -> list[np.ndarray]:
    """Graph numbers of each part, moved as little as possible so that no group is in two of them.

    A group moves to the part that holds most of it; of several such parts, to the one that holds the first of those
    members. Parts that no group is torn between stay as they are. See docs/decisions/0350.

    Args:
        parts: Graph numbers of each part.
        groups: The number of each graph's group ``[G]``; none where every graph stands alone.
    """
    if groups is None:
        return list(parts)
    place = np.full(len(groups), -1)
    for number, part in enumerate(parts):
        place[part] = number
    found = place.copy()
    order = np.argsort(groups, kind="stable")
    for members in np.split(order, np.flatnonzero(np.diff(groups[order])) + 1):
        members = members[place[members] >= 0]
        if len(members) > 1 and len(np.unique(place[members])) > 1:
            counts = np.bincount(place[members], minlength=len(parts))
            found[members] = next(part for part in place[members] if counts[part] == counts.max())
    if np.array_equal(found, place):
        return list(parts)
    return [np.flatnonzero(found == number) for number in range(len(parts))]


def missing_classes(graphs: GraphSet, split: Split) -> list[str]:
    """A note on each part of a split that has no graph of some class."""
    notes = []
    for name in ("train", "valid", "test"):
        numbers = getattr(split, name)
        if graphs.y is None or not len(numbers):
            continue
        sizes = torch.bincount(graphs.y[numbers], minlength=graphs.schema.num_classes).tolist()
        classes = graphs.schema.class_names or tuple(map(str, range(len(sizes))))
        lost = [one for one, size in zip(classes, sizes, strict=True) if not size]
        if lost:
            there = ", ".join(f"{size} of class {one}" for one, size in zip(classes, sizes, strict=True) if size)
            notes.append(
                f"The {name} part of this split has no graph of class {' or '.join(lost)} ({there}): its scores say "
                "nothing about that. A stratified split has all classes in all parts"
            )
    return notes


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
    """The split of these numbers; refused where a part is empty or a class is missing from the training set."""
    parts = Split(*(torch.from_numpy(np.sort(part).astype(np.int64)) for part in (train, valid, test)))
    _check(graphs, parts)
    return parts


def _check(graphs: GraphSet, parts: Split) -> None:
    for name in ("train", "valid", "test"):
        if not len(getattr(parts, name)):
            raise DataError(f"The {name} part of this split is empty: use another kind of split, or add graphs")
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
