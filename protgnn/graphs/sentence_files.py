"""Files of raw sentences: a CSV with a header, or a text with one sentence per line."""

from __future__ import annotations

from pathlib import Path

from protgnn.errors import DataError
from protgnn.graphs.packed import GraphSet
from protgnn.graphs.parser import parse_sentences
from protgnn.graphs.raw_inputs import Labels, RawKind, csv_rows, line_rows, on_lines
from protgnn.graphs.sentences import from_sentences

TEXT = RawKind(
    "sentences",
    "text",
    ("text", "sentence", "sentences", "texts", "phrase", "review", "tweet", "comment", "message", "content"),
)
MOST_LETTERS = 20_000
"""A text of more is a document, not a sentence, or a quote that was never closed."""


def read_csv(
    path: str | Path,
    text: str | None = None,
    label: str | None = None,
    skip_bad: bool = False,
    classes: tuple[str, ...] | None = None,
    labels: Labels = "welcome",
) -> tuple[GraphSet, list[str]]:
    """Graphs from a CSV of sentences, and notes on what was skipped.

    ``text`` and ``label`` name the columns; without them they are guessed. With ``classes`` (those of a trained model)
    ``labels`` says what they are for, and they must be among them.
    """
    rows = csv_rows(Path(path), TEXT, text, label, "needed" if classes is None else labels)
    kept, texts, notes = rows.sound(_sound, _fault, skip_bad)
    y, names = rows.classes(kept, classes, notes)
    return on_lines(from_sentences(parse_sentences(texts), y, names), (row.line for row in kept)), notes


def read_lines(path: str | Path, skip_bad: bool = False) -> tuple[GraphSet, list[str]]:
    """Graphs from a text with one sentence per line, without labels."""
    kept, texts, notes = line_rows(Path(path), TEXT).sound(_sound, _fault, skip_bad)
    return on_lines(from_sentences(parse_sentences(texts)), (row.line for row in kept)), notes


def read_sentence(text: str) -> GraphSet:
    """The graph of one sentence."""
    sound = _sound(text)
    if sound is None:
        raise DataError(f"{text[:40]!r}: {_fault(text)}")
    return from_sentences(parse_sentences([sound]))


def _sound(text: str) -> str | None:
    """The text with single spaces; none if it says nothing, is too long, or holds what is no letter at all."""
    plain = " ".join(text.split())
    return plain if 0 < len(plain) <= MOST_LETTERS and not _is_damaged(plain) else None


def _is_damaged(text: str) -> bool:
    """Whether a text holds NUL, or half a character, as a terminal may hand it over."""
    return any(letter == "\0" or 0xD800 <= ord(letter) < 0xE000 for letter in text)


def _fault(text: str) -> str:
    if not text.split():
        return "the sentence is missing"
    if _is_damaged(text):
        return "the sentence is not UTF-8 text"
    return f"the sentence has {len(text)} letters, and at most {MOST_LETTERS} can be read"
