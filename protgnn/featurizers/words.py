"""Which features the words of a sentence get: static vectors, the light choice, or contextual ones of a transformer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from torch import Tensor

from protgnn.data.schema import CONTEXTUAL, Schema
from protgnn.errors import DataError
from protgnn.featurizers.contextual_words import contextual_words
from protgnn.featurizers.model_folder import chosen_folder, folder_of_digest
from protgnn.featurizers.word_vectors import FEATURIZER, StaticWords


class WordFeatures(Protocol):
    """What turns words into features: its name in a schema, the names of its columns, and the features themselves."""

    @property
    def featurizer(self) -> str: ...

    @property
    def columns(self) -> tuple[str, ...]: ...

    def features(self, sentences: Sequence[Sequence[str]]) -> Tensor:
        """The features of every word of every sentence, one below the other: ``[N, F]`` in half precision."""
        ...


def choose_words(choice: str | None = None) -> WordFeatures:
    """The words that a user chooses: ``static`` (the default), ``contextual``, a model folder or its name on the hub;
    or the featurizer of a schema.

    Raises:
        DataError: They are not here; the message says how to get them.
    """
    if choice in (None, "static", FEATURIZER):
        return StaticWords()
    assert choice is not None
    if choice.startswith(CONTEXTUAL):
        return contextual_words(folder_of_digest(choice.removeprefix(CONTEXTUAL)))
    if choice.startswith("sentence:"):
        raise DataError(
            f"there are no word vectors {choice!r}, here are {FEATURIZER!r}: use the version of protgnn that it was "
            "trained with"
        )
    return contextual_words(chosen_folder(choice))


def stored_choice(schema: Schema) -> str:
    """The words of a schema as a choice; a schema may come from a stranger, and names no folder and fetches nothing.

    Raises:
        DataError: It names something else than words.
    """
    if not schema.featurizer.startswith("sentence:"):
        raise DataError(f"its schema names no words (got {schema.featurizer[:60]!r})")
    return schema.featurizer


def words_of(schema: Schema, source: str) -> WordFeatures:
    """The words that a model of that schema was trained with; ``source`` is what a message calls its new input."""
    try:
        return choose_words(stored_choice(schema))
    except DataError as error:
        raise DataError(f"{source}: this model was trained on other words than there are here: {error}") from None


def describe_words(featurizer: str) -> str:
    """The words of a featurizer, as a message names them."""
    if featurizer == FEATURIZER:
        return "static words (--words static)"
    if featurizer.startswith(CONTEXTUAL):
        return f"contextual words of the transformer {featurizer.removeprefix(CONTEXTUAL)}"
    return f"the words {featurizer!r}"
