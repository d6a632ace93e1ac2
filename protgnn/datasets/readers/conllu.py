"""Sentences as dependency trees in CoNLL-U, the format of Universal Dependencies.

A sentence is a block of lines; a blank line ends it::

    # label = positive
    # split = train
    1	a	_	_	_	_	3	det	_	_
    2	gripping	_	_	_	_	3	amod	_	_
    3	film	_	_	_	_	0	root	_	_

The ten columns are separated by tabs; read are the number of a word, the word, the number of its head (0 at the
root) and the relation to it, which may be ``_``. Lines of multiword tokens (``1-2``) and empty nodes (``1.1``) are
passed over, as are comments other than the label and the split (train, dev or valid, test).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

import numpy as np
import torch
from torch import Tensor

from protgnn.data.graph_set import GraphSet
from protgnn.data.label_texts import is_empty
from protgnn.data.labels import to_classes, to_known_classes
from protgnn.data.schema import Schema
from protgnn.data.split import Split, hold_out
from protgnn.datasets.readers.reader import Labels, Loaded, OnSkip, Reader, Source
from protgnn.datasets.readers.rows import check_takes_sentences, on_lines, skipped_note
from protgnn.errors import DataError
from protgnn.featurizers.sentence import Sentence, from_sentences, word_in_a_circle
from protgnn.featurizers.words import WordFeatures, choose_words, words_of
from protgnn.io.limits import check_limit
from protgnn.io.text import read_text

_COLUMNS = 10
_NUMBER = re.compile("[0-9]{1,9}")
_PASSED_OVER = re.compile(r"[0-9]+-[0-9]+|[0-9]+\.[0-9]+")
_COMMENT = re.compile(r"#\s*([^=\s][^=]*?)\s*=\s*(.*)")
_PARTS = {"train": "train", "dev": "valid", "valid": "valid", "validation": "valid", "test": "test"}
_VALID_FRACTION = 0.1


@dataclass
class _Block:
    """The lines of one sentence: where it begins, what its comments say, and its words with their lines."""

    line: int
    comments: dict[str, str] = field(default_factory=dict)
    rows: list[tuple[int, str]] = field(default_factory=list)


@dataclass(frozen=True)
class _Told:
    """What the comments of a sentence tell, and where it begins."""

    line: int
    label: str
    split: str


def read_conllu(
    path: str | Path,
    label: str | None = None,
    skip_bad: bool = False,
    classes: tuple[str, ...] | None = None,
    on_skip: OnSkip | None = None,
    words: WordFeatures | None = None,
) -> tuple[GraphSet, list[str], Split | None]:
    """The sentences of a file, notes on what was repaired or skipped, and the split that its comments give, if any.

    ``label`` is the comment with the class, ``label`` if it is not named. With ``classes`` (those of a trained model)
    labels are optional and must be among them; with none at all, ``()``, they are passed over. ``words`` gives words
    their features.
    """
    path, key = Path(path), "label" if label is None else label
    kept: list[_Told] = []
    sentences: list[Sentence] = []
    bad: list[int] = []
    nodes = 0
    for block in _blocks(path):
        nodes += len(block.rows)
        check_limit("nodes", nodes, f"{path} line {block.line}")
        check_limit("graph_nodes", len(block.rows), f"{path} line {block.line}")
        told = _Told(block.line, block.comments.get(key, ""), block.comments.get("split", ""))
        try:
            sentence = _sentence(path, block)
            if classes is None and is_empty(told.label):
                _refuse(path, told.line, f"the sentence has no label: add a line `# {key} = …` before its words")
        except DataError as error:
            if not skip_bad:
                raise
            bad.append(told.line)
            if on_skip is not None:
                on_skip(told.line, str(error).removeprefix(f"{path} "))
            continue
        kept.append(told)
        sentences.append(sentence)
    if not kept:
        raise DataError(f"{path}: no sentence in it can be used ({len(bad)} were skipped): check that it is CoNLL-U")
    y, names = _classes(path, kept, key, label is not None, classes)
    notes = [skipped_note(path, "sentences", len(kept) + len(bad), bad)] if bad else []
    several = sum(sentence.roots > 1 for sentence in sentences)
    if several:
        notes.append(f"{several} sentences have several roots: the later ones were hung on the first")
    given = None if classes is not None else _split(path, kept, y)
    return on_lines(from_sentences(sentences, y, names, words), (told.line for told in kept)), notes, given


def _refuse(path: Path, line: int, what: str) -> NoReturn:
    raise DataError(f"{path} line {line}: {what}")


def _blocks(path: Path) -> Iterator[_Block]:
    block: _Block | None = None
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if not line or line.isspace():
            if block is not None and _is_sentence(block):
                yield block
            block = None
            continue
        block = block or _Block(number)
        if line.startswith("#"):
            found = _COMMENT.fullmatch(line.rstrip())
            if found:
                block.comments[found[1]] = found[2]
        else:
            block.rows.append((number, line))
    if block is not None and _is_sentence(block):
        yield block


def _is_sentence(block: _Block) -> bool:
    """Whether a block is meant as one; a comment at the top of a file stands alone as well."""
    return bool(block.rows) or not block.comments.keys().isdisjoint(("label", "text", "sent_id", "split"))


def _sentence(path: Path, block: _Block) -> Sentence:
    words: list[str] = []
    heads: list[int] = []
    relations: list[str] = []
    lines: list[int] = []
    for line, text in block.rows:
        cells = text.split("\t")
        if len(cells) != _COLUMNS:
            _refuse(path, line, f"expected {_COLUMNS} columns separated by tabs (got {len(cells)})")
        number, word, head = cells[0], cells[1], cells[6]
        if number != str(len(words) + 1):
            if _PASSED_OVER.fullmatch(number):
                continue
            told = f"expected the word number {len(words) + 1} in the first column (got {number[:30]!r})"
            _refuse(path, line, f"{told}: number the words of a sentence from 1")
        if not word or word.isspace():
            _refuse(path, line, "the word is missing: write it into the second column")
        if not _NUMBER.fullmatch(head):
            _refuse(path, line, f"expected the number of the head in column 7, 0 at the root (got {head[:30]!r})")
        check_limit("name_chars", len(word), f"{path} line {line}")
        words.append(word)
        heads.append(int(head) - 1)
        relations.append(cells[7])
        lines.append(line)
    if not words:
        _refuse(path, block.line, "the sentence has no words: remove it, nothing can be said about it")
    for line, place in zip(lines, heads, strict=True):
        if place >= len(words):
            _refuse(path, line, f"the head is {place + 1} but the words are 1 to {len(words)}: correct the head")
    fault = word_in_a_circle(heads)
    if fault is not None:
        what = "is its own head" if heads[fault] == fault else "is, over its heads, its own head"
        _refuse(path, lines[fault], f"the word {words[fault][:30]!r} {what}: a sentence is a tree, correct the heads")
    return Sentence(tuple(words), tuple(heads), tuple(relations))


def _classes(
    path: Path, kept: list[_Told], key: str, named: bool, classes: tuple[str, ...] | None
) -> tuple[Tensor | None, tuple[str, ...]]:
    texts = [told.label for told in kept]

    def where(place: int) -> str:
        return f"{path} line {kept[place].line}"

    if classes is None:
        return to_classes(texts, where)
    if not classes:
        return None, classes
    missing = [place for place, text in enumerate(texts) if is_empty(text)]
    if missing:
        if named:
            raise DataError(f"{where(missing[0])}: the sentence has no comment `# {key} = …`")
        return None, classes
    return to_known_classes(texts, classes, where), classes


def _split(path: Path, kept: list[_Told], y: Tensor | None) -> Split | None:
    """The split of the comments; where it has no part to validate on, a tenth of the train part is held out."""
    if not any(told.split for told in kept):
        return None
    for told in kept:
        if told.split.lower() not in _PARTS:
            has = f"`# split = {told.split[:30]}`" if told.split else "no comment `# split = …`, and others have one"
            _refuse(path, told.line, f"the sentence has {has}: expected train, dev or test, in all or none")
    part = np.array([_PARTS[told.split.lower()] for told in kept])
    members = {name: np.flatnonzero(part == name) for name in ("train", "valid", "test")}
    for name in ("train", "test"):
        if not len(members[name]):
            raise DataError(f"{path}: no sentence has `# split = {name}`: give some, or remove all such comments")
    if not len(members["valid"]):
        assert y is not None
        rest = members["train"]
        classes = y.numpy()[rest]
        members["train"], members["valid"] = hold_out(rest, classes, _VALID_FRACTION * len(rest), seed=0)
    return Split(*(torch.from_numpy(np.sort(members[name])) for name in ("train", "valid", "test")))


def _read(source: Source) -> Loaded:
    options, words = source.options, choose_words(source.options.words)
    return Loaded(*read_conllu(source.path, options.label, options.skip_bad, words=words), standard_split=True)


def _read_new(source: Source, schema: Schema, labels: Labels) -> tuple[GraphSet, list[str]]:
    check_takes_sentences(str(source.path), schema)
    classes = () if labels == "ignored" else schema.class_names
    options, words = source.options, words_of(schema, str(source.path))
    graphs, notes, _ = read_conllu(source.path, options.label, options.skip_bad, classes, options.on_skip, words)
    return graphs, notes


READERS = (
    Reader(
        what="a CoNLL-U file",
        suffixes=(".conllu", ".conllu.gz"),
        options=frozenset({"label", "skip-bad", "words"}),
        read=_read,
        read_new=_read_new,
        kind="sentence",
        rank=2,
    ),
)
