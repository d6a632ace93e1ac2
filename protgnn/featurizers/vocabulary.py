"""The words that a model has met: those of its training sentences, in small letters."""

from __future__ import annotations

from protgnn.data.graph_set import GraphSet

_NOT_WORDS = ("@", "#", "http://", "https://", "www.")


def words_to_know(name: str) -> list[str]:
    """The words of a sentence that a vocabulary is about, in small letters: no numbers and punctuation, and no
    mentions, tags and addresses, which are new in every text."""
    found = []
    for word in name.split(" "):
        small = word.lower()
        if any(letter.isalpha() for letter in small) and not small.startswith(_NOT_WORDS):
            found.append(small)
    return found


def vocabulary_of(graphs: GraphSet) -> frozenset[str] | None:
    """All words of these sentences; nothing where they are no sentences, or have no names."""
    if graphs.schema.kind != "sentence" or graphs.names is None:
        return None
    return frozenset(word for name in graphs.names for word in words_to_know(name))
