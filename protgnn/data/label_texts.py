"""Label cells as people write them: which say nothing, which mean one class, which are numbers, and in which range.

This module needs no PyTorch, so that a wrong label column is told at once.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from protgnn.errors import DataError

LABEL_COLUMNS = ("label", "labels", "class", "target", "y", "active", "activity", "category", "outcome")
"""Names by which a label column is recognised."""

EMPTY = frozenset({"", "nan", "na", "<na>", "n/a", "null"})
"""What programs write where there is nothing."""

MISSING = EMPTY | frozenset(
    {
        *("#n/a", "#value!", "#div/0!", "#ref!", "#name?", "#num!", "#null!", "nil", "?", "??", "."),
        *("-", "--", "---", "–", "—", "nd", "not determined", "not tested", "not available", "not measured", "missing"),
        *("nicht bestimmt", "nicht getestet", "nicht gemessen", "nicht verfügbar", "keine angabe", "keine angaben"),
    }
)
_ABBREVIATED = re.compile(r"n ?[./] ?[abdmtv]\.?|k ?[./] ?a\.?")
"""``n.a.``, ``n.d.``, ``n.m.``, ``n.t.``; German ``n.b.`` (*nicht bestimmt*), ``n.v.``, ``k.A.`` (*keine Angabe*)."""

_COMMA = re.compile(r"[-+]?\d+,\d+(?:[eE][-+]?\d+)?")
_THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2},\d{3}")
_QUALIFIED = re.compile(r"([<>]=?|[≤≥~≈=])?\s*(.+)")
_MOST_RANGES = 20


def is_missing(text: str) -> bool:
    """Whether a cell of a table, as people fill it in, says that there is nothing in it."""
    plain = text.strip().lower()
    return plain in MISSING or _ABBREVIATED.fullmatch(plain) is not None


def is_empty(text: str) -> bool:
    """Whether a label of a file that programs write says that there is none."""
    return text.strip().lower() in EMPTY


def missing_labels(texts: Sequence[str]) -> list[bool]:
    """Which labels say that there is none; where some are ``+``, a ``-`` is a class."""
    signs = any(text.strip() == "+" for text in texts)
    return [is_missing(text) and not (signs and text.strip() in ("-", "–", "—")) for text in texts]


def number(text: str) -> float | None:
    """A cell as a number, which may have a decimal comma; nothing if it is none."""
    plain = text.strip()
    try:
        return float(plain.replace(",", ".") if _COMMA.fullmatch(plain) else plain)
    except ValueError:
        return None


def ambiguous_comma(texts: Sequence[str]) -> int | None:
    """The place of a number such as ``1,000`` where every comma may be one between thousands; nothing where one cannot
    be."""
    commas = [place for place, text in enumerate(texts) if _COMMA.fullmatch(text.strip())]
    doubtful = [place for place in commas if _THOUSANDS.fullmatch(texts[place].strip())]
    return doubtful[0] if doubtful and len(doubtful) == len(commas) else None


def folded(text: str) -> str:
    """A label without what does not matter: case and spaces."""
    return " ".join(text.split()).casefold()


def merged_spellings(texts: Sequence[str]) -> tuple[list[str], list[str]]:
    """Labels in one spelling each, the most frequent one, and a note on those that had several."""
    spellings: dict[str, Counter[str]] = {}
    for text in texts:
        spellings.setdefault(folded(text), Counter())[" ".join(text.split())] += 1
    chosen = {key: counts.most_common(1)[0][0] for key, counts in spellings.items()}
    several = [counts for counts in spellings.values() if len(counts) > 1]
    notes = []
    if several:
        said = "; ".join(" and ".join(repr(one) for one, _ in counts.most_common()) for counts in several[:5])
        notes.append(f"Labels that differ in case or spaces alone are one class: {said}")
    return [chosen[folded(text)] for text in texts], notes


@dataclass(frozen=True)
class Ranges:
    """Classes of measured values: cut at ``edges``, ascending; a value at an edge is in the range above it."""

    edges: tuple[float, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The ranges in words, lowest first."""
        shown = [f"{edge:.15g}" for edge in self.edges]
        between = [f"{low} to {high}" for low, high in pairwise(shown)]
        return (f"< {shown[0]}", *between, f">= {shown[-1]}")

    def to_text(self) -> str:
        """As ``--bins`` takes it; ``|`` after a single one, which would be a number of ranges."""
        return ",".join(f"{edge:.15g}" for edge in self.edges)

    def place(self, text: str) -> int | None:
        """The range of a value; nothing where a bound such as ``>5`` leaves several.

        Raises:
            ValueError: It is no number.
        """
        low, high = (sum(edge <= end for edge in self.edges) for end in bounds(text))
        return low if low == high else None


