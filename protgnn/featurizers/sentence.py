"""Sentences to graphs: words are nodes, dependency arcs are edges, and the name of a graph is its words."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from protgnn.data.batch import offsets
from protgnn.data.graph_set import GraphSet
from protgnn.data.schema import Schema
from protgnn.featurizers.words import WordFeatures, choose_words

BOUND_RELATIONS = frozenset({"compound", "fixed", "flat", "goeswith", "mwe", "name", "neg", "nn", "prt"})
"""Relations of words that belong together, of Universal Dependencies and of the labels that spaCy's English parsers
use."""

NEGATIONS = frozenset({"not", "n't", "nt", "n’t", "never", "no", "nor", "neither", "without", "hardly", "barely"})
"""Words that turn the meaning of their head around."""

_NO_BREAK = "\u00a0"  # stands for a space within a word, as names separate words by spaces
_UNKNOWN = "\ufffd"


@dataclass(frozen=True)
class Sentence:
    """A parsed sentence: its words, and for each the number of its head from 0, less than 0 at a root, and where it is
    known the relation to its head, as Universal Dependencies or spaCy call it."""

    words: tuple[str, ...]
    heads: tuple[int, ...]
    relations: tuple[str, ...] = ()

    @property
    def roots(self) -> int:
        return sum(head < 0 for head in self.heads)

    def is_bound(self, word: int) -> bool:
        """Whether a word and its head belong together: compound, name, fixed phrase, particle of a verb, negation."""
        if word not in self.heads and self.words[word].lower() in NEGATIONS:
            return True
        relation = self.relations[word].lower() if self.relations else ""
        return relation in BOUND_RELATIONS or relation.partition(":")[0] in BOUND_RELATIONS


def sentence_schema(class_names: tuple[str, ...] = (), words: WordFeatures | None = None) -> Schema:
    """The schema of every graph made from a sentence with such words, static ones if not given."""
    words = words or choose_words()
    return Schema("sentence", class_names, words.columns, (), words.featurizer)


def word_in_a_circle(heads: Sequence[int]) -> int | None:
    """A word that is, over its heads, its own head; none in a tree or several."""
    state = [0] * len(heads)  # 0: not seen, 1: on the way up, 2: leads to a root
    for start in range(len(heads)):
        way = []
        word = start
        while word >= 0 and not state[word]:
            state[word] = 1
            way.append(word)
            word = heads[word]
        if word >= 0 and state[word] == 1:
            return word
        for word in way:
            state[word] = 2
    return None


def word_in_name(word: str) -> str:
    """A word as names of graphs hold it: without spaces, and without letters that no file could show."""
    plain = _NO_BREAK.join(word.split())
    if plain.isprintable():
        return plain
    return "".join(_UNKNOWN if unicodedata.category(letter) in ("Cc", "Cs") else letter for letter in plain)


def from_sentences(
    sentences: Sequence[Sentence],
    y: Tensor | None = None,
    class_names: tuple[str, ...] = (),
    words: WordFeatures | None = None,
) -> GraphSet:
    """Graphs of parsed sentences, named by their words; later roots hang on the first, so that all is one tree.

    ``words`` gives words their features, static ones if it is not given.
    """
    words = words or choose_words()
    dependents: list[int] = []
    heads: list[int] = []
    bound: list[bool] = []
    texts = [[word_in_name(word) for word in sentence.words] for sentence in sentences]
    for sentence in sentences:
        root = next(place for place, head in enumerate(sentence.heads) if head < 0)
        for word, head in enumerate(sentence.heads):
            if word != root:
                dependents.append(word)
                heads.append(head if head >= 0 else root)
                bound.append(head >= 0 and sentence.is_bound(word))
    node_counts = np.fromiter((len(sentence.words) for sentence in sentences), np.int64, len(sentences))
    edge_counts = node_counts - 1

    # Both directions of every arc, in the canonical order of `data/canonical_edges.py`: by graph, target, source.
    owner = np.tile(np.repeat(np.arange(len(sentences)), edge_counts), 2)
    source = np.array(dependents + heads, dtype=np.int64)
    target = np.array(heads + dependents, dtype=np.int64)
    order = np.lexsort((source, target, owner))
    return GraphSet(
        x=words.features(texts),
        edge_index=torch.from_numpy(np.stack([source[order], target[order]])),
        node_ptr=offsets(torch.from_numpy(node_counts)),
        edge_ptr=offsets(torch.from_numpy(2 * edge_counts)),
        y=y,
        names=tuple(map(" ".join, texts)),
        schema=sentence_schema(class_names, words),
        bound=torch.from_numpy(np.tile(np.array(bound, dtype=np.bool_), 2)[order]),
    )
