"""Words that no training sentence contains, and the language of a sentence: what a model of sentences cannot judge."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from protgnn.datasets.readers.label_column import lines_named
from protgnn.featurizers.language import language_of, language_of_vocabulary
from protgnn.featurizers.vocabulary import words_to_know

_STRANGE = 0.5
_NOTED = 0.25
_NAMED = 5


@dataclass(frozen=True)
class UnknownWords:
    """The words of a sentence that no training sentence contains, how many words it has, its language and that of the
    training sentences, where they are clear."""

    unknown: tuple[str, ...]
    total: int
    language: str | None = None
    trained_on: str | None = None

    @property
    def share(self) -> float:
        """The share of words that are unknown; none of a sentence without words."""
        return len(self.unknown) / self.total if self.total else 0.0

    @property
    def other_language(self) -> bool:
        """Whether the sentence is surely of another language than the training sentences."""
        return None not in (self.language, self.trained_on) and self.language != self.trained_on

    @property
    def is_strange(self) -> bool:
        """Whether a model that was not trained on more than half of the words, or on the language, is out of its
        depth, whatever the similarities say."""
        return self.share > _STRANGE or self.other_language

    @property
    def note(self) -> str | None:
        """A sentence on what is unknown; nothing where that is little."""
        found = []
        if self.share >= _NOTED:
            named = ", ".join(self.unknown[:_NAMED]) + (", …" if len(self.unknown) > _NAMED else "")
            verb = "occurs" if len(self.unknown) == 1 else "occur"
            found.append(f"{len(self.unknown)} of {self.total} words {verb} in no training sentence ({named})")
        if self.other_language:
            found.append(f"this looks like {self.language}, and the model was trained on {self.trained_on}")
        return "; ".join(found) or None


def unknown_words(name: str | None, vocabulary: frozenset[str] | None) -> UnknownWords | None:
    """What a model with that vocabulary does not know of a sentence; nothing where it has none, or it is no
    sentence."""
    if vocabulary is None or name is None:
        return None
    words = words_to_know(name)
    unknown = tuple(dict.fromkeys(word for word in words if word not in vocabulary))
    return UnknownWords(unknown, len(set(words)), language_of(words), _trained_on(vocabulary))


def strange_among(found: Iterable[UnknownWords | None]) -> str | None:
    """Count the sentences that a model cannot judge by their words, in one sentence; nothing where there are none."""
    rows = [number for number, one in enumerate(found) if one is not None and one.is_strange]
    return said_of_strange(len(rows), lines_named(rows, "row")) if rows else None


def said_of_strange(count: int, where: str) -> str:
    """The sentence on so many sentences; ``where`` names their lines or rows."""
    verbs = ("has", "is") if count == 1 else ("have", "are")
    return (
        f"{count} {verbs[0]} mostly words that no training sentence contains, or {verbs[1]} in another language: "
        f"{where}"
    )


@lru_cache(maxsize=4)
def _trained_on(vocabulary: frozenset[str]) -> str | None:
    return language_of_vocabulary(vocabulary)
