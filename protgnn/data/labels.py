"""From raw label texts to classes: which classes there are, in which order, and what is not a class at all."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

from protgnn.data.label_texts import LABEL_COLUMNS, folded
from protgnn.data.label_texts import number as _number
from protgnn.errors import DataError
from protgnn.io.limits import check_limit

__all__ = [
    "LABEL_COLUMNS",
    "MAX_CLASSES",
    "UNKNOWN",
    "known_numbers",
    "label_names",
    "may_be_numbered",
    "renumbered",
    "to_classes",
    "to_known_classes",
    "unknown_class",
]

UNKNOWN = -1
"""The label of a node that has none, and the motif of a node that is in none."""

MAX_CLASSES = 100
_SHOWN = 60  # letters of a label in a message


def to_classes(texts: Sequence[str], where: Callable[[int], str]) -> tuple[Tensor, tuple[str, ...]]:
    """Class numbers ``[G]`` and class names, sorted: by value where all are numbers, else as text.

    ``where(i)`` names the place of label ``i`` in an error, such as ``mols.csv line 7``.
    """
    numbers = [_number(text) for text in texts]
    if all(number is not None for number in numbers):
        for place, (text, number) in enumerate(zip(texts, numbers, strict=True)):
            if number is None or not (abs(number) < 2**53 and number.is_integer()):
                raise DataError(
                    f"{where(place)}: the label {text[:_SHOWN]!r} is not a class: it looks like a measurement. "
                    "Cut the values into classes with --threshold 6.5 or --bins 3, or choose another label column"
                )
        whole = [int(number) for number in numbers if number is not None]
        values = sorted(set(whole))
        names = tuple(str(value) for value in values)
        texts = [str(value) for value in whole]
    else:
        texts = [text.strip() for text in texts]
        names = tuple(sorted(set(texts)))
        longest = max(range(len(texts)), key=lambda place: len(texts[place]), default=0)
        check_limit("name_chars", len(texts[longest]) if texts else 0, f"{where(longest) if texts else ''}: the label")
    if len(names) > MAX_CLASSES or (len(names) == len(texts) and len(texts) > 3):
        raise DataError(
            f"{where(0)}: found {len(names)} different labels in {len(texts)} rows, which is too many to be classes "
            f"(at most {MAX_CLASSES}, each with several rows). Probably the wrong label column: choose another"
        )
    return _numbered(texts, names), names


def may_be_numbered(names: tuple[str, ...]) -> bool:
    """Whether a number can stand for the class of that number: where no class has one for a name."""
    return all(_number(name) is None for name in names)


def to_known_classes(texts: Sequence[str], names: tuple[str, ...], where: Callable[[int], str]) -> Tensor:
    """Class numbers ``[G]`` of labels that must be among ``names``.

    Where no name is a number, a label may also be the number of its class, as in files that say 0 and 1.
    """
    found = known_numbers(texts, names)
    for place, number in enumerate(found):
        if number is None:
            raise DataError(f"{where(place)}: {unknown_class(texts[place], names)}")
    return torch.tensor(found, dtype=torch.int64)


def known_numbers(texts: Sequence[str], names: tuple[str, ...]) -> list[int | None]:
    """The class number of each label, by its name, whatever its case, or as :func:`to_known_classes` says."""
    by_text = {folded(name): number for number, name in reversed(list(enumerate(names)))}
    by_text.update({name: number for number, name in enumerate(names)})
    if may_be_numbered(names):
        by_text.update({str(number): number for number in range(len(names))})
    found = []
    for text in texts:
        plain, number = text.strip(), _number(text)
        if plain not in by_text and number is not None and number.is_integer():
            plain = str(int(number))
        found.append(by_text.get(plain, by_text.get(folded(plain))))
    return found


def unknown_class(text: str, names: tuple[str, ...]) -> str:
    """What is wrong with a label that a model does not know."""
    return (
        f"the label {text[:_SHOWN]!r} is not a class of this model. "
        f"Known classes: {', '.join(names)}. Correct the label, or leave the label column out"
    )


def renumbered(y: Tensor | None, names: tuple[str, ...], known: tuple[str, ...]) -> Tensor | None:
    """Classes ``[G]`` of those names as numbers of the classes that a model knows; what is below 0 has no class."""
    if y is None or not names or names == known:
        return y
    used = {names[number] for number in y.unique().tolist() if 0 <= number < len(names)}  # type: ignore[no-untyped-call]
    unknown = sorted(used - set(known))
    if unknown:
        raise DataError(
            f"The class {unknown[0]!r} is unknown to the model, which knows {', '.join(known)}: "
            "correct the labels or leave them out"
        )
    number = torch.tensor([known.index(name) if name in known else -1 for name in names])
    return torch.where(y < 0, y, number[y.clamp(min=0)])


def label_names(y: Tensor | None, names: tuple[str, ...]) -> np.ndarray:
    """The names of classes ``[G]``, as texts; where classes have no names, their numbers.

    Raises:
        DataError: There are no labels.
    """
    if y is None:
        raise DataError("There are no labels: these instances came without")
    return np.asarray(names)[y.numpy()] if names else y.numpy().astype(str)


def _numbered(texts: Sequence[str], names: tuple[str, ...]) -> Tensor:
    position = {name: number for number, name in enumerate(names)}
    return torch.tensor([position[text] for text in texts], dtype=torch.int64)