def bounds(text: str) -> tuple[float, float]:
    """The least and the greatest that a measured value can be: ``>5`` is anything above.

    Raises:
        ValueError: It is no number.
    """
    found = _QUALIFIED.fullmatch(text.strip())
    value = number(found[2]) if found else None
    if found is None or value is None or not math.isfinite(value):
        raise ValueError(text)
    sign = found[1] or ""
    if sign.startswith((">", "≥")):
        return (math.nextafter(value, math.inf) if sign == ">" else value), math.inf
    if sign.startswith(("<", "≤")):
        return -math.inf, (math.nextafter(value, -math.inf) if sign == "<" else value)
    return value, value


def ranges_of(
    threshold: float | str | None, bins: int | str | Sequence[float] | None, values: Callable[[], Sequence[str]]
) -> Ranges | None:
    """The ranges that a user asks for, nothing if none are.

    Args:
        threshold: Where to cut in two.
        bins: A number of ranges with about as many values in each, or where to cut, with commas between.
        values: The measured values, asked for only if they decide.

    Raises:
        DataError: Both are given, or one is not understood.
    """
    if threshold is None and bins is None:
        return None
    if threshold is not None and bins is not None:
        raise DataError("Expected --threshold or --bins (got both): choose one")
    if threshold is not None:
        cut = number(str(threshold))
        if cut is None or not math.isfinite(cut):
            raise DataError(f"Expected a number as --threshold, such as 6.5 (got {threshold!r})")
        return Ranges((cut,))
    given = str(bins) if isinstance(bins, int | float | str) else ",".join(map(str, bins or ()))
    if given.strip().isdecimal():
        return _quantiles(int(given), values)
    edges = [value for value in map(number, re.split("[,;]", given)) if value is not None and math.isfinite(value)]
    if len(edges) != len(re.split("[,;]", given)) or sorted(set(edges)) != edges:
        raise DataError(
            f'Expected a number of ranges as --bins, or where to cut, ascending, such as 3 or "1,2.5" (got {bins!r})'
        )
    return Ranges(tuple(edges))


def _quantiles(count: int, texts: Callable[[], Sequence[str]]) -> Ranges:
    """Ranges with about as many values in each, cut at numbers of four digits."""
    if not 2 <= count <= _MOST_RANGES:
        raise DataError(
            f"Expected 2 to {_MOST_RANGES} ranges as --bins (got {count}): to cut at one number, use --threshold"
        )
    values = []
    for text in texts():
        try:
            low, high = bounds(text)
        except ValueError:
            continue
        values.append(low if math.isfinite(low) else high)
    values.sort()
    if len(values) < count:
        raise DataError(f"Expected at least {count} numbers to cut into {count} ranges (got {len(values)})")
    edges = [float(f"{values[len(values) * place // count]:.4g}") for place in range(1, count)]
    if len(set(edges)) < len(edges) or edges[0] <= values[0]:
        raise DataError(
            f"The values cannot be cut into {count} ranges of about equal size, too many are equal: "
            'say where to cut, such as --bins "1,2.5"'
        )
    return Ranges(tuple(edges))
