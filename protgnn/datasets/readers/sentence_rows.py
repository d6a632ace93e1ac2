"""Tables of raw sentences, whatever file they come from."""

from __future__ import annotations

from protgnn.data.graph_set import GraphSet
from protgnn.data.schema import Schema
from protgnn.datasets.readers.options import TEXT, Labels, Option, ReadOptions
from protgnn.datasets.readers.reader import Loaded, Source
from protgnn.datasets.readers.rows import SoundRows, check_takes_sentences, on_lines, sound_lines, sound_rows
from protgnn.errors import DataError
from protgnn.featurizers.sentence import from_sentences
from protgnn.featurizers.spacy_parser import parse_sentences
from protgnn.featurizers.words import WordFeatures, choose_words, words_of
from protgnn.io.tables import Table

SENTENCE_OPTIONS: frozenset[Option] = frozenset({"text", "label", "skip-bad", "words", "threshold", "bins"})
MOST_LETTERS = 20_000
"""A text of more is a document, not a sentence, or a quote that was never closed."""


def read_sentences(
    table: Table, options: ReadOptions, classes: tuple[str, ...] | None = None, labels: Labels = "welcome"
) -> SoundRows[str]:
    """The sound sentences of a table; see ``sound_rows`` for the arguments."""
    return sound_rows(table, TEXT, options, sound_sentence, sentence_fault, labels, classes)


def sentence_graphs(rows: SoundRows[str], words: WordFeatures | None = None) -> GraphSet:
    """The graphs of sentences, parsed; ``words`` gives words their features."""
    return on_lines(from_sentences(parse_sentences(rows.made), rows.y, rows.class_names, words), rows.lines)


def load_sentences(source: Source) -> Loaded:
    """Sentences to learn from."""
    words = choose_words(source.options.words)
    rows = read_sentences(source.table, source.options)
    return Loaded(sentence_graphs(rows, words), rows.notes, settled=rows.settled)


def load_new_sentences(source: Source, schema: Schema, labels: Labels) -> tuple[GraphSet, list[str]]:
    """Sentences for a trained model."""
    check_takes_sentences(str(source.path), schema)
    words = words_of(schema, str(source.path))
    rows = read_sentences(source.table, source.options, schema.class_names, labels)
    return sentence_graphs(rows, words), rows.notes


def load_new_lines(source: Source, schema: Schema, labels: Labels) -> tuple[GraphSet, list[str]]:
    """A text with one sentence per line for a trained model."""
    check_takes_sentences(str(source.path), schema)
    words = words_of(schema, str(source.path))
    rows = sound_lines(source.path, TEXT, source.options, sound_sentence, sentence_fault)
    return sentence_graphs(rows, words), rows.notes


def read_sentence(text: str, words: WordFeatures | None = None) -> GraphSet:
    """The graph of one sentence."""
    return from_sentences(parse_sentences([sound_text(text)]), words=words)


def sound_text(text: str) -> str:
    """The text with single spaces; refused where nothing can be made of it."""
    sound = sound_sentence(text)
    if sound is None:
        raise DataError(f"{text[:40]!r}: {sentence_fault(text)}")
    return sound


def sound_sentence(text: str) -> str | None:
    """The text with single spaces; none if it says nothing, is too long, or holds what is no letter at all."""
    plain = " ".join(text.split())
    return plain if 0 < len(plain) <= MOST_LETTERS and not _is_damaged(plain) else None


def sentence_fault(text: str) -> str:
    """What is wrong with a sentence."""
    if not text.split():
        return "the sentence is missing"
    if _is_damaged(text):
        return "the sentence is not UTF-8 text"
    return f"the sentence has {len(text)} letters, and at most {MOST_LETTERS} can be read"


def _is_damaged(text: str) -> bool:
    """Whether a text holds NUL, or half a character, as a terminal may hand it over."""
    return any(letter == "\0" or 0xD800 <= ord(letter) < 0xE000 for letter in text)
