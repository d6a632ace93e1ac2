"""What a user says of a file, and the names that columns usually have. Needs no PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Labels = Literal["needed", "welcome", "ignored"]
"""What labels of new inputs are for: to score against, to be shown beside a prediction, or nothing."""

OnSkip = Callable[[int, str], None]
"""Told the line of each row that is skipped, and what is wrong with it."""

Option = Literal["smiles", "text", "label", "skip-bad", "words", "threshold", "bins", "standardise", "dedupe"]


@dataclass(frozen=True)
class RawKind:
    """A kind of raw input: its name in messages, the option that names its column, and the names a column may have."""

    what: str
    option: Literal["smiles", "text"]
    columns: tuple[str, ...]


SMILES = RawKind(
    "SMILES",
    "smiles",
    ("smiles", "canonical_smiles", "isomeric_smiles", "smiles_string", "smi", "molecule", "mol", "structure"),
)
TEXT = RawKind(
    "sentences",
    "text",
    ("text", "sentence", "sentences", "texts", "phrase", "review", "tweet", "comment", "message", "content"),
)


@dataclass(frozen=True)
class ReadOptions:
    """What a user says of a file.

    Attributes:
        smiles: The column with the SMILES.
        text: The column with the sentences.
        label: The column with the class.
        skip_bad: Whether rows that cannot be read may be skipped; ``on_skip`` is told of each.
        words: Which features the words of sentences get.
        threshold: Where to cut measured values into two classes.
        bins: Into how many classes to cut them, or where, with commas between.
        standardise: Whether salts and charges are taken off molecules.
        dedupe: Whether each molecule counts once.
        remembered: Columns and ranges that a trained model was made with, used where the user says nothing.
    """

    smiles: str | None = None
    text: str | None = None
    label: str | None = None
    skip_bad: bool = False
    on_skip: OnSkip | None = None
    words: str | None = None
    threshold: float | str | None = None
    bins: int | str | Sequence[float] | None = None
    standardise: bool = False
    dedupe: bool = False
    remembered: Mapping[str, Any] = field(default_factory=dict)

    def column(self, kind: RawKind) -> str | None:
        """The column that the user names for raw input of that kind."""
        return self.smiles if kind.option == "smiles" else self.text

    def recalled(self, name: str, header: Sequence[str]) -> str | None:
        """The column that a trained model was made with, if this file has one of that name."""
        known = self.remembered.get(name)
        return known if isinstance(known, str) and list(header).count(known) == 1 else None

    def given(self) -> list[Option]:
        """The options that were used."""
        used: dict[Option, bool] = {
            "smiles": self.smiles is not None,
            "text": self.text is not None,
            "label": self.label is not None,
            "skip-bad": self.skip_bad,
            "words": self.words is not None,
            "threshold": self.threshold is not None,
            "bins": self.bins is not None,
            "standardise": self.standardise,
            "dedupe": self.dedupe,
        }
        return [name for name, is_used in used.items() if is_used]
