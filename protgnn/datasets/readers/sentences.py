"""Files of raw sentences: a CSV with a header, or a text with one sentence per line."""

from __future__ import annotations

from pathlib import Path

from protgnn.data.graph_set import GraphSet
from protgnn.datasets.readers.open_table import CSV_SUFFIXES, open_table
from protgnn.datasets.readers.options import TEXT, Labels, OnSkip, ReadOptions
from protgnn.datasets.readers.reader import Reader
from protgnn.datasets.readers.rows import sound_lines
from protgnn.datasets.readers.sentence_rows import (
    MOST_LETTERS,
    SENTENCE_OPTIONS,
    load_new_lines,
    load_new_sentences,
    load_sentences,
    read_sentence,
    read_sentences,
    sentence_fault,
    sentence_graphs,
    sound_sentence,
    sound_text,
)
from protgnn.featurizers.words import WordFeatures
from protgnn.io.tables import Table

__all__ = ["MOST_LETTERS", "READERS", "read_csv", "read_lines", "read_sentence", "sound_text"]


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
    table = source if isinstance(source, Table) else open_table(source)
    options = ReadOptions(text=text, label=label, skip_bad=skip_bad, on_skip=on_skip)
    rows = read_sentences(table, options, classes, labels)
    return sentence_graphs(rows, words), rows.notes


def read_lines(
    path: str | Path, skip_bad: bool = False, on_skip: OnSkip | None = None, words: WordFeatures | None = None
) -> tuple[GraphSet, list[str]]:
    """Graphs from a text with one sentence per line, without labels."""
    options = ReadOptions(skip_bad=skip_bad, on_skip=on_skip)
    rows = sound_lines(Path(path), TEXT, options, sound_sentence, sentence_fault)
    return sentence_graphs(rows, words), rows.notes


READERS = (
    Reader(
        what="a CSV of sentences",
        suffixes=CSV_SUFFIXES,
        options=SENTENCE_OPTIONS,
        read=load_sentences,
        read_new=load_new_sentences,
        raw=TEXT,
        kind="sentence",
        rank=1,
    ),
    Reader(
        what="a text of sentences",
        suffixes=(".txt",),
        options=frozenset({"skip-bad"}),
        read_new=load_new_lines,
        kind="sentence",
        rank=1,
    ),
)
