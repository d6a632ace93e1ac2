"""Files of raw sentences: a CSV with a header, or a text with one sentence per line."""

from __future__ import annotations

from pathlib import Path

from protgnn.data.graph_set import GraphSet
from protgnn.data.schema import Schema
from protgnn.datasets.readers.reader import Labels, Loaded, OnSkip, RawKind, Reader, Source, Table
from protgnn.datasets.readers.rows import check_takes_sentences, csv_rows, line_rows, on_lines
from protgnn.errors import DataError
from protgnn.featurizers.sentence import from_sentences
from protgnn.featurizers.spacy_parser import parse_sentences
from protgnn.featurizers.words import WordFeatures, choose_words, words_of

TEXT = RawKind(
    "sentences",
    "text",
    ("text", "sentence", "sentences", "texts", "phrase", "review", "tweet", "comment", "message", "content"),
)
MOST_LETTERS = 20_000
"""A text of more is a document, not a sentence, or a quote that was never closed."""


def read_csv(
    source: str | Path | Table,
    text: str | None = None,
    label: str | None = None,
    skip_bad: bool = False,
    classes: tuple[str, ...] | None = None,
    labels: Labels = "welcome",
    on_skip: OnSkip | None = None,
    words: WordFeatures | None = None,
) -> tuple[GraphSet, list[str]]:
    """Graphs from a CSV of sentences, and notes on what was skipped.

    ``text`` and ``label`` name the columns; without them they are guessed. With ``classes`` (those of a trained model)
    ``labels`` says what they are for, and they must be among them. ``words`` gives words their features.
    """
    table = source if isinstance(source, Table) else Table.of(source)
    rows = csv_rows(table, TEXT, text, label, "needed" if classes is None else labels)
    kept, texts, notes = rows.sound(_sound, _fault, skip_bad, on_skip)
    y, names = rows.classes(kept, classes, notes)
    return on_lines(from_sentences(parse_sentences(texts), y, names, words), (row.line for row in kept)), notes


def read_lines(
    path: str | Path, skip_bad: bool = False, on_skip: OnSkip | None = None, words: WordFeatures | None = None
) -> tuple[GraphSet, list[str]]:
    """Graphs from a text with one sentence per line, without labels."""
    kept, texts, notes = line_rows(Path(path), TEXT).sound(_sound, _fault, skip_bad, on_skip)
    return on_lines(from_sentences(parse_sentences(texts), words=words), (row.line for row in kept)), notes


def read_sentence(text: str, words: WordFeatures | None = None) -> GraphSet:
    """The graph of one sentence."""
    return from_sentences(parse_sentences([sound_text(text)]), words=words)


def sound_text(text: str) -> str:
    """The text with single spaces; refused where nothing can be made of it."""
    sound = _sound(text)
    if sound is None:
        raise DataError(f"{text[:40]!r}: {_fault(text)}")
    return sound


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


def _read(source: Source) -> Loaded:
    options, words = source.options, choose_words(source.options.words)
    return Loaded(*read_csv(source.table, options.text, options.label, options.skip_bad, words=words))


def _read_new(source: Source, schema: Schema, labels: Labels) -> tuple[GraphSet, list[str]]:
    check_takes_sentences(str(source.path), schema)
    options, classes = source.options, schema.class_names
    words = words_of(schema, str(source.path))
    return read_csv(
        source.table, options.text, options.label, options.skip_bad, classes, labels, options.on_skip, words
    )


def _read_new_lines(source: Source, schema: Schema, labels: Labels) -> tuple[GraphSet, list[str]]:
    check_takes_sentences(str(source.path), schema)
    words = words_of(schema, str(source.path))
    return read_lines(source.path, source.options.skip_bad, source.options.on_skip, words)


READERS = (
    Reader(
        what="a CSV of sentences",
        suffixes=(".csv", ".tsv"),
        options=frozenset({"text", "label", "skip-bad", "words"}),
        read=_read,
        read_new=_read_new,
        raw=TEXT,
        kind="sentence",
        rank=1,
    ),
    Reader(
        what="a text of sentences",
        suffixes=(".txt",),
        options=frozenset({"skip-bad"}),
        read_new=_read_new_lines,
        kind="sentence",
        rank=1,
    ),
)
